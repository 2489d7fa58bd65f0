# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# In the guest: the messages of an I/O alone, between two QPs (tests/bench/bound/kdp_bound.c).
# Sourced after tests/vm/guest/lib.sh.

# floor RW DEPTH IOS: microseconds per I/O.
floor() {
	local write=0 text
	[[ $1 == randread ]] || write=1
	insmod "$KDP_REPO/build/bound-$KVER/kdp_bound.ko" addr="$KDP_ADDR" ios="$3" depth="$2" write="$write" || return
	text=$(dmesg | sed -n 's/.*kdp_bound: \([0-9]*\) ns per I\/O/\1/p' | tail -n 1)
	rmmod kdp_bound
	awk -v ns="$text" 'BEGIN { if (ns == "") exit 1; printf "%.2f\n", ns / 1000 }'
}
