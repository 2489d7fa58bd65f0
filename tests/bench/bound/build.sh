#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Build kdp_bound.ko for one kernel, into build/bound-KVER.
#
#   tests/bench/bound/build.sh KVER KDIR [MAKE ARGUMENTS...]

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
kver=$1 kdir=$2
shift 2
out=$here/../../../build/bound-$kver
mkdir -p "$out"
cp -u "$here/Kbuild" "$here"/*.c "$out/"
out=$(cd "$out" && pwd -P)
make -C "$kdir" "M=$out" W=1 KCFLAGS=-Werror "$@" modules
strip --strip-debug "$out/kdp_bound.ko"
