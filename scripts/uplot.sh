#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Fetch uPlot's files from npm into third_party/uplot, in the version and with the
# integrity that its README.md names.
#
#   scripts/uplot.sh          put the files there
#   scripts/uplot.sh --check  compare them with what is there; exit 1 if they differ

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly place=third_party/uplot

die() {
	printf 'uplot: %s\n' "$*" >&2
	exit 1
}

# The value of a row of README.md's table.
stated() {
	sed -n "s/^| $1[^|]*| \`\{0,1\}\([^\`|]*[^\`| ]\)\`\{0,1\} *|\$/\1/p" "$place/README.md"
}

version=$(stated version)
integrity=$(stated integrity)
[[ $version && $integrity == sha512-* ]] || die "$place/README.md names no version or no integrity"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm pack --silent --pack-destination "$work" "uplot@$version" >/dev/null ||
	die "npm cannot fetch uplot@$version"
archive=$work/uplot-$version.tgz
[[ "sha512-$(openssl dgst -sha512 -binary "$archive" | base64 -w0)" == "$integrity" ]] ||
	die "uplot-$version.tgz does not have the integrity that $place/README.md names"
tar -xzf "$archive" -C "$work"

rc=0
for file in dist/uPlot.iife.min.js dist/uPlot.min.css LICENSE; do
	if [[ ${1:-} == --check ]]; then
		cmp "$work/package/$file" "$place/${file##*/}" || rc=1
	else
		install -m 644 "$work/package/$file" "$place/${file##*/}"
	fi
done
exit "$rc"
