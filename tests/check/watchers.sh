#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# the planted faults fit the modules, and the documentation's table of them is theirs
set -u
cd "$(dirname "$0")/../.." || exit
status=0
page=Documentation/testing.md
while IFS= read -r line; do
	grep -qxF -- "$line" "$page" || {
		echo "$page has not: $line"
		status=1
	}
done < <(tests/watchers/check.sh --table)
rows=$(sed -n '/check.sh --table/,/^$/p' "$page" | grep -c '^| ')
faults=$(find tests/watchers/faults -name '*.patch' | wc -l)
((rows == faults + 1)) || {
	echo "$page lists $((rows - 1)) faults, there are $faults"
	status=1
}
for patch in tests/watchers/faults/*.patch; do
	patch --dry-run -s -p1 <"$patch" >/dev/null || {
		echo "$patch does not fit any more"
		status=1
	}
done
exit "$status"
