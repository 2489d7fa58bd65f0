#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Build the in-tree RTRS and RNBD modules, which Debian's kernel leaves out, from Debian's source of
# the kernel against its headers, into build/rnbd-KVER.
#
#   tests/bench/rnbd/build.sh KVER KDIR

set -euo pipefail
kver=$1 kdir=$2
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
source=$(scripts/kernel-source.sh)
out=$PWD/build/rnbd-$kver
rtrs=$source/drivers/infiniband/ulp/rtrs rnbd=$source/drivers/block/rnbd
mkdir -p "$out"
cp -ruT "$rtrs" "$out/rtrs"
cp -ruT "$rnbd" "$out/rnbd"

# The Makefiles of RNBD look for RTRS' headers where they stand in the tree.
make -C "$kdir" "M=$out/rtrs" CONFIG_INFINIBAND_RTRS=m CONFIG_INFINIBAND_RTRS_CLIENT=m CONFIG_INFINIBAND_RTRS_SERVER=m modules
make -C "$kdir" "M=$out/rnbd" CONFIG_BLK_DEV_RNBD_CLIENT=m CONFIG_BLK_DEV_RNBD_SERVER=m \
	"KCFLAGS=-I$out/rtrs" "KBUILD_EXTRA_SYMBOLS=$out/rtrs/Module.symvers" modules
for ko in "$out"/{rtrs,rnbd}/*.ko; do
	strip --strip-debug -o "$out/${ko##*/}" "$ko"
done
