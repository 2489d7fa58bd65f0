#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the guest: kdp's paths and the in-tree drivers' in one run of kdp bench
# (Documentation/benchmarking/peers.md).

set -uo pipefail
# shellcheck source=tests/bench/guest/experiment.sh
. "$(dirname "$0")/experiment.sh"
# shellcheck source=tests/bench/guest/beside.sh
. "$KDP_REPO/tests/bench/guest/beside.sh"
# shellcheck source=tests/bench/guest/rnbd.sh
. "$KDP_REPO/tests/bench/guest/rnbd.sh"

per_turn 5 1
depths=1,16
((!quick)) || depths=1

take_down() {
	rnbd_down && echo 0 >"$nullb/kdpt_rnbd/power" && rmdir "$nullb/kdpt_rnbd" && beside_down
}

rdma_up && kdp_load || exit
watch_begin
beside_up peers || exit
backend=$(target_backend kdpt_rnbd 32 512) && rnbd_up "$backend" && fill_backend /dev/rnbd0 || exit

paths=(
	"kernel:$char?mode=uring&buffers=region"
	"block:$disk"
	"$verbs"
	"$our_tcp"
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
