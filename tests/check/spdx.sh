#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# every source file has an SPDX line; kernel code is GPL-2.0-only
#
# What others wrote (third_party/) is not changed: its line stands beside it, in FILE.license.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# shellcheck source=tests/check/files.inc
. tests/check/files.inc

# The fuzz harnesses' inputs are bytes without a head, whatever they are called: see COPYING.
sources() {
	tree_files | grep -v '^tests/fuzz/corpus/' |
		grep -E '\.(c|h|cpp|hpp|sh|inc|py|cmake|js|css)$|(^|/)(Makefile|Kbuild|Kconfig|CMakeLists\.txt|init|run)$'
}

checked=0
rc=0
while IFS= read -r file; do
	((++checked))
	head=$file
	[[ $file != third_party/* ]] || head=$file.license
	line=$(head -n 3 "$head" 2>/dev/null | grep -m 1 'SPDX-License-Identifier:') || {
		echo "$file: no SPDX-License-Identifier in its first three lines"
		rc=1
		continue
	}
	if [[ $file == kernel/* && $line != *GPL-2.0-only* ]]; then
		echo "$file: kernel code must be GPL-2.0-only, not:${line#*:}"
		rc=1
	fi
done < <(sources)
((checked > 10)) || { echo "no source tree here"; exit 1; }
exit "$rc"
