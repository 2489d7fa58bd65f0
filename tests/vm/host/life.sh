# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# The life of one guest: what it is told, how long it may live, how its end is judged.
# Sourced by tests/vm/run, whose variables these functions use.

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
		[KDP_MODDIR]=$repo/build/modules-$kver/stripped
		[KDP_KERNEL_MODULES]=$kdir/lib/modules/$kver
		[KVER]=$kver
		[MACHINE]=$machine
		[ACCEL]=$accel
		[KDP_RDMA]=$rdma
		[FULL]=${FULL:-0}
		[FUZZ_CALLS]=${FUZZ_CALLS:-} [FUZZ_SEED]=${FUZZ_SEED:-}
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

# vm_command batch|shell: fill the array `command` with what starts the guest.
vm_command() {
	"vm_${engine}_command" "$1"
	command -v "${command[0]}" >/dev/null || die "${command[0]} not found; run 'make deps'"
}

vm_interactive() {
	local command rc=0
	vm_command shell
	echo "vm: $kver on $machine ($accel); leave with Ctrl-D$vm_escape; results in $out" >&2
	"${command[@]}" || rc=$?
	stty sane 2>/dev/null || true
	((rc == 0)) || die "the machine failed (status $rc)"
	[[ -f $out/status ]] || return 0
	echo "finished $(<"$out/status")" >"$out/verdict"
	return "$(<"$out/status")"
}

# vm_uml_leader PID: the kernel that the timeout(1) PID runs.
vm_uml_leader() {
	pgrep -P "$1" -f "^$kdir/boot/linux-"
}

# vm_end PID: of the timeout(1) that watches over it. User-Mode Linux would answer a polite
# signal by running its exit code in a handler; and it leads a session of its own, in which
# the guest's processes are processes, too.
vm_end() {
	local leader
	if [[ $engine == uml ]]; then
		for leader in $(vm_uml_leader "$1"); do
			pkill -KILL -s "$leader"
		done
		kill -KILL "$1"
	else
		kill "$1"
	fi 2>/dev/null || true
}

# vm_batch SECONDS: run to the end, judge it, leave no process behind.
vm_batch() {
	local limit=$1 command pid rc=0 done_at='' status leader=''
	local -a watch=(timeout -k 5)
	vm_command batch
	[[ $engine != uml ]] || watch=(timeout -s KILL)
	# What it prints is seen at once and kept.
	"${watch[@]}" "$limit" "${command[@]}" </dev/null > >(exec tee "$out/console.log") 2>"$out/machine.log" &
	pid=$!
	# shellcheck disable=SC2064 # the pid as it is now
	trap "vm_end $pid; wait $pid 2>/dev/null" EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	trap 'exit 141' PIPE

	while kill -0 "$pid" 2>/dev/null; do
		[[ $engine != uml || -n $leader ]] || leader=$(vm_uml_leader "$pid") || true
		# A guest that reported and cannot power off need not be waited for.
		if [[ -f $out/status ]]; then
			: "${done_at:=$SECONDS}"
			if ((SECONDS - done_at > 20)); then
				echo "vm: the guest reported but did not power off; ended" >&2
				vm_end "$pid"
				break
			fi
		fi
		sleep 0.2
	done
	wait "$pid" || rc=$?
	# a guest that was killed by its time limit leaves its processes stopped
	[[ -z $leader ]] || pkill -KILL -s "$leader" || true
	trap - EXIT INT TERM HUP PIPE

	if [[ -f $out/status ]]; then
		status=$(<"$out/status")
		echo "finished $status" >"$out/verdict"
		[[ $status =~ ^[0-9]+$ ]] || die "the guest wrote a status '$status' that is no number"
		return "$status"
	fi
	vm_unfinished "$limit" "$rc"
	return 124
}

# vm_unfinished SECONDS STATUS: say why no status came back.
vm_unfinished() {
	local why verdict
	if grep -aq 'Kernel panic' "$out/console.log" 2>/dev/null; then
		verdict=panic why="the guest's kernel panicked"
	elif (($2 == 124 || $2 == 137)); then
		verdict=timeout why="guest never finished within $1 s"
	elif (($2 != 0)); then
		verdict=machine-failed why="the machine failed with status $2: $(tail -n 3 "$out/machine.log" | tr '\n' ' ')"
	else
		verdict=vanished why="the guest powered off and left no status"
	fi
	echo "$verdict" >"$out/verdict"
	[[ $verdict == timeout ]] || why="guest never finished: $why"
	printf 'vm: %s (%s on %s, %s); see %s/console.log and dmesg.txt\n' \
		"$why" "$kver" "$machine" "$accel" "$out" >&2
}
