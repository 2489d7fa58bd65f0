#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The programs that test the passthrough ABI, proved against the driver whose ABI it is: the
# in-tree nvme-rdma, with poll queues and without. None of kdp's code is involved.
#
#   make -C tests/selftests
#   tests/vm/run [--kernel 6.1] -- tests/vm/stock-abi.sh [PROGRAM...]

set -uo pipefail
# shellcheck source=tests/vm/guest/lib.sh
. "${KDP_REPO:?run it in the VM: tests/vm/run -- tests/vm/stock-abi.sh}/tests/vm/guest/lib.sh"

nqn=nqn.io.kdp:stock-abi
programs=$KDP_REPO/build/selftests
(($#)) || set -- uring_abi uring_rights vec_abi uring_race fuzz_ioctl counts
export FUZZ_CALLS=${FUZZ_CALLS:-10000}

# points_from NAME COMMAND...: a program's points become ours.
points_from() {
	local line name=$1
	shift
	while IFS= read -r line; do
		case $line in
		'ok - '*) ktap_ok "$name: ${line#ok - }" ;;
		'not ok - '*) ktap_not_ok "$name: ${line#not ok - }" ;;
		*) echo "# ${line#\# }" ;;
		esac
	done < <(timeout -k 5 250 "$@" 2>&1 || echo "# status $?")
}

ktap_check "rxe0 is up" rdma_up
ktap_check "target is up" target_up "$nqn" 16
# 6.1 polls requests that have gone, and oopses in bio_poll.
kinds=('' --nr-poll-queues=1)
[[ $KVER != 6.1.* ]] || kinds=('')
for queues in "${kinds[@]}"; do
	disk=$(nvme_connect_stock "$nqn" "$KDP_ADDR" 4420 ${queues:+"$queues"}) || ktap_not_ok "connects" "$disk"
	ctrl=/dev/nvme0 char=/dev/ng${disk#/dev/nvme}
	for program; do
		case $program${queues:+, poll queues} in
		'uring_abi, poll queues') points_from "$program, poll queues" "$programs/$program" --stock --rings "$ctrl" "$char" 1 ;;
		'counts, poll queues')
			timeout 60 "$programs/counts" --prepare 1 "$ctrl" "$char" 1
			points_from "$program, poll queues" "$programs/$program" --sqpoll --iopoll 5000 "$ctrl" "$char" 1
			;;
		*', poll queues' | counts) ;;
		*) points_from "$program" "$programs/$program" --stock "$ctrl" "$char" 1 ;;
		esac
	done
	nvme_disconnect_stock "$nqn"
done
dmesg | grep -E 'WARNING|BUG|Call Trace' | sed 's/^/# /'
ktap_check "target is down" target_down
ktap_done
