# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Did QEMU trip? Sourced by who runs machines.

# emulator_tripped OUT: guests that die of what no code of theirs can do; prints of what. QEMU's translator may run
# a stale instruction on one CPU while the kernel on another patches its own text (a jump
# label): an int3 that is no longer there. And it may take up flags that it has computed
# wrong, of which a double fault comes: no CPU sets bits 22 to 31 of EFLAGS.
emulator_tripped() {
	local said
	said=$(cat "$1"/{console.log,dmesg.txt} 2>/dev/null)
	grep -m 1 -o 'Oops: int3' <<<"$said" && return
	grep -q 'PANIC: double fault' <<<"$said" &&
		grep -m 1 -o -E 'EFLAGS: ([1-9a-f].|0[1-9a-f]|00[4-9a-f])[0-9a-f]{5,6}' <<<"$said"
}
