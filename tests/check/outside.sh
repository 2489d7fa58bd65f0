#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# nothing refers to a place outside the repository

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/check/files.inc
. tests/check/files.inc

# Written so that this file does not find itself.
pattern='\.\./[s]hared|/[w]ork/|/root/[s]rc'
mapfile -t files < <(tree_files)
((${#files[@]} > 10)) || { echo "no source tree here"; exit 1; }
if hits=$(grep -nIE "$pattern" "${files[@]}"); then
	echo "$hits"
	exit 1
fi
