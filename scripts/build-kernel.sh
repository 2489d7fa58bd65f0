#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Build one of our own kernels from Debian's 6.12 source and print its directory:
#
#   scripts/build-kernel.sh debug       a PC for QEMU that checks every access and lock
#   scripts/build-kernel.sh uml         User-Mode Linux, plain
#   scripts/build-kernel.sh uml-debug   User-Mode Linux with the same checks
#
#   --path       print the directory only if it is built already; else fail
#   --release    print the kernel's release, such as 6.12.117-debug; build nothing
#
# The configuration is `allnoconfig` plus fragments of tests/machines/config. A line of
# a fragment that the kernel does not honour is an error.
#
# The directory holds boot/ (vmlinuz-RELEASE or linux-RELEASE), lib/modules/RELEASE and
# build/ (what modules are built against). It lies in the cache under a name made of the
# source's version, the patches and the fragments: a change of any of them builds anew,
# and the old one goes.
#
# Cache: ${KDP_CACHE:-${XDG_CACHE_HOME:-~/.cache}/kdp}/built/MACHINE-HASH

set -euo pipefail

die() {
	printf 'build-kernel: %s\n' "$*" >&2
	exit 1
}

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
want=build
case ${1:-} in
--path | --release) want=${1#--}; shift ;;
esac
machine=${1:-}
case $machine in
debug) arch=x86_64 image=bzImage parts=(common x86 watch x86-watch) ;;
uml) arch=um image=linux parts=(common uml) ;;
uml-debug) arch=um image=linux parts=(common uml watch uml-watch) ;;
*) die "which kernel? usage: scripts/build-kernel.sh [--path|--release] debug|uml|uml-debug" ;;
esac

version=$("$top/scripts/kernel-source.sh" --version)
# 6.12.117-1~deb12u1 is made of 6.12.117
release=${version%%-*}-$machine
if [[ $want == release ]]; then
	echo "$release"
	exit
fi

fragments=("${parts[@]/#/$top/tests/machines/config/}")
fragments=("${fragments[@]/%/.config}")
# To be raised when the steps below make something else of the same parts.
recipe=1
key=$({ echo "$recipe"; "$top/scripts/kernel-source.sh" --key; cat "${fragments[@]}"; } | sha256sum)
cache=${KDP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kdp}/built
dir=$cache/$machine-${key:0:16}

if [[ -f $dir/complete ]]; then
	echo "$dir"
	exit
elif [[ $want == path ]]; then
	die "the $machine kernel is not built; run 'make $([[ $machine == debug ]] && echo debug-kernel || echo uml)'"
fi

# $1: its log, of which the end is shown when it fails; the rest: the command.
step() {
	local log=$1
	shift
	"$@" >"$log" 2>&1 </dev/null || {
		grep -E 'error:|\*\*\*' "$log" | head -n 5 >&2
		tail -n 10 "$log" >&2
		die "'$*' failed; log in $log"
	}
}

kmake() {
	make -C "$source" "O=$dir/build" "ARCH=$arch" "-j$(nproc)" \
		KBUILD_BUILD_USER=kdp KBUILD_BUILD_HOST=kdp "$@"
}

# Every line of the fragments stands in .config as it was asked for.
honoured() {
	local line bad=0
	while read -r line; do
		case $line in
		CONFIG_*=n) line="# ${line%=n} is not set" ;;
		CONFIG_* | '# CONFIG_'*' is not set') ;;
		*) continue ;;
		esac
		grep -qxF "$line" "$dir/build/.config" && continue
		# "is not set" also holds for what the kernel does not even offer
		[[ $line == '# '* ]] && ! grep -q "^${line:2:-11}=" "$dir/build/.config" && continue
		echo "build-kernel: not honoured: $line" >&2
		bad=1
	done < <(cat "${fragments[@]}")
	return "$bad"
}

# What a later build of modules does not need: most of the space.
prune() {
	find "$dir/build" \( -path "$dir/build/scripts" -o -path "$dir/build/tools" \) -prune -o \
		-type f \( -name '*.o' -o -name '*.a' -o -name '*.ko' -o -name '.*.cmd' \
		-o -name 'vmlinux*' -o -name 'linux' \) ! -path "$dir/build/arch/*/kernel/asm-offsets.s" \
		-print0 | xargs -0 rm -f
	rm -f "$dir/build/.tmp_"*
}

mkdir -p "$dir"
exec 9>"$cache/.lock-$machine"
flock 9
if [[ ! -f $dir/complete ]]; then
	source=$("$top/scripts/kernel-source.sh")
	rm -rf "$dir"
	mkdir -p "$dir/build" "$dir/boot"
	echo "build-kernel: $release, some minutes; progress in $dir/build.log" >&2

	step "$dir/config.log" kmake allnoconfig
	cat "${fragments[@]}" >>"$dir/build/.config"
	echo "CONFIG_LOCALVERSION=\"-$machine\"" >>"$dir/build/.config"
	step "$dir/config.log" kmake olddefconfig
	honoured || die "the $machine configuration is not what the fragments ask for"

	step "$dir/build.log" kmake "$image" modules
	made=$(cat "$dir/build/include/config/kernel.release")
	[[ $made == "$release" ]] || die "built $made instead of $release"
	if [[ $arch == um ]]; then
		cp "$dir/build/linux" "$dir/boot/linux-$release"
		strip "$dir/boot/linux-$release"
	else
		cp "$dir/build/arch/x86/boot/bzImage" "$dir/boot/vmlinuz-$release"
	fi
	PATH=$PATH:/sbin:/usr/sbin step "$dir/install.log" \
		kmake "INSTALL_MOD_PATH=$dir" INSTALL_MOD_STRIP=1 modules_install
	prune
	echo "$release" >"$dir/complete"
	# The ones that this one replaces.
	for old in "$cache/$machine"-????????????????; do
		[[ $old == "$dir" ]] || rm -rf "$old"
	done
fi
echo "$dir"
