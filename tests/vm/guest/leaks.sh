# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Leaked memory, where the kernel has kmemleak. Sourced by lib.sh.
#
# kmemleak reports an object in the second scan that finds no pointer to it, when it is
# at least 5 s old. To wait for that at the end of each test would cost more than most
# tests; so there is one scan at each end and a few at the last, and an object belongs to
# the test during which it was allocated.
#
#   leaks_begin                      forget what there is
#   from=$(leaks_clock); ... ; to=$(leaks_clock)
#   leaks_take                       scan; print new findings, one a line, as
#                                    "JIFFIES report", its lines joined by \x1f

kmemleak=/sys/kernel/debug/kmemleak

leaks_watched() {
	[[ -e $kmemleak ]]
}

# Jiffies, in which kmemleak tells the age of an object.
leaks_clock() {
	awk '$1 == "jiffies:" { print $2; exit }' /proc/timer_list
}

leaks_begin() {
	echo scan >"$kmemleak" && echo clear >"$kmemleak"
}

leaks_take() {
	echo scan >"$kmemleak"
	awk '
	function flush() { if (text != "") print at, text; text = "" }
	/^unreferenced object/ { flush(); text = $0; next }
	match($0, /jiffies [0-9]+/) { at = substr($0, RSTART + 8, RLENGTH - 8) }
	text != "" { text = text "\x1f" $0 }
	END { flush() }' "$kmemleak"
	echo clear >"$kmemleak"
}
