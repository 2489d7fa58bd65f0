# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# KTAP version 1, as kselftest prints it. Sourced by lib.sh.
#
#   ktap_plan 3                      or no plan, then `ktap_done` prints it at the end
#   ktap_ok "reads what it wrote"
#   ktap_not_ok "unloads" "rmmod said: busy"
#   ktap_skip "fua" "the target has no volatile cache"
#   ktap_check "connects" kdp connect ...   the command's status; its output on failure
#   ktap_done                        exits 0, or 1 if a point failed, or 4 if all were skipped

ktap_count=0 ktap_failed=0 ktap_skipped=0 ktap_planned='' ktap_begun=''

ktap_begin() {
	[[ -n $ktap_begun ]] || echo "KTAP version 1"
	ktap_begun=1
}

ktap_plan() {
	ktap_begin
	ktap_planned=$1
	echo "1..$1"
}

ktap_ok() {
	ktap_begin
	echo "ok $((++ktap_count)) $1"
}

# ktap_not_ok NAME [WHY]
ktap_not_ok() {
	ktap_begin
	((++ktap_failed))
	[[ -z ${2:-} ]] || printf '%s\n' "$2" | sed 's/^/# /'
	echo "not ok $((++ktap_count)) $1"
}

# ktap_skip NAME [WHY]
ktap_skip() {
	ktap_begin
	((++ktap_skipped))
	echo "ok $((++ktap_count)) $1 # SKIP ${2:-}"
}

ktap_check() {
	local name=$1 text rc=0
	shift
	text=$("$@" 2>&1) || rc=$?
	if ((rc == 0)); then
		ktap_ok "$name"
	else
		ktap_not_ok "$name" "$* -> status $rc"$'\n'"$text"
	fi
	return "$rc"
}

ktap_done() {
	ktap_begin
	[[ -n $ktap_planned ]] || echo "1..$ktap_count"
	((ktap_failed == 0)) || exit 1
	((ktap_count == 0 || ktap_count > ktap_skipped)) || exit 4
	exit 0
}
