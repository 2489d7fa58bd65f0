# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Running QEMU: sourced by tests/vm/run, whose variables these functions use.

# shellcheck disable=SC2154 # repo, out, kver, ... are set by tests/vm/run

# vm_next_dir BASE: make and print BASE/<n>, the first number that nobody has.
vm_next_dir() {
	local n=1
	mkdir -p "$1" || return 1
	until mkdir "$1/$n" 2>/dev/null; do
		((++n < 100000)) || return 1
	done
	ln -sfn "$n" "$1/last"
	echo "$1/$n"
}

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

# One word for both shells that read it: bash and busybox ash.
vm_quote() {
	local q=\'\\\'\'
	printf "'%s'" "${1//\'/$q}"
}

# vm_write_env [SCRIPT ARGS...]: what the guest must know, as a file in the results share.
vm_write_env() {
	local name word
	declare -A value=(
		[KDP_REPO]=$repo
		[KDP_OUT]=$out
		[KDP_MODDIR]=$repo/build/modules-$kver/kernel
		[KDP_KERNEL_MODULES]=$kdir/lib/modules/$kver
		[KVER]=$kver
		[ACCEL]=$accel
		[KDP_CWD]=$PWD
		[KDP_SHELL]=$shell
		[KDP_WATCHDOG]=$((${timeout:-300} - 10))
	)
	if ((shell)); then
		value[TERM]=${TERM:-vt100}
		read -r 'value[LINES]' 'value[COLUMNS]' < <(stty size 2>/dev/null | grep -v '^0' || echo 24 80)
	fi
	{
		for name in "${!value[@]}"; do
			printf '%s=%s\n' "$name" "$(vm_quote "${value[$name]}")"
		done
		printf set' --'
		for word; do
			printf ' %s' "$(vm_quote "$word")"
		done
		echo
	} >"$out/guest.env"
}

# Fills the array `qemu`. $1: the console's chardev options.
vm_qemu_command() {
	local kargs="console=ttyS0 quiet loglevel=1 panic=-1 mitigations=off nokaslr random.trust_cpu=on log_buf_len=4M"
	qemu=(
		qemu-system-x86_64 -nodefaults -no-user-config -display none -monitor none -no-reboot
		-M q35 -smp "$smp" -m "$mem"
	)
	case $accel in
	kvm) qemu+=(-accel kvm -cpu host) ;;
	tcg) qemu+=(-accel "tcg,thread=multi" -cpu max) kargs+=" tsc=reliable clocksource=tsc" ;;
	icount)
		qemu+=(-accel "tcg,thread=single" -icount "shift=0,sleep=off" -cpu max)
		kargs+=" tsc=reliable clocksource=tsc"
		;;
	esac
	# shellcheck disable=SC2054 # the commas are QEMU's
	qemu+=(
		-kernel "$kdir/boot/vmlinuz-$kver" -initrd "$initramfs" -append "$kargs $append"
		-chardev "stdio,id=con,$1" -serial chardev:con
		-device virtio-rng-pci
		-netdev user,id=net0,restrict=on,ipv6=off -device virtio-net-pci,netdev=net0
		-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"
		-device virtio-9p-pci,fsdev=root,mount_tag=root
		-fsdev "local,id=out,path=${out//,/,,},security_model=none,multidevs=remap"
		-device virtio-9p-pci,fsdev=out,mount_tag=out
	)
	command -v "${qemu[0]}" >/dev/null || die "${qemu[0]} not found; run 'make deps'"
}

vm_interactive() {
	local qemu rc=0
	vm_qemu_command "mux=on,signal=off,logfile=${out//,/,,}/console.log"
	qemu+=(-mon chardev=con)
	echo "vm: $kver, $accel; leave with Ctrl-D, kill with Ctrl-A X; results in $out" >&2
	"${qemu[@]}" || rc=$?
	stty sane 2>/dev/null || true
	((rc == 0)) || die "QEMU failed (status $rc)"
	[[ -f $out/status ]] || return 0
	echo "finished $(<"$out/status")" >"$out/verdict"
	return "$(<"$out/status")"
}

# vm_batch SECONDS: run to the end, judge it, leave no QEMU behind.
vm_batch() {
	local limit=$1 qemu pid rc=0 done_at='' status
	vm_qemu_command "signal=off,logfile=${out//,/,,}/console.log"
	timeout -k 5 "$limit" "${qemu[@]}" </dev/null 2>"$out/qemu.log" &
	pid=$!
	# timeout(1) passes the signal on to QEMU and kills it 5 s later.
	# shellcheck disable=SC2064 # the pid as it is now
	trap "kill $pid 2>/dev/null; wait $pid 2>/dev/null" EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP

	while kill -0 "$pid" 2>/dev/null; do
		# A guest that reported and cannot power off need not be waited for.
		if [[ -f $out/status ]]; then
			: "${done_at:=$SECONDS}"
			if ((SECONDS - done_at > 20)); then
				echo "vm: the guest reported but did not power off; ended" >&2
				kill "$pid" 2>/dev/null || true
				break
			fi
		fi
		sleep 0.2
	done
	wait "$pid" || rc=$?
	trap - EXIT INT TERM HUP

	if [[ -f $out/status ]]; then
		status=$(<"$out/status")
		echo "finished $status" >"$out/verdict"
		[[ $status =~ ^[0-9]+$ ]] || die "the guest wrote a status '$status' that is no number"
		return "$status"
	fi
	vm_unfinished "$limit" "$rc"
	return 124
}

# vm_unfinished SECONDS QEMU_STATUS: say why no status came back.
vm_unfinished() {
	local why verdict
	if grep -aq 'Kernel panic' "$out/console.log" 2>/dev/null; then
		verdict=panic why="the guest's kernel panicked"
	elif (($2 == 124 || $2 == 137)); then
		verdict=timeout why="guest never finished within $1 s"
	elif (($2 != 0)); then
		verdict=qemu-failed why="QEMU failed with status $2: $(tail -n 3 "$out/qemu.log" | tr '\n' ' ')"
	else
		verdict=vanished why="the guest powered off and left no status"
	fi
	echo "$verdict" >"$out/verdict"
	[[ $verdict == timeout ]] || why="guest never finished: $why"
	printf 'vm: %s (%s, %s); see %s/console.log and dmesg.txt\n' "$why" "$kver" "$accel" "$out" >&2
}
