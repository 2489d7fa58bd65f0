#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# kernel code: checkpatch

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mapfile -t files < <(find kernel include/nvmf include/uapi tests/bench/bound -name '*.[ch]' | sort)
scripts/checkpatch.sh "${files[@]}"
echo "${#files[@]} files are clean"
