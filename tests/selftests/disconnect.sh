#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Things end while I/O runs: a disconnect, the target, a command's time, the RDMA device.
# timeout: 240

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/load.sh"

nqn=nqn.io.kdp:disconnect

# io_ended: fio must go, by itself and with an error.
io_ended() {
	local rc=0
	ktap_check "the I/O ends" wait_until "$patience" io_gone || return
	wait "$io_pid" || rc=$?
	ktap_check "with an error (fio's status $rc)" test $((rc != 0 && rc < 124)) = 1
}

gone_with_device() {
	[[ -z $(json name) ]] || disconnect "$ctrl"
}

# A second namespace whose backend can be made slow while it is in use.
slow=/sys/bus/pseudo/drivers/scsi_debug
slow_namespace() {
	local dir=$nvmet/subsystems/$nqn/namespaces/2
	modprobe -a sd_mod && modprobe scsi_debug dev_size_mb=8 delay=0 && wait_until 20 slow_disk &&
		mkdir "$dir" && slow_disk >"$dir/device_path" && echo 1 >"$dir/enable"
}

slow_disk() {
	local block
	block=("$slow"/adapter0/host*/target*/*/block/*)
	[[ -b /dev/${block[0]##*/} ]] && echo "/dev/${block[0]##*/}"
}

# slow_seconds N: how long each command takes from now on. scsi_debug counts in jiffies.
slow_seconds() {
	local from to
	from=$(clocks)
	sleep 1
	to=$(clocks)
	awk -v from="$from" -v to="$to" -v seconds="$1" 'BEGIN {
		split(from, a); split(to, b)
		printf "%.0f\n", seconds * 1e9 * (b[1] - a[1]) / (b[2] - a[2])
	}' >"$slow/delay"
}

# Jiffies and nanoseconds, read together.
clocks() {
	awk '$1 == "now" { now = $3 } $1 == "jiffies:" { print $2, now; exit }' /proc/timer_list
}

slow_gone() {
	wait_until "$patience" slow_seconds 0 && target_down "$nqn" && wait_until "$patience" modprobe -r scsi_debug
}

# A read that the target answers after 10 s, with a limit of 2 s.
times_out() {
	local begin=$SECONDS rc=0
	bounded nvme io-passthru "${char%n1}n2" --opcode=2 --namespace-id=2 --data-len=4096 --read \
		--cdw12=7 --timeout=2000 -b >/dev/null || rc=$?
	echo "status $rc after $((SECONDS - begin)) s"
	((rc != 0 && rc < 124 && SECONDS - begin >= 1 && SECONDS - begin < 10))
}

world_begin
ktap_check "target is up" target_up "$nqn" 32
calm

connected "$KDP_ADDR" "$nqn"
io_begin
ktap_check "disconnect under I/O" disconnect "$ctrl"
io_ended
ktap_check "no device is left" nothing_left

connected "$KDP_ADDR" "$nqn" --ctrl-loss-tmo 0
io_begin
ktap_check "the target leaves" target_leaves
io_ended
ktap_check "the controller is in state failed" wait_until 30 state_is failed
ktap_check "new I/O fails at once" fails dd if="$disk" of=/dev/null bs=4k count=1 iflag=direct status=none
ktap_check "passthrough fails at once" fails nvme id-ctrl "/dev/$ctrl"
ktap_check "disconnect" disconnect "$ctrl"
ktap_check "no device is left" nothing_left
ktap_check "the target returns" target_returns
connected "$KDP_ADDR" "$nqn"
ktap_check "and serves again" dd if="$disk" of=/dev/null bs=4k count=4 iflag=direct status=none

# An open disk does not hold a disconnect up, and its reader gets errors.
exec {held}<"$disk"
ktap_check "disconnect while the disk is open" disconnect "$ctrl"
ktap_check "the open descriptor reads nothing" reads_nothing
exec {held}<&-
ktap_check "no device is left" nothing_left

connected "$KDP_ADDR" "$nqn"
exec {held}<>"$char"
ktap_check "disconnect while the char device is open" disconnect "$ctrl"
ktap_check "a command by the open descriptor fails" fails nvme id-ns "/proc/self/fd/$held"
exec {held}<&-
ktap_check "no device is left" nothing_left

if ktap_check "a namespace that can be slow" slow_namespace; then
	connected "$KDP_ADDR" "$nqn"
	ktap_check "its node is there" nodes_of "$ctrl" 1 2
	ktap_check "each command takes 10 s from now on" slow_seconds 10
	ktap_check "a command's time limit holds" times_out
	ktap_check "disconnect" disconnect "$ctrl"
	# the target's end stays until its slow commands are through
	ktap_check "the slow namespace goes" slow_gone
	ktap_check "no device is left" nothing_left
	ktap_check "target is up" target_up "$nqn" 32
fi

connected "$KDP_ADDR" "$nqn"
io_begin
ktap_check "the RDMA device goes" bounded rdma link delete "$KDP_RDMA_DEV"
io_ended
ktap_check "the controller has gone with it, or can be disconnected" gone_with_device
ktap_check "no node is left" wait_until 10 no_nodes
ktap_check "the target goes" target_down
ktap_check "an RDMA device comes" rdma_up
world_end
