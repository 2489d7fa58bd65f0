#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Fetch a stock Debian kernel for the virtual machine and print its version.
# The package is unpacked into a cache, never installed.
#
#   scripts/kernel.sh 6.12          -> 6.12.117+deb12-amd64
#   scripts/kernel.sh --version 6.1    print the version only, fetch nothing
#   scripts/kernel.sh --path 6.12      fetch, print the directory instead
#
# Cache: ${KDP_CACHE:-${XDG_CACHE_HOME:-~/.cache}/kdp}/kernel/VERSION/{boot,lib}

set -euo pipefail

die() {
	printf 'kernel: %s\n' "$*" >&2
	exit 1
}

want=version fetch=1
case ${1:-} in
--version) fetch=0; shift ;;
--path) want=path; shift ;;
esac

# The headers that the modules are built against name the image that can load them.
case ${1:-} in
6.12) meta=linux-headers-6.12-amd64 ;;
6.1) meta=linux-headers-amd64 ;;
*) die "which kernel? usage: scripts/kernel.sh [--version|--path] 6.12|6.1" ;;
esac

depends=$(dpkg-query -W -f='${Depends}' "$meta" 2>/dev/null) ||
	die "$meta is not installed; run 'make deps'"
[[ $depends =~ linux-headers-($1\.[^ ,]*) ]] ||
	die "$meta depends on '$depends', which is no $1 kernel; upgrade it: apt-get install $meta"
kver=${BASH_REMATCH[1]}
[[ -d /lib/modules/$kver/build ]] ||
	die "linux-headers-$kver is not installed (no /lib/modules/$kver/build); run 'make deps'"

cache=${KDP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kdp}
dir=$cache/kernel/$kver

# Unpack into a directory beside the final one and rename: a reader sees all or nothing.
fetch_kernel() {
	local tmp deb
	mkdir -p "$cache/kernel"
	tmp=$(mktemp -d "$cache/kernel/.$kver.XXXXXX")
	# shellcheck disable=SC2064 # the name as it is now
	trap "rm -rf $(printf %q "$tmp")" EXIT
	chmod 755 "$tmp"

	echo "kernel: downloading linux-image-$kver" >&2
	local -a opts=(-q)
	((EUID != 0)) || opts+=(-o APT::Sandbox::User=root)
	(cd "$tmp" && apt-get "${opts[@]}" download "linux-image-$kver") >"$tmp/log" 2>&1 || {
		tail -n 5 "$tmp/log" >&2
		die "cannot download linux-image-$kver; run 'apt-get update', then 'apt-get install $meta', and try again"
	}
	deb=$(echo "$tmp"/linux-image-*.deb)
	mkdir "$tmp/root"
	chmod 755 "$tmp/root"
	dpkg -x "$deb" "$tmp/root" || die "cannot unpack $deb (disk full?)"
	[[ -f $tmp/root/boot/vmlinuz-$kver ]] || die "$deb holds no boot/vmlinuz-$kver"
	index_modules "$tmp/root"
	# Another run may have been quicker; its copy is as good.
	mv -T "$tmp/root" "$dir" 2>/dev/null || [[ -f $dir/boot/vmlinuz-$kver ]] ||
		die "cannot rename $tmp/root to $dir"
}

index_modules() {
	PATH=$PATH:/sbin:/usr/sbin depmod -b "$1" "$kver" || die "depmod failed in $1"
}

if ((fetch)); then
	if [[ ! -f $dir/boot/vmlinuz-$kver ]]; then
		fetch_kernel
	elif [[ ! -f $dir/lib/modules/$kver/modules.dep ]]; then
		index_modules "$dir"
	fi
fi

if [[ $want == path ]]; then echo "$dir"; else echo "$kver"; fi
