#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# clang-format and clang-tidy over the user side, by the repository's .clang-format
# and .clang-tidy. Anything that either says fails.
#
#   scripts/lint.sh BUILD      BUILD: a CMake build directory, for the compile commands

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:?which build directory? usage: scripts/lint.sh BUILD}

mapfile -t files < <(git ls-files --cached --others --exclude-standard -- \
	'lib/*.[ch]pp' 'tools/*.[ch]pp' 'tests/*.[ch]pp' 'include/kdp/*.hpp' \
	'examples/*.cpp')
clang-format --dry-run -Werror "${files[@]}"
echo "clang-format: ${#files[@]} files are clean"

cmake -S . -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep -E '^(lib|tools|examples)/.*\.cpp$')
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet
echo "clang-tidy: ${#sources[@]} files are clean"
