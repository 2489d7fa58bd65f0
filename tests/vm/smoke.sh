#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Does the virtual machine itself hold? Stock nvme-rdma against the stock nvmet
# target over soft-RoCE, on IPv4 and IPv6; none of kdp's code is involved.
#
#   tests/vm/run [--kernel 6.1] -- tests/vm/smoke.sh

set -uo pipefail
# shellcheck source=tests/vm/guest/lib.sh
. "${KDP_REPO:?run it in the VM: tests/vm/run -- tests/vm/smoke.sh}/tests/vm/guest/lib.sh"

nqn=nqn.2024-01.io.kdp:smoke

write_and_read() {
	dd if=/dev/urandom of=/tmp/data bs=64k count=16 status=none &&
		dd if=/tmp/data of="$1" bs=64k oflag=direct status=none &&
		dd if="$1" of=/tmp/back bs=64k count=16 iflag=direct status=none &&
		cmp /tmp/data /tmp/back
}

ktap_plan 8
ktap_check "rxe0 is up" rdma_up
watch_begin
ktap_check "target is up" target_up --namespaces 2 "$nqn" 64
for address in "$KDP_ADDR" "$KDP_ADDR6"; do
	disk=$(nvme_connect_stock "$nqn" "$address")
	ktap_check "stock host connects to $address" test -b "$disk"
	ktap_check "reads what it wrote to $address" write_and_read "$disk"
	nvme list >&2
	nvme_disconnect_stock "$nqn"
done
ktap_check "target is down" target_down
ktap_check "nothing left behind" watch_end
ktap_done
