#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Fetch Debian's source of the 6.12 kernel, apply tests/machines/patches (each says
# why), and print the directory. It is unpacked into the cache and never installed.
#
#   scripts/kernel-source.sh             fetch, print the directory
#   scripts/kernel-source.sh --version   print the package's version only, fetch nothing
#   scripts/kernel-source.sh --key       print version and patches as one word
#
# Cache: ${KDP_CACHE:-${XDG_CACHE_HOME:-~/.cache}/kdp}/source/KEY

set -euo pipefail

die() {
	printf 'kernel-source: %s\n' "$*" >&2
	exit 1
}

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
package=linux-source-6.12
version=$(apt-cache show --no-all-versions "$package" 2>/dev/null | sed -n 's/^Version: //p' | head -n 1)
cache=${KDP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kdp}/source
[[ -n $version ]] ||
	die "no package $package is known; run 'apt-get update' (Debian 12 has it in its main archive)"

patches=("$top"/tests/machines/patches/*.patch)
key=$(cat "${patches[@]}" | sha256sum)
key=$version-${key:0:8}

case ${1:-} in
--version) echo "$version"; exit ;;
--key) echo "$key"; exit ;;
'') ;;
*) die "unknown argument '$1' (known: --version, --key)" ;;
esac

dir=$cache/$key
if [[ -f $dir/Makefile ]]; then
	echo "$dir"
	exit
fi

mkdir -p "$cache"
exec 9>"$cache/.lock"
flock 9
if [[ ! -f $dir/Makefile ]]; then
	tmp=$(mktemp -d "$cache/.$key.XXXXXX")
	# shellcheck disable=SC2064 # the name as it is now
	trap "rm -rf $(printf %q "$tmp")" EXIT
	echo "kernel-source: downloading and unpacking $package $version" >&2
	opts=(-q)
	((EUID != 0)) || opts+=(-o APT::Sandbox::User=root)
	(cd "$tmp" && apt-get "${opts[@]}" download "$package=$version") >"$tmp/log" 2>&1 || {
		tail -n 5 "$tmp/log" >&2
		die "cannot download $package; run 'apt-get update' and try again"
	}
	dpkg --fsys-tarfile "$tmp"/linux-source-*.deb |
		tar -xf - -C "$tmp" --wildcards './usr/src/linux-source-*.tar.xz' ||
		die "no source archive in $package (disk full?)"
	mkdir "$tmp/tree"
	tar -xJf "$tmp"/usr/src/linux-source-*.tar.xz -C "$tmp/tree" --strip-components=1 ||
		die "cannot unpack $package (disk full?)"
	for patch in "${patches[@]}"; do
		patch -s -p1 -d "$tmp/tree" <"$patch" || die "${patch##*/} does not fit $package $version"
	done
	mv -T "$tmp/tree" "$dir"
fi
echo "$dir"
