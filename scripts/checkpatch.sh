#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Run the kernel's checkpatch over files, whole. It comes out of Debian's kernel
# source package, of which the three files that it needs are kept in the cache.
#
#   scripts/checkpatch.sh FILE...     errors and warnings fail; --strict's checks are not asked for
#
# Cache: ${KDP_CACHE:-${XDG_CACHE_HOME:-~/.cache}/kdp}/checkpatch/

set -euo pipefail

die() {
	printf 'checkpatch: %s\n' "$*" >&2
	exit 1
}

[[ ${1:-} ]] || die "which files? usage: scripts/checkpatch.sh FILE..."
package=linux-source-6.12
dir=${KDP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kdp}/checkpatch

fetch() {
	local tmp deb
	mkdir -p "$(dirname "$dir")"
	tmp=$(mktemp -d "$dir.XXXXXX")
	# shellcheck disable=SC2064 # the name as it is now
	trap "rm -rf $(printf %q "$tmp")" EXIT
	echo "checkpatch: downloading $package" >&2
	(cd "$tmp" && apt-get -q -o APT::Sandbox::User=root download "$package") >"$tmp/log" 2>&1 || {
		tail -n 5 "$tmp/log" >&2
		die "cannot download $package; run 'apt-get update' and try again"
	}
	deb=$(echo "$tmp"/*.deb)
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$package.tar.xz" |
		tar -xJ -C "$tmp" --strip-components=1 \
			"$package/scripts/checkpatch.pl" "$package/scripts/spelling.txt" \
			"$package/scripts/const_structs.checkpatch" ||
		die "cannot unpack $deb (disk full?)"
	rm -f "$deb"
	# another run may have been quicker; its copy is as good
	mv -T "$tmp" "$dir" 2>/dev/null || [[ -f $dir/scripts/checkpatch.pl ]] ||
		die "cannot rename $tmp to $dir"
}

[[ -f $dir/scripts/checkpatch.pl ]] || fetch

exec perl "$dir/scripts/checkpatch.pl" --no-tree --terse --no-summary --max-line-length=100 \
	-f "$@"
