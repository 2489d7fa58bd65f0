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
		-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"
		-device virtio-9p-pci,fsdev=root,mount_tag=root
		-fsdev "local,id=out,path=${out//,/,,},security_model=none,multidevs=remap"
		-device virtio-9p-pci,fsdev=out,mount_tag=out
	)
	if [[ -n $link ]]; then
		vm_qemu_link "${link%:*}" "${link#*:}"
	else
		command+=(-netdev "user,id=net0,restrict=on,ipv6=off" -device "virtio-net-pci,netdev=net0")
	fi
	[[ -z ${disks[*]} ]] || vm_qemu_disks
}

# vm_qemu_link LOCAL REMOTE: the wire to another machine, which can be cut from outside:
# then what is sent vanishes, both ways. QEMU is told by the FIFO qmp.in, and answers in
# qmp.out; whom to kill is in the file pid.
vm_qemu_link() {
	local host=${1##*.} wire="local.type=inet,local.host=$1,local.port=47910"
	mkfifo "$out/qmp.in" "$out/qmp.out"
	# shellcheck disable=SC2054 # the commas are QEMU's
	command+=(
		-netdev "dgram,id=net0,$wire,remote.type=inet,remote.host=$2,remote.port=47910"
		-device "virtio-net-pci,netdev=net0,mac=52:54:00:77:00:$(printf %02x "$host")"
		-chardev null,id=nowhere
		-object filter-redirector,id=cut,netdev=net0,queue=all,outdev=nowhere,status=off
		-chardev "pipe,id=qmp,path=${out//,/,,}/qmp" -mon chardev=qmp,mode=control
		-pidfile "$out/pid"
	)
}

# No cache that the guest would have to flush: what has been written when a write ends
# survives the guest, though not this machine.
vm_qemu_disks() {
	local i
	for i in "${!disks[@]}"; do
		command+=(
			-drive "if=none,id=disk$i,file=${disks[i]//,/,,},format=raw,cache=unsafe"
			-device "virtio-blk-pci,drive=disk$i,write-cache=off"
		)
	done
}
