#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The target goes and comes back while I/O runs: its subsystem leaves the port, the port
# itself is removed, the namespace is disabled.
# timeout: 240
# quick: 6.1 uml

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/faults.sh"

nqn=nqn.io.kdp:recovery-target

port_goes() {
	target_leaves && rmdir "$nvmet/ports/4420"
}

port_comes() {
	target_port 4420 ipv4 "$KDP_ADDR" 4420 && target_returns
}

namespace_enable() {
	echo "$1" >"$nvmet/subsystems/$nqn/namespaces/1/enable"
}

# namespace_becomes UUID NGUID: another one under the same number.
namespace_becomes() {
	local dir=$nvmet/subsystems/$nqn/namespaces/1
	echo 0 >"$dir/enable" && echo "$1" >"$dir/device_uuid" && echo "$2" >"$dir/device_nguid" && echo 1 >"$dir/enable"
}

namespace_identity() {
	cat "$nvmet/subsystems/$nqn"/namespaces/1/device_{uuid,nguid}
}

# Past the page cache, as the target does.
backend_sum() {
	dd if="$(<"$nvmet/subsystems/$nqn/namespaces/1/device_path")" bs=1M iflag=direct status=none | sha256sum
}

unchanged() {
	[[ $(backend_sum) == "$sum" ]]
}

disk_reads() {
	[[ -b $disk ]] && bounded dd if="$disk" of=/dev/null bs=4k count=1 iflag=direct status=none
}

disk_reads_not() {
	! disk_reads 2>/dev/null
}

told() {
	grep -q "$1" "$tmp/monitor" || complain "kdp monitor said:"$'\n'"$(<"$tmp/monitor")"
}

# Counted on from what was counted before.
counters_go_on() {
	local now
	now=$(json commands)
	((now >= commands)) || complain "$commands commands before, $now now"
}

world_begin
ktap_check "target is up" target_up --namespaces 2 "$nqn" 32
host_connected "$KDP_ADDR" "$nqn" --reconnect-delay 1
if [[ $FAULTS_HOST == kdp ]]; then
	timeout -k 5 $((20 * patience)) kdp monitor >"$tmp/monitor" 2>&1 &
	monitor_pid=$!
fi
load_begin "$disk"
files_begin "$disk2"
[[ $FAULTS_HOST != kdp ]] || commands=$(json commands)

survives "the subsystem leaves the port" target_leaves target_returns
if [[ -e /proc/lockdep ]]; then
	ktap_skip "the port is removed" "stock code's lockdep report would end the watch, see target_keep_ports"
else
	survives "the port is removed" port_goes port_comes
fi
if [[ $FAULTS_HOST == kdp ]]; then
	ktap_check "it has counted its reconnects" test "$(json reconnects)" -ge "$([[ -e /proc/lockdep ]] && echo 1 || echo 2)"
	ktap_check "and has forgotten no other count" counters_go_on
	ktap_check "kdp monitor told that it reconnects" told connecting
	ktap_check "and that it was live again" told live
	kill "$monitor_pid"
fi
load_end
files_end
kdp_only

# Reported by an event, not by the connection: it stays up.
short_load_begin "$disk" --errors
ktap_check "the namespace is disabled" namespace_enable 0
load_fails
ktap_check "the disk reads no more" wait_until "$patience" disk_reads_not
ktap_check "the other namespace reads" dd if="$disk2" of=/dev/null bs=4k count=1 iflag=direct status=none
ktap_check "the namespace is enabled" namespace_enable 1
ktap_check "the disk reads again" wait_until "$patience" disk_reads
ktap_check "what was acknowledged is there" ledger_holds
ktap_check "the connection has lived on" state_is live

# A target that comes back with another namespace under the old one's number.
stranger=77000000-0000-4000-8000-0000000000b0
mapfile -t own < <(namespace_identity)
short_load_begin "$disk" --errors
ktap_check "the target leaves" target_leaves
ktap_check "another namespace takes the number" namespace_becomes "$stranger" "$stranger"
sum=$(backend_sum)
ktap_check "the target returns" target_returns
load_fails
ktap_check "not a byte has reached the other namespace" unchanged
ktap_check "disconnect" host_disconnect
ktap_check "the namespace is itself again" namespace_becomes "${own[@]}"
host_connected "$KDP_ADDR" "$nqn"
ktap_check "what was acknowledged is there" ledger_holds
world_end
