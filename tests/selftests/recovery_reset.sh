#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What is asked of a controller while I/O runs: resets, one after the other; to unload the
# module, which is refused; to go.
# timeout: 300
# quick: uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/faults.sh"

nqn=nqn.io.kdp:recovery-reset

resets=4
((!${FULL:-0})) || resets=50

# I/O between two of them, or nothing would be in flight at the next.
resets_survived() {
	local i
	for ((i = 1; i <= resets; i++)); do
		host_reset && goes_on "$disk" || complain "reset $i" || return
	done
}

# Asked again before it is over.
resets_at_once() {
	bounded kdp reset --no-wait "$ctrl" "$ctrl" "$ctrl" "$ctrl" "$ctrl"
}

reset_and_disconnect() {
	bounded kdp reset "$ctrl" --no-wait && disconnect "$ctrl"
}

reset_is_in_vain() {
	local text
	! text=$(bounded nvme reset "/dev/$ctrl" 2>&1) && [[ $text == *'dropped connection on reset'* ]] || complain "$text"
}

world_begin
kdp_only
ktap_check "target is up" target_up --namespaces 2 "$nqn" 32
calm
host_connected "$KDP_ADDR" "$nqn"
load_begin "$disk"
files_begin "$disk2"
ktap_check "reset $resets times" resets_survived
ktap_check "and five times at once" resets_at_once
ktap_check "live" becomes live
ktap_check "nvme reset" bounded nvme reset "/dev/$ctrl"
ktap_check "returns when it is live" state_is live
ktap_check "rmmod is refused twice" refuses_rmmod 2
ktap_check "I/O goes on" goes_on "$disk" "$disk2"
load_end
files_end

load_begin "$disk" --errors
ktap_check "disconnect under load" host_disconnect
load_fails
ktap_check "nothing is left" nothing_left
host_connected "$KDP_ADDR" "$nqn"
ktap_check "what was acknowledged is there" ledger_holds

short_load_begin "$disk" --errors
ktap_check "disconnect during a reset" reset_and_disconnect
load_fails
ktap_check "nothing is left" nothing_left
host_connected "$KDP_ADDR" "$nqn"
ktap_check "what was acknowledged is there" ledger_holds

ktap_check "the target leaves" target_leaves
ktap_check "nvme reset says that it was in vain" reset_is_in_vain
ktap_check "the target returns" target_returns
ktap_check "live after that" becomes live
world_end
