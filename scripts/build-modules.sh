#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Build the kernel modules out of tree for one kernel, without writing into the
# source tree: build/modules-KVER/ is a copy of kernel/ and include/ made of
# symbolic links, so that one tree builds for several kernels at the same time.
#
#   scripts/build-modules.sh KVER|MACHINE [--sparse] [--install ROOT] [MAKE ARGUMENTS...]
#
#   KVER       a kernel whose headers are installed: /lib/modules/KVER/build
#   MACHINE    one of our own kernels (debug, uml, uml-debug; scripts/build-kernel.sh)
#   --sparse   check every file with sparse as well; any remark on our files fails
#   --install  afterwards install below ROOT ('' for the machine itself) and run depmod
#
# KDIR overrides the headers' directory. WERROR=0 lets warnings pass.

set -euo pipefail

die() {
	printf 'modules: %s\n' "$*" >&2
	exit 1
}

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
[[ ${1:-} && $1 != -* ]] || die "for which kernel? usage: scripts/build-modules.sh KVER [--sparse]"
kver=$1
shift
case $kver in
debug | uml | uml-debug)
	KDIR=$("$top/scripts/build-kernel.sh" "$kver")/build
	[[ $kver == debug ]] || export ARCH=um
	kver=$("$top/scripts/build-kernel.sh" --release "$kver")
	;;
esac
sparse=0 install=0 root=
while [[ ${1:-} == --* ]]; do
	case $1 in
	--sparse) sparse=1 ;;
	--install)
		install=1 root=${2?--install wants a directory}
		shift
		;;
	*) die "unknown option '$1'" ;;
	esac
	shift
done

kdir=${KDIR:-/lib/modules/$kver/build}
bdir=$top/build/modules-$kver
[[ -e $kdir/Makefile ]] ||
	die "no kernel headers in $kdir; on Debian: apt-get install linux-headers-$kver"
[[ -d $top/kernel ]] || die "no kernel/ in $top"
[[ $bdir != *[[:space:]:]* ]] ||
	die "kbuild cannot build in '$bdir': move the repository to a path without spaces and colons"

# Two builds for one kernel at a time would tread on each other.
mkdir -p "$bdir"
exec 9>"$bdir/.lock"
flock 9

link_sources() {
	local dir
	for dir in kernel include; do
		mkdir -p "$bdir/$dir"
		cp -rsfT "$top/$dir" "$bdir/$dir"
	done
	# A file that went from the tree must not be built on.
	find "$bdir/kernel" "$bdir/include" -xtype l -delete
}

link_sources

flags=()
[[ ${WERROR:-1} == 0 ]] || flags+=(-Werror)
args=(
	-C "$kdir" "M=$bdir/kernel" W=1 "KCFLAGS=${flags[*]}"
	"KDP_TOP=$bdir" "-j$(nproc)"
)
((!sparse)) || args+=(C=2 "CF=-D__CHECK_ENDIAN__")

# A step of its own before the modules: what does this kernel offer?
if [[ -x $top/kernel/compat/configure.sh ]]; then
	"$top/kernel/compat/configure.sh" "$kdir" "$bdir/kernel/compat" ||
		die "feature probes failed for $kver"
fi

log=$bdir/build.log
make "${args[@]}" "$@" modules 2>&1 | tee "$log" || die "build for $kver failed; log in $log"

# What virtual machines load: the debugging information is most of a module, and each
# loading reads all of it.
rm -rf "$bdir/stripped"
mkdir -p "$bdir/stripped"
for ko in "$bdir"/kernel/*.ko; do
	strip --strip-debug -o "$bdir/stripped/${ko##*/}" "$ko"
done

if ((sparse)); then
	# Remarks on the kernel's own headers are not ours to mend.
	awk -v top="$top/" 'index($0, top) == 1 && /:[0-9]+:/' "$log" >"$bdir/sparse.log"
	if [[ -s $bdir/sparse.log ]]; then
		die "sparse has remarks (in $bdir/sparse.log): $(head -n 3 "$bdir/sparse.log")"
	fi
	rm -f "$bdir/sparse.log"
fi

if ((install)); then
	[[ -z $root ]] || root=$(realpath -m "$root")
	# Debian keeps its signing key to itself: no attempt to sign.
	make "${args[@]}" "INSTALL_MOD_PATH=$root" CONFIG_MODULE_SIG_ALL= modules_install
	PATH=$PATH:/sbin:/usr/sbin depmod ${root:+-b "$root"} "$kver" ||
		die "depmod for $kver failed"
fi
