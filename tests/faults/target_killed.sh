#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The target's machine dies under load and comes back with the same disks.
# timeout: 600

. "$KDP_REPO/tests/selftests/common.sh"
. "$KDP_REPO/tests/selftests/faults.sh"
. "$KDP_REPO/tests/vm/guest/outside.sh"

nqn=nqn.io.kdp:machine

killed() {
	outside kill
}

started() {
	outside start
}

filesystems=(ext4)
if command -v mkfs.xfs >/dev/null && modprobe -q xfs; then filesystems+=(xfs); fi

world_begin
for fs in "${filesystems[@]}"; do
	host_connected "$KDP_TARGET" "$nqn" -k 3000 --reconnect-delay 2
	load_begin "$disk"
	files_begin "$disk2" "$fs"
	survives "$fs: the target is killed" killed started
	survives "$fs: and killed again, for 10 s" killed started 10
	load_end
	files_end
	ktap_check "$fs: disconnect" host_disconnect
done
[[ " ${filesystems[*]} " == *' xfs '* ]] || ktap_skip "xfs" "no mkfs.xfs, or a kernel without xfs"
kdp_only

# Nobody comes back: the limits hold against silence, too.
host_connected "$KDP_TARGET" "$nqn" -k 3000 --reconnect-delay 1 --ctrl-loss-tmo 5
load_begin "$disk" --errors
ktap_check "the target is killed" killed
ktap_check "after ctrl_loss_tmo it gives up" becomes failed
load_fails
ktap_check "the target starts" started
ktap_check "a reset revives it" host_reset
ktap_check "live" state_is live
ktap_check "what was acknowledged is there" ledger_holds
world_end
