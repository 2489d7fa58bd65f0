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
must target_up --transports rdma,tcp "$nqn" 512
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

paths=("kernel:/dev/kdpg0n1?mode=uring&buffers=region" block:/dev/kdp0n1 "verbs://$KDP_ADDR:4420/$nqn" "tcp://$KDP_ADDR:4420/$nqn"
	"block:$disk")

heading "Mixed reads and writes by every path, each block checked"
show kdp bench --rw randrw --read-percent 70 --bs 4k --depth 16 --ios 1000 --size 16m --rounds 1 --verify --allow-write "${paths[@]}"

heading "The paths side by side: random reads, two sizes, two depths, and where the CPU time goes"
show kdp bench --rw randread --bs 4k,64k --depth 1,16 --ios 500 --size 16m --profile --html "$KDP_OUT/report.html" "${paths[@]}"

heading "Disconnect and unload"
show kdp disconnect kdp0
must nvme_disconnect_stock "$stock_nqn"
must target_down
must watch_end
echo "nothing left behind: no QP, CQ, MR or CM ID; no complaint from the kernel; modules unloaded"
