#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The target of two machines (tests/vm/run-two): its disks as namespaces of one subsystem,
# known by UUID, until the file `stop` is there.
#
#   target-machine.sh UUID

set -uo pipefail
# shellcheck source=tests/vm/guest/lib.sh
. "${KDP_REPO:?run it with tests/vm/run-two}/tests/vm/guest/lib.sh"

modprobe virtio_blk && rdma_up && target_up --devices /dev/vda,/dev/vdb --uuid "$1" nqn.io.kdp:machine 0 || exit
: >"$KDP_OUT/ready"
until [[ -e $KDP_OUT/stop ]]; do sleep 1; done
target_down
