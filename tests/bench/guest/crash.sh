#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the guest: applications are killed in the middle of their I/O, and what becomes of what they
# had (Documentation/benchmarking/crash.md).

set -uo pipefail
# shellcheck source=tests/bench/guest/experiment.sh
. "$(dirname "$0")/experiment.sh"
# shellcheck source=tests/vm/guest/veth.sh
. "$KDP_REPO/tests/vm/guest/veth.sh"

nqn=nqn.io.kdp:crash
rounds=${ROUNDS:-3}
((!quick)) || rounds=1
victim='' errors=/tmp/crash-errors

# victim_starts KIND: an application under load, at depth 16; its process is $victim.
victim_starts() {
	local load=(--rw randread --bs 4k --depth 16 --size 16m --warmup 0 --rounds 1 --runtime 600)
	case $1 in
	# one that looks for its target again: where the wire is cut it is killed before it has given up
	*cut) exec kdp bench "$verbs&ctrl_loss_tmo=600" "${load[@]}" ;;
	verbs*) exec kdp bench "$verbs" "${load[@]}" ;;
	kernel*) exec kdp bench "kernel:$char?mode=uring&buffers=region" "${load[@]}" ;;
	file*)
		exec fio --thread --name=victim --directory="$mount" --size=8M --rw=randwrite --bs=4k --fsync=1 \
			--time_based --runtime=600 --eta=never
		;;
	esac >"$errors" 2>&1 </dev/null &
	victim=$!
}

# next_io KIND: what the next process does that wants to use the namespace: it starts, and does one I/O.
next_io() {
	local once=(--rw randread --bs 4k --depth 1 --size 16m --warmup 0 --rounds 1 --ios 1)
	case $1 in
	verbs*) kdp bench "$verbs" "${once[@]}" ;;
	kernel*) kdp bench "kernel:$char?mode=uring&buffers=region" "${once[@]}" ;;
	file*) dd if=/dev/zero of="$mount/next" bs=4k count=1 conv=fsync ;;
	esac >"$errors" 2>&1 </dev/null || complain "after $1: $(<"$errors")"
}

# look: RDMA objects of both ends, by kind; and the target's connections.
declare -A seen
look() {
	local kind owner
	seen=([qp]=0 [cq]=0 [mr]=0 [target]=0)
	while read -r kind owner; do
		[[ -z ${seen[$kind]:-} ]] || ((++seen[$kind]))
		[[ $kind != cm_id || $owner != *nvmet* ]] || ((++seen[target]))
	done < <(watch_resources)
}

# noted KIND MOMENT: what was seen there.
noted() {
	observe QPs "$2" "$1" "${seen[qp]}"
	observe CQs "$2" "$1" "${seen[cq]}"
	observe MRs "$2" "$1" "${seen[mr]}"
}

# since FROM: milliseconds.
since() {
	awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.0f\n", (to - from) * 1000 }'
}

victim_dies() {
	killed_at=$EPOCHREALTIME
	kill -KILL "$victim" && wait "$victim" 2>/dev/null
	(($? == 137)) || complain "the victim had ended before: $(<"$errors")"
}

# total: RDMA objects at the last look.
total() {
	echo $((seen[qp] + seen[cq] + seen[mr]))
}

# calm: nobody uses anything that is not to stay.
calm() {
	look
	calm_total=$(total) calm_target=${seen[target]}
}

is_calm() {
	look
	(($(total) <= calm_total))
}

# commands: of the kernel path's controller, since it is there.
commands() {
	kdp list --json | jq '[.. | objects | .commands? // empty] | add // 0'
}

# flows KIND COMMANDS: does its I/O go on?
flows() {
	kill -0 "$victim" 2>/dev/null || return
	if [[ $1 == verbs* ]]; then
		look
		((seen[target] >= calm_target + 2))
	else
		(($(commands) > $2 + 100))
	fi
}

# loaded KIND: the victim is there, and does I/O.
loaded() {
	local before=0
	wait_until 60 is_calm || complain "before $1 there are still:" "$(watch_resources | uniq -c)" || return
	[[ $1 == verbs* ]] || before=$(commands)
	victim_starts "$1"
	wait_until 120 flows "$1" "$before" && sleep 1 ||
		complain "$1: no load: $(<"$errors") $(watch_resources | uniq -c)"
}

# time_to_clean KIND: when process, objects and the target's controller are gone. Looking takes a moment each time,
# which is what the times are exact to.
time_to_clean() {
	local kind=$1 gone_at target_at='' objects_at='' end
	wait_until 60 is_calm
	# what the cut needs is loaded by then: it is to take no longer than a look
	[[ $kind != *cut ]] || { veth_cut && veth_mend; } || return
	noted "$kind" "before"
	loaded "$kind" || return
	look
	noted "$kind" "while it runs"
	[[ $kind != *cut ]] || veth_cut || return
	victim_dies || return
	gone_at=$(since "$killed_at") end=$((SECONDS + 100))
	look
	noted "$kind" "at the first look after the kill"
	until [[ $objects_at && $target_at ]]; do
		((SECONDS < end)) || complain "$kind: after 100 s there are still:" "$(watch_resources | uniq -c)" || return
		[[ $target_at ]] || ((seen[target] > calm_target)) || target_at=$(since "$killed_at")
		[[ $objects_at ]] || (($(total) > calm_total)) || objects_at=$(since "$killed_at")
		look
	done
	noted "$kind" "in the end"
	[[ $kind != *cut ]] || veth_mend || return
	observe "after the kill" "the process is gone" "$kind" "$gone_at"
	# the kernel path's controller is the machine's
	[[ $kind != verbs* ]] || observe "after the kill" "the target has no controller of it" "$kind" "$target_at"
	observe "after the kill" "nothing of it is left at either end" "$kind" "$objects_at"
}

# time_to_use KIND: the next process, beside one that comes to a quiet system.
time_to_use() {
	local kind=$1 from=$EPOCHREALTIME
	next_io "$kind" || return
	observe "start to first I/O" "nobody was killed" "$kind" "$(since "$from")"
	loaded "$kind" && victim_dies || return
	next_io "$kind" || return
	observe "start to first I/O" "just after a kill" "$kind" "$(since "$killed_at")"
}

crash_kinds() {
	echo verbs
	echo "kernel, region"
	echo "file on ext4"
}

# kernel_down: what was written before each kill is a filesystem without a fault.
kernel_down() {
	umount "$mount" || return
	e2fsck -fn "/dev/${name}n1" >"$errors" 2>&1 || complain "e2fsck: $(<"$errors")" || return
	kdp disconnect --all && kdp_unload
}

take_down() {
	veth_down && target_down
}

rdma_up && kdp_load || exit
watch_begin
veth_up && target_up "$nqn" 64 && veth_target "$nqn" || exit
name=$(kdp connect -a "$veth_b" -n "$nqn" -q "$kdp_hostnqn" -I "$kdp_hostid") || exit
char=/dev/kdpg${name#kdp}n1 verbs="verbs://$veth_b:4420/$nqn?nsid=1" mount=/tmp/crash
mkfs.ext4 -q -F "/dev/${name}n1" && mkdir -p "$mount" && mount -t ext4 "/dev/${name}n1" "$mount" || exit

calm
experiment_begin crash "An application is killed in the middle of its I/O" "what it used" - false || exit
chart QPs "" false
chart CQs "" false
chart MRs "" false
chart "after the kill" ms true
chart "start to first I/O" ms true
note "load at depth 16, reads (file: one write and fsync at a time); $rounds rounds; objects are those of host and target together, which share the machine"
environment_by "kernel:$char" || exit
for ((round = 0; round < rounds; round++)); do
	while read -r kind <&3; do
		progress "$kind"
		time_to_clean "$kind" && time_to_use "$kind" || exit
	done 3< <(crash_kinds)
done
# by then nothing else may be on that wire
kernel_down && wait_until 60 is_calm && calm || exit
progress "verbs, wire cut"
time_to_clean "verbs, wire cut" || exit
experiment_end && experiment_over take_down
