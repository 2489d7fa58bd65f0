#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The target's machine dies, and at its address another one answers, whose namespaces are
# not those of before: not a byte may reach them.
# timeout: 300

. "$KDP_REPO/tests/selftests/common.sh"
. "$KDP_REPO/tests/selftests/faults.sh"
. "$KDP_REPO/tests/vm/guest/outside.sh"

nqn=nqn.io.kdp:machine
stranger=77000000-0000-4000-8000-0000000000b0

unchanged() {
	local now
	now=$(outside digest) && [[ $now == "$digest" ]] || complain "$digest before, $now now"
}

# The old disk serves nobody; whoever stands under its name now is the stranger's.
old_disk_is_dead() {
	! dd bs=4k count=1 status=none iflag=direct <&"$held" 2>/dev/null | grep -q .
}

world_begin
host_connected "$KDP_TARGET" "$nqn" -k 3000 --reconnect-delay 1
load_begin "$disk" --errors
exec {held}<"$disk"
ktap_check "the target is killed" outside kill
digest=$(outside digest)
ktap_check "a stranger starts at its address" outside start "$stranger"
load_fails
ktap_check "not a byte of its disks has changed" unchanged
ktap_check "the old disk gives nothing" wait_until "$patience" old_disk_is_dead
exec {held}<&-
ktap_check "disconnect" host_disconnect
ktap_check "the stranger is killed" outside kill
ktap_check "the old target starts" outside start
host_connected "$KDP_TARGET" "$nqn"
ktap_check "what was acknowledged is there" ledger_holds
world_end
