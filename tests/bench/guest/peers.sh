#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the guest: kdp's paths and the in-tree drivers' in one run of kdp bench
# (Documentation/benchmarking/peers.md).

set -uo pipefail
# shellcheck source=tests/bench/guest/experiment.sh
. "$(dirname "$0")/experiment.sh"
# shellcheck source=tests/bench/guest/rnbd.sh
. "$KDP_REPO/tests/bench/guest/rnbd.sh"

nqn=nqn.io.kdp:peers rdma_nqn=nqn.io.kdp:peers-rdma tcp_nqn=nqn.io.kdp:peers-tcp our_tcp_nqn=nqn.io.kdp:peers-kdp-tcp
per_turn 5 1
depths=1,16
((!quick)) || depths=1

take_down() {
	rnbd_down && echo 0 >"$nullb/kdpt_rnbd/power" && rmdir "$nullb/kdpt_rnbd" && kdp disconnect --all && nvme_disconnect_stock && kdp_unload && target_down
}

rdma_up && kdp_load || exit
watch_begin
for subsystem in "$nqn" "$rdma_nqn" "$tcp_nqn" "$our_tcp_nqn"; do
	target_up "$subsystem" 32 || exit
done
target_tcp "$tcp_nqn" && target_tcp "$our_tcp_nqn" || exit
name=$(kdp connect -a "$KDP_ADDR" -n "$nqn" -q "$kdp_hostnqn" -I "$kdp_hostid") || exit
rdma=$(nvme_connect_stock "$rdma_nqn") && tcp=$(nvme_connect_stock --tcp "$tcp_nqn") || exit
backend=$(target_backend kdpt_rnbd 32 512) && rnbd_up "$backend" || exit
for node in "/dev/${name}n1" "$rdma" "$tcp" /dev/rnbd0; do
	dd if=/dev/zero of="$node" bs=1M count=16 oflag=direct status=none || exit
done

paths=(
	"kernel:/dev/kdpg${name#kdp}n1?mode=uring&buffers=region"
	"block:/dev/${name}n1"
	"verbs://$KDP_ADDR:4420/$nqn?nsid=1"
	"tcp://$KDP_ADDR:4420/$our_tcp_nqn?nsid=1"
	"kernel:/dev/ng${rdma#/dev/nvme}?mode=uring&buffers=fixed"
	"block:$rdma"
	"kernel:/dev/ng${tcp#/dev/nvme}?mode=uring&buffers=fixed"
	"block:$tcp"
	block:/dev/rnbd0
)
progress "the in-tree drivers: nvme-rdma is $rdma, nvme-tcp is $tcp, RNBD over RTRS is /dev/rnbd0"
kdp bench --json "${turn[@]}" --rounds "$rounds" --rw randread --bs 4k --depth "$depths" --size 16m "${paths[@]}" \
	>"$KDP_OUT/peers.json" </dev/null || exit
experiment_over take_down
