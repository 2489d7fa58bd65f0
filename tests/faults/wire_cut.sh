#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The wire between the machines is cut under load, and nobody is told: for 3 s, for 30 s, past
# ctrl_loss_tmo.
# timeout: 500

. "$KDP_REPO/tests/selftests/common.sh"
. "$KDP_REPO/tests/selftests/faults.sh"
. "$KDP_REPO/tests/vm/guest/outside.sh"

nqn=nqn.io.kdp:machine

cut_for() {
	outside cut && sleep "$1" && outside mend
}

world_begin
host_connected "$KDP_TARGET" "$nqn" -k 3000 --reconnect-delay 2
load_begin "$disk"
files_begin "$disk2"
for seconds in 3 30; do
	ktap_check "cut for $seconds s" cut_for "$seconds"
	ktap_check "live after that" becomes live
	ktap_check "I/O goes on" goes_on "$disk" "$disk2"
done
[[ $FAULTS_HOST != kdp ]] || ktap_check "it had to reconnect" test "$(json reconnects)" -ge 1
load_end
files_end
ktap_check "disconnect" host_disconnect
kdp_only

host_connected "$KDP_TARGET" "$nqn" -k 3000 --reconnect-delay 2 --fast-io-fail-tmo 3 --ctrl-loss-tmo 15
load_begin "$disk" --errors
ktap_check "cut past both limits" outside cut
load_fails
ktap_check "first I/O fails" state_is_not failed
ktap_check "then it gives up" becomes failed
ktap_check "mended" outside mend
ktap_check "a reset revives it" host_reset
ktap_check "live" state_is live
ktap_check "what was acknowledged is there" ledger_holds
load_begin "$disk"
load_end
world_end
