#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# the documentation's table of planted faults is that of tests/watchers/faults
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
exit "$status"
