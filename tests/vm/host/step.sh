# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Work that is done step by step, quietly while it goes well. Sourced by who has set $logs,
# the directory of the logs; it is named after what is being done, as failures are.

# step NAME LOG COMMAND...: the log's end, and the end of everything, if it fails.
step() {
	local name=$1 log=${logs:?}/$2
	shift 2
	printf '[%4d s] %s\n' "$SECONDS" "$name"
	"$@" >"$log" 2>&1 </dev/null || {
		tail -n 30 "$log" >&2
		echo "${logs##*/}: failed: $name (log: $log)" >&2
		exit 1
	}
}
