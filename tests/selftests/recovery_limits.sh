#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How long I/O waits for a connection: fast_io_fail_tmo, ctrl_loss_tmo, and none of both.
# timeout: 240
# quick: uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/faults.sh"

nqn=nqn.io.kdp:recovery-limits

reads() {
	bounded dd if="$disk" of=/dev/null bs=4k count=1 iflag=direct status=none
}

passthrough_fails() {
	fails nvme io-passthru "/dev/kdpg${ctrl#kdp}n1" --opcode=2 --namespace-id=1 --data-len=4096 --read --cdw12=7
}

# resets_to STATE
resets_to() {
	host_reset
	echo "status $?"
	state_is "$1"
}

world_begin
kdp_only
ktap_check "target is up" target_up "$nqn" 32
calm

host_connected "$KDP_ADDR" "$nqn" --reconnect-delay 1 --fast-io-fail-tmo 1
load_begin "$disk" --errors
ktap_check "fast_io_fail_tmo: the target leaves" target_leaves
load_fails
ktap_check "while it goes on trying" becomes connecting
ktap_check "other I/O fails at once" fails reads
ktap_check "so does passthrough" passthrough_fails
ktap_check "the target returns" target_returns
ktap_check "live again" becomes live
ktap_check "and it works" reads
ktap_check "what was acknowledged is there" ledger_holds
ktap_check "disconnect" host_disconnect

host_connected "$KDP_ADDR" "$nqn" --reconnect-delay 1 --ctrl-loss-tmo 2
short_load_begin "$disk" --errors
ktap_check "ctrl_loss_tmo: the target leaves" target_leaves
ktap_check "it gives up" becomes failed
load_fails
ktap_check "other I/O fails" fails reads
ktap_check "so does passthrough" passthrough_fails
ktap_check "a reset cannot help" resets_to failed
ktap_check "the target returns" target_returns
ktap_check "a reset revives it" resets_to live
ktap_check "what was acknowledged is there" ledger_holds
ktap_check "disconnect" host_disconnect

# Gone for good: what waits must not keep a disconnect from ending.
host_connected "$KDP_ADDR" "$nqn" --reconnect-delay 1 --ctrl-loss-tmo -1
short_load_begin "$disk" --errors
ktap_check "no limit: the target leaves" target_leaves
ktap_check "it tries again" becomes connecting
ktap_check "disconnect meanwhile" host_disconnect
load_fails
ktap_check "nothing is left" nothing_left
ktap_check "the target returns" target_returns

host_connected "$KDP_ADDR" "$nqn" --ctrl-loss-tmo 0
ktap_check "no reconnecting: the target leaves" target_leaves
ktap_check "it fails" becomes failed
ktap_check "and I/O" fails reads
ktap_check "disconnect" host_disconnect
ktap_check "the target returns" target_returns
world_end
