#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The network is cut while I/O runs, and nobody is told: for 3 s, for 30 (FULL=1), for longer
# than ctrl_loss_tmo. The RDMA device goes.
# timeout: 300
# quick: 6.12 uml

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/faults.sh"
. "$KDP_REPO/tests/vm/guest/veth.sh"

nqn=nqn.io.kdp:recovery-link

# A cut may be over before anybody notices.
cut_for() {
	veth_cut && sleep "$1" && veth_mend
}

# Its controllers go with it; one whose device went while it was connecting may stay.
gone_with_device() {
	[[ -z $(json name) ]] || disconnect "$ctrl"
}

world_begin
if ! ktap_check "a network that can be cut" veth_up; then
	veth_down
	world_end
fi
trap 'loads_kill; veth_down; rm -rf "$tmp"' EXIT
ktap_check "target is up" target_up "$nqn" 32
ktap_check "at its end of the network" veth_target "$nqn"

host_connected "$veth_b" "$nqn" -k 3000 --reconnect-delay 1
load_begin "$disk"
ktap_check "cut for 3 s" cut_for 3
ktap_check "I/O goes on" goes_on "$disk"
ktap_check "live" becomes live
if ((${FULL:-0})); then
	ktap_check "cut for 30 s" cut_for 30
	ktap_check "I/O goes on" goes_on "$disk"
	ktap_check "live" becomes live
fi
load_end
ktap_check "disconnect" host_disconnect
kdp_only

host_connected "$veth_b" "$nqn" -k 2000 --reconnect-delay 1 --ctrl-loss-tmo 3
short_load_begin "$disk" --errors
ktap_check "cut past ctrl_loss_tmo" veth_cut
ktap_check "it gives up" becomes failed
load_fails
ktap_check "mended" veth_mend
ktap_check "a reset revives it" host_reset
ktap_check "live" state_is live
ktap_check "what was acknowledged is there" ledger_holds

short_load_begin "$disk" --errors
ktap_check "the host's RDMA device goes" bounded rdma link delete rdma_a
load_fails
ktap_check "the controller goes with it, or can be disconnected" gone_with_device
ktap_check "no node is left" wait_until 10 no_nodes
ktap_check "the network goes" veth_down
world_end
