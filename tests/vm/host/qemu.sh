# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Running QEMU: sourced by tests/vm/run, whose variables these functions use.

# shellcheck disable=SC2154 # repo, out, kver, ... are set by tests/vm/run

# An openable /dev/kvm is no proof: only a CPU that says vmx or svm has KVM.
vm_accel() {
	case $1 in
	auto)
		if grep -qwE 'vmx|svm' /proc/cpuinfo && [[ -w /dev/kvm ]]; then
			echo kvm
		else
			echo tcg
		fi
		;;
	kvm | tcg | icount) echo "$1" ;;
	*) die "unknown --accel '$1' (auto, kvm, tcg or icount)" ;;
	esac
}

# vm_qemu_command batch|shell: fill the array `command`.
vm_qemu_command() {
	local kargs="console=ttyS0 $vm_kargs mitigations=off nokaslr"
	local -a console=(-chardev stdio,id=con,signal=off -serial chardev:con)
	[[ $1 == batch ]] || console=(
		-chardev "stdio,id=con,mux=on,signal=off,logfile=${out//,/,,}/console.log"
		-serial chardev:con -mon chardev=con
	)
	vm_escape=", kill with Ctrl-A X"
	command=(
		qemu-system-x86_64 -nodefaults -no-user-config -display none -monitor none -no-reboot
		-M q35 -smp "$smp" -m "$mem"
	)
	case $accel in
	kvm) command+=(-accel kvm -cpu host) ;;
	tcg) command+=(-accel "tcg,thread=multi" -cpu max) kargs+=" tsc=reliable clocksource=tsc" ;;
	icount)
		command+=(-accel "tcg,thread=single" -icount "shift=0,sleep=off" -cpu max)
		kargs+=" tsc=reliable clocksource=tsc"
		;;
	esac
	# shellcheck disable=SC2054 # the commas are QEMU's
	command+=(
		-kernel "$kdir/boot/vmlinuz-$kver" -initrd "$initramfs" -append "$kargs $append"
		"${console[@]}"
		-device virtio-rng-pci
		-netdev user,id=net0,restrict=on,ipv6=off -device virtio-net-pci,netdev=net0
		-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"
		-device virtio-9p-pci,fsdev=root,mount_tag=root
		-fsdev "local,id=out,path=${out//,/,,},security_model=none,multidevs=remap"
		-device virtio-9p-pci,fsdev=out,mount_tag=out
	)
}

