#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Find out how this kernel spells what the modules use.
#
#   configure.sh KDIR OUT      KDIR: the kernel's build directory
#                              OUT: where kdp_config.h is written
#
# Each probes/NAME.c is compiled against the kernel, all in one run of make;
# OUT/kdp_config.h then defines HAVE_<NAME> for each that compiled. Features are
# probed, versions never compared: distributions backport. One probe must pass and
# one must fail, or the result means nothing. Nothing is rebuilt while the kernel
# and the probes stay the same.
set -euo pipefail

kdir=$1
out=$2
here=$(cd "$(dirname "$0")" && pwd)
probes=$here/probes

mkdir -p "$out"
stamp=$({ echo "$kdir"; cat "$kdir/include/config/kernel.release" \
	"$kdir/include/generated/autoconf.h" "$0" "$probes"/*.c 2>/dev/null; } | sha256sum | cut -d' ' -f1)
if [ -f "$out/kdp_config.h" ] && grep -q "$stamp" "$out/kdp_config.h"; then
	exit 0
fi

work=$out/probe-build
rm -rf "$work"
mkdir -p "$work"
cp "$probes"/*.c "$work"
: >"$work/Kbuild"
for src in "$work"/*.c; do
	echo "obj-m += $(basename "$src" .c).o" >>"$work/Kbuild"
done
# the objects are the result: linking modules of them is neither needed nor possible
make -k -C "$kdir" M="$work" KBUILD_MODPOST_WARN=1 modules >"$work/log" 2>&1 || true

if [ ! -f "$work/selftest_pass.o" ]; then
	echo "configure.sh: nothing compiles against $kdir; see $work/log" >&2
	exit 1
fi
if [ -f "$work/selftest_fail.o" ]; then
	echo "configure.sh: a probe that must fail compiled against $kdir" >&2
	exit 1
fi
{
	echo "/* SPDX-License-Identifier: GPL-2.0-only */"
	echo "/* Written by compat/configure.sh for $kdir. $stamp */"
	for src in "$probes"/*.c; do
		name=$(basename "$src" .c)
		case $name in selftest_*) continue ;; esac
		macro=HAVE_$(echo "$name" | tr '[:lower:]' '[:upper:]')
		if [ -f "$work/$name.o" ]; then
			echo "#define $macro 1"
		else
			echo "/* $macro: no */"
		fi
	done
} >"$out/kdp_config.h.new"
mv "$out/kdp_config.h.new" "$out/kdp_config.h"
rm -rf "$work"
