#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kdp set: who takes completions changes while I/O runs, again and again. Nothing is lost, nothing
# is wrong, each mode does what it should, and what makes no sense is refused.
# timeout: 300
# quick: 6.12 uml

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/load.sh"

nqn=nqn.io.kdp:set-modes

# A checking kernel in emulation needs milliseconds for each.
rounds=2 ios=100
[[ $MACHINE != debug ]] || rounds=1 ios=40
# On one CPU who polls lets others have a turn at the next tick.
polled_ios=$ios
(($(getconf _NPROCESSORS_ONLN) > 1)) || polled_ios=40

# From each mode to each other.
changes=('thread 0' 'event 0' 'caller -1' 'thread -1' 'caller 100' 'event 50' 'thread 50')

change_to() {
	bounded kdp set "$ctrl" --cq-mode "$1" --spin-us "$2"
}

# is MODE SPIN_US: so says the controller, and so do its queues but for the polled ones.
is() {
	local modes text want='caller '$1
	[[ $1 != caller ]] || want=caller
	text=$(bounded kdp list --json | grep -E '"(cq_mode|spin_us)"' | tr -d '[:space:]')
	[[ $text == "\"cq_mode\":\"$1\",\"spin_us\":$2," ]] || complain "it is $text" || return
	modes=$(bounded kdp stats "$ctrl" --json | sed -n 's/.*"cq_mode": "\(.*\)".*/\1/p' | sort -u | paste -sd ' ')
	[[ $modes == "$want" ]] || complain "queues: $modes"
}

# on_every_path: I/O of any size by the disk's queues, polled, and by synchronous ioctls, checked.
# Their processes are in `pids`; each ends when $tmp/enough is there.
on_every_path() {
	keep_on ioctl ioctls_are_right
	keep_on disk fio --name=t --filename="$disk" --rw=randrw --bsrange=512-64k --direct=1 --ioengine=libaio \
		--iodepth=16 --offset=1M --size=2M --verify=crc32c --verify_fatal=1 --minimal
	keep_on polled fio --name=t --filename="$disk" --rw=randrw --bs=4k --direct=1 --ioengine=io_uring --hipri \
		--iodepth=8 --offset=4M --size=1M --number_ios="$polled_ios" --verify=crc32c --verify_fatal=1 --minimal
}

# Not kdp bench, here and below: it counts system calls by a tracepoint, and to switch that on while
# others make some is more than QEMU's translator can do (tests/vm/guest/boot.sh).
ioctls_are_right() {
	head -c 262144 /dev/urandom >"$tmp/out" &&
		bounded path_io "kernel:$char" write 0 262144 "$tmp/out" 4096 &&
		bounded path_io "kernel:$char" read 0 262144 "$tmp/in" 4096 && same_bytes "$tmp/out" "$tmp/in"
}

pids=()
keep_on() {
	local name=$1
	shift
	(
		until [[ -e $tmp/enough ]]; do
			bounded "$@" >"$tmp/$name" 2>&1 || exit
			echo >>"$tmp/$name.rounds"
		done
	) &
	pids+=($!)
}

all_have_begun() {
	[[ -s $tmp/ioctl.rounds && -s $tmp/disk.rounds && -s $tmp/polled.rounds ]]
}

# rounds_of NAME: so often the I/O of that path has been through. A line each: a number that is
# written over and over may be read while the file is empty.
rounds_of() {
	wc -l 2>/dev/null <"$tmp/$1.rounds" || echo 0
}

gone_round() {
	(($(rounds_of ioctl) > $1 && $(rounds_of disk) > $2 && $(rounds_of polled) > $3))
}

# They all get on in the new mode.
changes_and_gets_on() {
	local before
	change_to "$1" "$2" && is "$1" "$2" || return
	before=("$(rounds_of ioctl)" "$(rounds_of disk)" "$(rounds_of polled)")
	wait_until "$patience" gone_round "${before[@]}" ||
		complain "stuck:" "$(tail -n 3 "$tmp/ioctl" "$tmp/disk" "$tmp/polled")" || return
}

# end_on_every_path: a point. Not in a ktap_check, which runs its command in a subshell: they
# are children of this shell.
end_on_every_path() {
	local pid rc=0
	touch "$tmp/enough"
	for pid in "${pids[@]}"; do wait "$pid" || rc=$?; done
	if ((rc == 0)); then
		ktap_ok "all I/O was right"
		echo "# rounds: $(rounds_of ioctl) by ioctl, $(rounds_of disk) on the disk, $(rounds_of polled) polled"
	else
		ktap_not_ok "all I/O was right" "status $rc: $(tail -n 5 "$tmp/ioctl" "$tmp/disk" "$tmp/polled")"
	fi
}

changes_quickly() {
	local i change
	for ((i = 0; i < rounds; i++)); do
		for change in "${changes[@]}"; do
			# shellcheck disable=SC2086 # two words
			change_to $change || return
		done
	done
}

# grows KEY COMMAND...: by how much while it runs.
grows() {
	local key=$1 before
	before=$(json "$key")
	"${@:2}" >/dev/null || return
	echo $(($(json "$key") - before))
}

by_ioctl() {
	bounded path_io "kernel:$char" read 0 $((ios * 4096)) /dev/null 4096 1
}

# Who waits polls, again and again, and does not sleep.
callers_poll() {
	local sleeps polls
	change_to caller -1
	sleeps=$(json sleeps)
	polls=$(grows polls_empty by_ioctl) || return
	sleeps=$(($(json sleeps) - sleeps))
	echo "$polls empty polls, $sleeps sleeps"
	((polls >= ios && sleeps == 0))
}

# With a spin time that is always too short he polls, gives up and sleeps.
callers_sleep() {
	local sleeps
	change_to caller 1
	sleeps=$(grows sleeps by_ioctl) || return
	echo "$sleeps sleeps"
	((sleeps >= ios / 2))
}

events_do_not_poll() {
	local polls
	change_to event 0
	polls=$(grows polls_empty by_ioctl) || return
	echo "$polls empty polls"
	((polls < ios / 2))
}

reset_keeps() {
	change_to "$1" "$2" && bounded kdp reset "$ctrl" && is "$1" "$2" && by_ioctl
}

pollers() {
	pgrep -c '^kdp_poll/' || true
}

threads_come_and_go() {
	change_to event 0 && [[ $(pollers) == 0 ]] || complain "threads without need" || return
	change_to thread 0 && (($(pollers) > 0)) || complain "no threads" || return
	change_to caller 0 && [[ $(pollers) == 0 ]] || complain "threads that nobody needs" || return
}

refused_by_the_tool() {
	local rc=0
	bounded kdp set "$@" || rc=$?
	[[ $rc == 2 ]] || complain "status $rc, not 2"
}

for_nobody() {
	install -m 755 "$(command -v kdp)" /tmp/kdp-for-nobody
}

nobody_sets() {
	fails_with EPERM setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/kdp-for-nobody set "$ctrl" --spin-us 1
}

world_begin
ktap_check "target is up" target_up "$nqn" 16
connected "$KDP_ADDR" "$nqn" -P 1
ktap_check "as connected" is thread 50

ktap_check "a mode that does not exist: refused by the tool" refused_by_the_tool "$ctrl" --cq-mode often
ktap_check "spin_us -2: refused by the tool" refused_by_the_tool "$ctrl" --spin-us -2
ktap_check "nothing to set: refused by the tool" refused_by_the_tool "$ctrl"
ktap_check "what is no controller: refused by the tool" refused_by_the_tool nvme0 --spin-us 1
ktap_check "no such controller: ENODEV" fails_with ENODEV kdp set kdp9 --spin-us 1
ktap_check "a copy of the tool for nobody" for_nobody
ktap_check "nobody sets: EPERM" nobody_sets
ktap_check "none of these changed anything" is thread 50
ktap_check "the spin time alone" bounded kdp set "$ctrl" --spin-us 7
ktap_check "is set, the mode as it was" is thread 7
ktap_check "the mode alone" bounded kdp set "$ctrl" --cq-mode event
ktap_check "is set, the spin time as it was" is event 7

ktap_check "threads come and go" threads_come_and_go
ktap_check "caller, -1: who waits polls and does not sleep" callers_poll
ktap_check "caller, 1 us: who waits gives up and sleeps" callers_sleep
ktap_check "event: nobody polls in vain" events_do_not_poll

ktap_check "a new connection has what was set" reset_keeps caller 33

on_every_path
ktap_check "I/O runs on every path" wait_until "$patience" all_have_begun
for change in "${changes[@]}"; do
	# shellcheck disable=SC2086 # two words
	ktap_check "under load, to $change: all I/O gets on" changes_and_gets_on $change
done
ktap_check "under load, $((rounds * ${#changes[@]})) changes in a row" changes_quickly
end_on_every_path

load_options=(--rw=randrw --bs=4k --ioengine=libaio --iodepth=32)
ktap_check "disconnect just after a change, under load" goes_under_load eval "change_to caller -1; disconnect $ctrl"
world_end
