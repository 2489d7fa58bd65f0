#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Queue sets: each kind of I/O goes to its queues; polled I/O needs no event and no sleep, waits
# for whoever polls, and ends in order when something goes while it runs.
# timeout: 180
# quick: 6.1 uml

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/load.sh"
. "$(dirname "$0")/peers.sh"
. "$(dirname "$0")/stats.sh"

nqn=nqn.io.kdp:poll-queues
cpus=$(getconf _NPROCESSORS_ONLN)
polled=(--ioengine=io_uring --hipri)

# One CPU lets somebody else have a turn at its next tick.
nr_ios=400 verify_bytes=4M
((cpus > 1)) || nr_ios=100 verify_bytes=512k

# sets_are DEFAULT READ POLL
sets_are() {
	local got
	look
	got="$(queues_of default) $(queues_of read) $(queues_of poll)"
	[[ $got == "$*" ]] || complain "default, read, poll: $got, not $*"
}

mode_of() {
	awk -v set="\"$1\"," '$1 == "\"set\":" { here = $2 == set } $1 == "\"cq_mode\":" && here { print $2; exit }' <<<"$stats"
}

poll_queues_are_callers() {
	look
	[[ $(mode_of poll) == '"caller",' && $(mode_of default) == '"event",' ]] || complain "$stats"
}

verified() {
	bounded fio --name=t --filename="$disk" --rw=randrw --bsrange=512-64k --direct=1 "$@" \
		--size=2M --io_size="$verify_bytes" --verify=crc32c --verify_fatal=1 --minimal >"$tmp/fio" 2>&1 ||
		complain "$(<"$tmp/fio")"
}

# It is done by the poll queues alone, and by nobody but its issuer.
polled_io() {
	local here others wakes
	look
	here=$(count poll commands) others=$(($(count default commands) + $(count read commands)))
	wakes=$(($(count poll events) + $(count poll sleeps)))
	bounded fio --name=t --filename="$disk" --rw=randread --bs=4k --direct=1 "${polled[@]}" --iodepth=8 \
		--size=8M --number_ios="$nr_ios" --minimal || return
	look
	here=$(($(count poll commands) - here)) others=$(($(count default commands) + $(count read commands) - others))
	wakes=$(($(count poll events) + $(count poll sleeps) - wakes))
	echo "$here polled, $others others, $wakes events and sleeps"
	((here >= nr_ios && others <= 20 && wakes == 0))
}

# goes_to SET KEY DD_OPTION...: 64 commands there, and none to the other of default and read.
goes_to() {
	local other=read here there
	[[ $1 == default ]] || other=default
	look
	here=$(count "$1" "$2") there=$(count $other commands)
	bounded dd bs=4k count=64 status=none "${@:3}" || return
	look
	here=$(($(count "$1" "$2") - here)) there=$(($(count $other commands) - there))
	((here >= 64 * 4096 && there == 0)) || complain "$1: $here bytes, $other: $there commands"
}

says_in_the_log() {
	dmesg | grep "$ctrl: .*I/O queues (" | tail -n 1 | grep -F "$1" || complain "$(dmesg | grep "$ctrl: " | tail -n 3)"
}

# fewer ALLOTTED DEFAULT READ POLL: of a target that allots so many, with all sets wanted.
fewer() {
	with_peer "$1 queues allotted" "set queues $1" -i "$cpus" -W "$cpus" -P "$cpus" --cq-mode event || return
	ktap_check "$1 queues allotted: $2 default, $3 read, $4 poll" sets_are "$2" "$3" "$4"
	ktap_check "$1 queues allotted: the log says so" says_in_the_log \
		"$1 of $((3 * cpus)) I/O queues (default $2 of $cpus, read $3 of $cpus, poll $4 of $cpus)"
	ktap_check "$1 queues allotted: reads" dd if="$disk" of=/dev/null bs=4k count=16 iflag=direct status=none
	ktap_check "$1 queues allotted: writes" dd if=/dev/zero of="$disk" bs=4k count=16 oflag=direct status=none
	peer_end "$1 queues allotted"
}

# --- I/O that nobody polls for ---

in_flight() {
	local reads writes
	read -r reads writes <"/sys/block/${disk#/dev/}/inflight" && ((reads + writes > 0))
}

none_in_flight() {
	! in_flight
}

# stopped_in_flight: $pid does not run, and some of its I/O waits for it to poll.
stopped_in_flight() {
	kill -STOP "$pid"
	# what its threads were at is through by then
	wait_until 5 is_stopped && sleep 0.2 && in_flight && return
	kill -CONT "$pid"
	return 1
}

is_stopped() {
	[[ $(cut -d ' ' -f 3 "/proc/$pid/stat") == T ]]
}

begin_polled_io() {
	local before
	before=$(ios)
	endless_io --rw=randrw --bs=4k --size=8M "${polled[@]}" --iodepth=16 --thread
	wait_until "$patience" more_ios_than $((before + 50)) || complain "the I/O does not begin" || return
	# timeout(1) runs it
	pid=$(pgrep -P "$io_pid" -x fio) && wait_until 30 stopped_in_flight || complain "nothing is in flight: $(<"$tmp/fio")"
}

end_polled_io() {
	kill -CONT "$pid"
	wait
}

# time_limit MS: of a command on the disk.
time_limit() {
	echo "$1" >"/sys/block/${disk#/dev/}/queue/io_timeout"
}

# Their time is over, and they are through: the time limit's work has polled.
waits_for_late_poller() {
	time_limit 1000 && begin_polled_io || return
	wait_until 20 none_in_flight || complain "still in flight" || return
	kill "$pid"
	end_polled_io
	time_limit 30000
	[[ $(json state) == live ]] || complain "the controller is $(json state)"
}

# Its issuer polls in vain until there is a connection again, which has poll queues like the first.
survives_resets() {
	local pid n=0
	verified "${polled[@]}" --iodepth=8 --loops=3 &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		bounded kdp reset "$ctrl" || return
		((++n))
	done
	wait "$pid" || return
	echo "$n resets"
	((n > 0)) && poll_queues_are_callers
}

# The time limit does not help here.
disconnects_unpolled() {
	time_limit 3600000 && begin_polled_io || return
	disconnect "$ctrl" || return
	end_polled_io
}

peers_begin
ktap_check "target is up" target_up "$nqn" 16
calm

connected "$KDP_ADDR" "$nqn" -i "$cpus" -W "$cpus" -P "$cpus" --cq-mode event
ktap_check "as many queues of each set as asked for" sets_are "$cpus" "$cpus" "$cpus"
ktap_check "poll queues are polled by callers, the others are not" poll_queues_are_callers
ktap_check "polled I/O is right" verified "${polled[@]}" --iodepth=8
ktap_check "needs no event and no sleep" polled_io
ktap_check "pvsync2 --hipri works" verified --ioengine=pvsync2 --hipri
ktap_check "I/O of all kinds at once is right" verified --ioengine=libaio --iodepth=8
ktap_check "writes go to the default queues" goes_to default bytes_written if=/dev/zero of="$disk" oflag=direct
ktap_check "reads to those for reading" goes_to read bytes_read if="$disk" of=/dev/null iflag=direct
ktap_check "a command that nobody polls for waits, and the connection lives" waits_for_late_poller
ktap_check "polled I/O survives resets" survives_resets
ktap_check "and works on, without events and sleeps" polled_io
ktap_check "disconnect while nobody polls" disconnects_unpolled
ktap_check "nothing is left" nothing_left

connected "$KDP_ADDR" "$nqn" -i 1 -P 1
ktap_check "without write queues reads share the default ones" sets_are 1 0 1
ktap_check "reads go there" goes_to default bytes_read if="$disk" of=/dev/null iflag=direct
ktap_check "polled I/O besides a poller thread" polled_io
load_options=(--rw=randrw --bs=4k "${polled[@]}" --iodepth=16)
ktap_check "disconnect under polled load" goes_under_load disconnect "$ctrl"
ktap_check "nothing is left" nothing_left

connected "$KDP_ADDR" "$nqn" -P 1 --cq-mode caller
ktap_check "the RDMA device goes under polled load" goes_under_load device_goes
ktap_check "and comes back" device_comes_back
calm

fewer 1 1 0 0
if ((cpus > 1)); then fewer "$((cpus + 1))" "$cpus" 1 0; else fewer 2 1 1 0; fi
world_end
