# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# The machines that tests run on. Sourced by tests/vm/run.
#
#   stock       Debian's kernel, 6.12 or 6.1, in QEMU
#   debug       our kernel that checks every access and lock, in QEMU
#   uml         our kernel as a process of this machine (User-Mode Linux)
#   uml-debug   the same with the checks

# shellcheck disable=SC2034 # kver, kdir, engine and accel are the caller's

# vm_machine MACHINE KERNEL: fetch or build its kernel; set kver, kdir and engine.
vm_machine() {
	case $1 in
	stock)
		engine=qemu
		kver=$("$repo/scripts/kernel.sh" "$2") && kdir=$("$repo/scripts/kernel.sh" --path "$2")
		;;
	debug | uml | uml-debug)
		engine=${1%-debug}
		[[ $engine == uml ]] || engine=qemu
		kver=$("$repo/scripts/build-kernel.sh" --release "$1") &&
			kdir=$("$repo/scripts/build-kernel.sh" "$1")
		;;
	*) die "unknown --machine '$1' (stock, debug, uml or uml-debug)" ;;
	esac
}
