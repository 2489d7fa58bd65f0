#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The guest's part of `make demo`; run by tests/vm/demo.sh.

set -uo pipefail
# shellcheck source=tests/vm/guest/lib.sh
. "${KDP_REPO:?run it with make demo}/tests/vm/guest/lib.sh"
# shellcheck source=tests/vm/guest/tree.sh
. "$KDP_REPO/tests/vm/guest/tree.sh"

nqn=nqn.2024-01.io.kdp:demo
stock_nqn=nqn.2024-01.io.kdp:demo-stock

heading() {
	printf '\n== %s\n' "$*"
}

must() {
	"$@" || {
		echo "demo: failed: $*" >&2
		exit 1
	}
}

# Print a command as one would type it, then run it.
show() {
	printf '$ %s\n' "${*@Q}" | sed -E "s/'([^ '&?;]*)'/\1/g"
	must "$@"
}

heading "A stock nvmet target over soft-RoCE, memory-backed, MTU $KDP_MTU"
must rdma_up
must watch_begin
must target_up "$nqn" 512
must target_up "$stock_nqn" 512
rdma link show

heading "Connect"
must kdp_load
show kdp connect -a "$KDP_ADDR" -s 4420 -n "$nqn"
show kdp list

heading "A filesystem on the remote namespace"
must tree_proof /dev/kdp0n1 50

heading "The same target reached by the stock driver, for comparison"
disk=$(nvme_connect_stock "$stock_nqn")
[[ -n $disk ]] || exit 1
echo "$disk: nvme-rdma"

heading "The paths side by side: 4 KiB random reads, verified"
paths=("kernel:/dev/kdpg0n1?mode=uring&buffers=region" block:/dev/kdp0n1 "verbs://$KDP_ADDR:4420/$nqn?nsid=1" "block:$disk")
for depth in 1 16; do
	show kdp bench --rw randread --bs 4k --depth "$depth" --ios 1000 --size 16m \
		--verify --allow-write "${paths[@]}"
	echo
done

heading "Disconnect and unload"
show kdp disconnect kdp0
must nvme_disconnect_stock "$stock_nqn"
must target_down
must watch_end
echo "nothing left behind: no QP, CQ, MR or CM ID; no complaint from the kernel; modules unloaded"
