# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Running User-Mode Linux: sourced by tests/vm/run, whose variables these functions use.

# shellcheck disable=SC2154 # repo, out, kver, ... are set by tests/vm/run

# vm_uml_command batch|shell: fill the array `command`.
#
# Pinned to one CPU: its helper process would wake up on another one for every system
# call. The memory is a file in /dev/shm, if that is large enough, or in /tmp.
vm_uml_command() {
	local console="con0=null,fd:1" cpu
	[[ $1 == batch ]] || console="con0=fd:0,fd:1"
	vm_escape=
	cpu=${VM_CPU:-$(taskset -cp $$ | sed 's/.*[ ,-]//')}
	# shellcheck disable=SC2206 # words
	command=(
		taskset -c "$cpu" "$kdir/boot/linux-$kver" "mem=${mem}M" "initrd=$initramfs"
		$vm_kargs "$console" con=null "kdp_share=$out" $append
	)
}
