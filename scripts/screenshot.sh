#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A picture of an HTML page, by headless Chromium (Debian package chromium).
#
#   scripts/screenshot.sh REPORT.html OUT.png
#
# WIDTH and HEIGHT of the window in pixels (1200 by 1800), SCALE of the picture (1),
# DARK=1 for the dark colours.

set -euo pipefail

die() {
	printf 'screenshot: %s\n' "$*" >&2
	exit 1
}

(($# == 2)) || die "usage: scripts/screenshot.sh REPORT.html OUT.png"
command -v chromium >/dev/null || die "chromium not found: apt-get install chromium"
page=$(realpath -e -- "$1") || die "$1: no such page"
out=$(realpath -m -- "$2")

profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
options=(
	--headless --disable-gpu --hide-scrollbars --no-first-run
	--user-data-dir="$profile" --virtual-time-budget=5000
	--window-size="${WIDTH:-1200},${HEIGHT:-1800}"
	--force-device-scale-factor="${SCALE:-1}"
	--screenshot="$profile/picture.png"
)
# Chromium's sandbox does not work for root; the page is our own and loads nothing.
((EUID != 0)) || options+=(--no-sandbox)
[[ -z ${DARK:-} ]] || options+=(--blink-settings=preferredColorScheme=0)

timeout 120 chromium "${options[@]}" "file://$page" >"$profile/log" 2>&1 || {
	cat "$profile/log" >&2
	die "chromium failed (see above)"
}
[[ -s $profile/picture.png ]] || die "chromium made no picture of $1"
mv -- "$profile/picture.png" "$out"
