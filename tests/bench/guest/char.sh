#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the guest: the char device's ways in, side by side (tests/bench/char.sh).
#
#   tests/bench/guest/char.sh icount|multi ROUNDS IOS randread|randwrite DEPTH

set -uo pipefail
# shellcheck source=tests/vm/guest/lib.sh
. "${KDP_REPO:?run it by make bench-char}/tests/vm/guest/lib.sh"
# shellcheck source=tests/bench/guest/bound.sh
. "$KDP_REPO/tests/bench/guest/bound.sh"

clock=$1 rounds=$2 ios=$3 rw=$4 depth=$5
((depth == 1)) || ((ios *= 4))
results=$KDP_OUT/results
: >"$results"

# Each row: a path ('floor': the messages alone), and its name.
rows() {
	if [[ $clock == multi ]]; then
		cat <<-END
			kernel:$char?mode=uring-poll&buffers=region|kdp, uring-poll, region
			kernel:$char?mode=uring-poll&buffers=region&sqpoll=1|kdp, uring-poll, SQPOLL, region
			kernel:$char?mode=uring-poll&buffers=fixed|kdp, uring-poll, fixed buffers
			kernel:$char?mode=uring-poll|kdp, uring-poll
			kernel:$char?mode=uring&buffers=region|kdp, uring, region
			kernel:$stock_char?mode=uring-poll&buffers=fixed|nvme-rdma, uring-poll, fixed buffers
			kernel:$stock_char?mode=uring&buffers=fixed|nvme-rdma, uring, fixed buffers
			$verbs|verbs, userspace-direct
		END
		((depth > 1)) || echo "kernel:$char?mode=ioctl&buffers=region|kdp, ioctl, region"
		return
	fi
	cat <<-END
		kernel:$char?mode=uring&buffers=region|kdp, uring, region
		kernel:$char?mode=uring&buffers=fixed|kdp, uring, fixed buffers
		kernel:$char?mode=uring|kdp, uring
		block:$disk|kdp, block device, io_uring
		kernel:$stock_char?mode=uring&buffers=fixed|nvme-rdma, uring, fixed buffers
		kernel:$stock_char?mode=uring|nvme-rdma, uring
		floor|floor: the messages alone
		block:$here|local: a null_blk of this machine
	END
	((depth > 1)) || cat <<-END
		kernel:$char?mode=ioctl&buffers=region|kdp, ioctl, region
		kernel:$char?mode=ioctl|kdp, ioctl
		kernel:$stock_char?mode=ioctl|nvme-rdma, ioctl
	END
}

# figure KEY: of the one round in $json.
figure() {
	local pattern="\"$1\": (-?[0-9.e+]+|null)"
	[[ ${json#*\"figures\"} =~ $pattern ]] && echo "${BASH_REMATCH[1]/null/-}"
}

# turn RW DEPTH URI NAME: a line of results: the time per I/O in microseconds, system calls.
turn() {
	local rw=$1 depth=$2 uri=$3 name=$4 json us write=()
	[[ $rw != *write* ]] || write=(--allow-write)
	if [[ $uri == floor ]]; then
		us=$(floor "$rw" "$depth" "$ios") || return
		echo "$rw|$depth|$name|$us|-" >>"$results"
		return
	fi
	json=$(kdp bench --json --rounds 1 --ios "$ios" --depth "$depth" --rw "$rw" --bs 4k --size 16m \
		"${write[@]}" "$uri" 2>/tmp/bench-errors) ||
		complain "$json" "$(</tmp/bench-errors)" || return
	us=$(awk -v iops="$(figure iops)" 'BEGIN { printf "%.3f", 1e6 / iops }')
	echo "$rw|$depth|$name|$us|$(figure system_calls_per_io)" >>"$results"
}

rdma_up && target_up nqn.io.kdp:bench-kdp 64 && target_up nqn.io.kdp:bench-nvme 64 && kdp_load || exit
# who waits in an ioctl spins like the others; what io_uring does not poll comes by events in both
cpus=$(nproc) polled='' cq_mode='event'
[[ $clock == icount ]] || polled=$cpus cq_mode='caller --spin-us -1'
# shellcheck disable=SC2086 # two words
name=$(kdp connect -a "$KDP_ADDR" -n nqn.io.kdp:bench-kdp -q "$kdp_hostnqn" -I "$kdp_hostid" \
	--cq-mode $cq_mode ${polled:+-P "$polled"}) || exit
stock=$(nvme_connect_stock nqn.io.kdp:bench-nvme "$KDP_ADDR" 4420 ${polled:+--nr-poll-queues="$polled"}) || exit
here=$(target_backend kdpt_local 64 512) || exit
disk=/dev/${name}n1 char=/dev/kdpg${name#kdp}n1 stock_char=/dev/ng${stock#/dev/nvme}
verbs="verbs://$KDP_ADDR:4420/nqn.io.kdp:bench-kdp?nsid=1"

echo "fabric: $KDP_RDMA_DEV on $KDP_NETDEV, MTU $KDP_MTU, in software; kernel $KVER on $MACHINE, $ACCEL; $cpus CPUs, mitigations off"
echo "jobs: kdp bench, 4 KiB, $ios I/Os a turn, $rounds rounds, alternating; kdp's --cq-mode $cq_mode; backend null_blk in memory"
# the backends have memory for what was written once: not at the first one's expense
for node in "$disk" "$stock" "$here"; do
	dd if=/dev/zero of="$node" bs=1M count=16 oflag=direct status=none || exit
done
# each round begins with another row, so that none always follows the same
mapfile -t all < <(rows)
for ((round = 0; round < rounds; round++)); do
	for ((i = 0; i < ${#all[@]}; i++)); do
		row=${all[(round + i) % ${#all[@]}]}
		turn "$rw" "$depth" "${row%|*}" "${row##*|}" || exit
	done
done
kdp disconnect --all && nvme_disconnect_stock && kdp_unload
