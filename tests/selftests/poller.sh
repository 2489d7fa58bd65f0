#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The poller threads: at each spin time I/O completes (no wake-up is lost), a thread that
# may sleep does, one that may spin does, and they go with the last controller.
# timeout: 150

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:poller

pollers() {
	pgrep -c '^kdp_poll/' || true
}

# A checking kernel in emulation needs milliseconds for each.
alone=300 at_once=600
[[ $MACHINE != debug ]] || alone=120 at_once=180

# One at a time, so that each completion meets an idle thread; then many at once.
io_completes() {
	bounded dd if="$disk" of=/dev/null bs=4k count="$alone" iflag=direct status=none &&
		bounded fio --name=t --filename="$disk" --rw=randread --bs=4k --direct=1 \
			--ioengine=libaio --iodepth=16 --size=8M --number_ios="$at_once" --minimal
}

# grows KEY: by how much in two idle seconds.
grows() {
	local before
	before=$(json "$1")
	sleep 2
	echo $(($(json "$1") - before))
}

at_rest() {
	local empty
	empty=$(grows polls_empty)
	echo "$empty empty polls in 2 idle seconds"
	((empty < 200))
}

spins_on() {
	local empty
	empty=$(grows polls_empty)
	echo "$empty empty polls in 2 idle seconds"
	((empty > 200))
}

slept() {
	local sleeps commands
	sleeps=$(json sleeps) commands=$(json commands)
	echo "$sleeps sleeps, $commands commands"
	((sleeps >= alone / 3 && commands >= alone + at_once))
}

# An administrator puts the thread on the first CPU, and it works there.
can_be_pinned() {
	local pid allowed
	pid=$(pgrep -x 'kdp_poll/[0-9]*' | tail -n 1)
	taskset -p -c 0 "$pid" || return
	io_completes || return
	allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$pid/status")
	[[ $allowed == 0 ]] || complain "it may run on $allowed" || return
	[[ $(cut -d ' ' -f 39 "/proc/$pid/stat") == 0 ]] || complain "it does not run there"
}

world_begin
ktap_check "target is up" target_up "$nqn" 16
ktap_check "no poller thread without a controller" test "$(pollers)" = 0

for spin in 0 50 -1; do
	connected "$KDP_ADDR" "$nqn" --spin-us "$spin"
	ktap_check "spin $spin us: a thread is there" test "$(pollers)" -ge 1
	ktap_check "spin $spin us: I/O completes" io_completes
	if ((spin == 0)); then ktap_check "spin $spin us: the threads sleep between completions" slept; fi
	if ((spin < 0)); then
		ktap_check "spin $spin us: the threads spin when idle" spins_on
	else
		ktap_check "spin $spin us: the threads rest when idle" at_rest
	fi
	ktap_check "spin $spin us: disconnect" disconnect "$ctrl"
	ktap_check "spin $spin us: the threads are gone" test "$(pollers)" = 0
done

# Controllers that share a CPU share its thread; the thread stays until the last goes.
connected "$KDP_ADDR" "$nqn"
one=$(pollers)
ktap_check "a second controller" connect "$KDP_ADDR" "$nqn" -D
ktap_check "shares the threads" test "$(pollers)" = "$one"
ktap_check "the first goes" disconnect kdp0
disk=/dev/kdp1n1
ktap_check "the second works on" io_completes
ktap_check "its last thread can be pinned, and works on" can_be_pinned
ktap_check "and goes" disconnect kdp1
world_end
