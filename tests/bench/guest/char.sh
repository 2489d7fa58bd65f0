#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the guest: the char device's ways in, side by side (tests/bench/char.sh).
#
#   tests/bench/guest/char.sh icount|multi ROUNDS IOS

set -uo pipefail
# shellcheck source=tests/vm/guest/lib.sh
. "${KDP_REPO:?run it by make bench-char}/tests/vm/guest/lib.sh"
# shellcheck source=tests/bench/guest/bound.sh
. "$KDP_REPO/tests/bench/guest/bound.sh"

clock=$1 rounds=$2 ios=$3
results=$KDP_OUT/results
: >"$results"

# Each row: a path ('floor': the messages alone), and its name. `reference` is what the
# others are compared with.
rows_of_depth() {
	if [[ $clock == multi ]]; then
		reference='nvme-rdma, uring-poll, fixed buffers'
		cat <<-END
			kernel:$char?mode=uring-poll&buffers=region|kdp, uring-poll, region
			kernel:$char?mode=uring-poll&buffers=region&sqpoll=1|kdp, uring-poll, SQPOLL, region
			kernel:$char?mode=uring-poll&buffers=fixed|kdp, uring-poll, fixed buffers
			kernel:$char?mode=uring-poll|kdp, uring-poll
			kernel:$char?mode=uring&buffers=region|kdp, uring, region
			kernel:$stock_char?mode=uring-poll&buffers=fixed|$reference
			kernel:$stock_char?mode=uring&buffers=fixed|nvme-rdma, uring, fixed buffers
			$verbs|verbs, userspace-direct
		END
		return
	fi
	reference='nvme-rdma, uring, fixed buffers'
	cat <<-END
		kernel:$char?mode=uring&buffers=region|kdp, uring, region
		kernel:$char?mode=uring&buffers=fixed|kdp, uring, fixed buffers
		kernel:$char?mode=uring|kdp, uring
		block:$disk|kdp, block device, io_uring
		kernel:$stock_char?mode=uring&buffers=fixed|$reference
		kernel:$stock_char?mode=uring|nvme-rdma, uring
		floor|floor: the messages alone
		block:$here|local: a null_blk of this machine
	END
	(($1 > 1)) || cat <<-END
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

report() {
	awk -F '|' -v reference="$reference" '
		{
			cell = $1 ", depth " $2; k = cell SUBSEP $3
			if (!(cell in seen)) { seen[cell]; cells[++ncells] = cell }
			if (!(k in n)) rows[cell, ++nrows[cell]] = $3
			n[k]++; sum[k] += $4; calls[k] = $5
			if (n[k] == 1 || $4 < lo[k]) lo[k] = $4
			if ($4 > hi[k]) hi[k] = $4
		}
		function mean(cell, name) { return sum[cell, name] / n[cell, name] }
		END {
			for (c = 1; c <= ncells; c++) {
				cell = cells[c]
				printf "\n%-40s%-24s%10s%8s%10s\n", cell ", 4 KiB", "us per I/O (least-most)", "ratio", "IOPS", "calls"
				for (r = 1; r <= nrows[cell]; r++) {
					name = rows[cell, r]; k = cell SUBSEP name
					printf "%-40s%7.2f (%.2f-%.2f)%*s%8.3f%10.0f%10s\n", name, mean(cell, name), lo[k], hi[k],
						14 - length(sprintf("%.2f-%.2f", lo[k], hi[k])), "", mean(cell, name) / mean(cell, reference),
						1e6 / mean(cell, name), calls[k]
				}
				if ((cell, "floor: the messages alone") in n) {
					b = mean(cell, "floor: the messages alone") + mean(cell, "local: a null_blk of this machine")
					d = mean(cell, reference) - b
					printf "bound (floor + local) %.2f; kdp, uring, region stands at %.0f %% of the distance of %s\n", b,
						100 * (mean(cell, "kdp, uring, region") - b) / d, reference
				}
			}
		}' "$results"
}

rdma_up && target_up nqn.io.kdp:bench-kdp 64 && target_up nqn.io.kdp:bench-nvme 64 && kdp_load || exit
cpus=$(nproc) polled=()
[[ $clock == icount ]] || polled=("$cpus")
name=$(kdp connect -a "$KDP_ADDR" -n nqn.io.kdp:bench-kdp -q "$kdp_hostnqn" -I "$kdp_hostid" \
	--cq-mode event ${polled:+-P "$polled"}) || exit
stock=$(nvme_connect_stock nqn.io.kdp:bench-nvme "$KDP_ADDR" 4420 ${polled:+--nr-poll-queues="$polled"}) || exit
here=$(target_backend kdpt_local 64 512) || exit
disk=/dev/${name}n1 char=/dev/kdpg${name#kdp}n1 stock_char=/dev/ng${stock#/dev/nvme}
verbs="verbs://$KDP_ADDR:4420/nqn.io.kdp:bench-kdp?nsid=1"

echo "fabric: $KDP_RDMA_DEV on $KDP_NETDEV, MTU $KDP_MTU, in software; kernel $KVER on $MACHINE, $ACCEL; $cpus CPUs, mitigations off"
echo "jobs: kdp bench, 4 KiB, $ios I/Os a turn, $rounds rounds, alternating; kdp in event mode; backend null_blk in memory"
for rw in randread randwrite; do
	for depth in 1 16; do
		for ((round = 1; round <= rounds; round++)); do
			while IFS='|' read -r uri row; do
				turn "$rw" "$depth" "$uri" "$row" </dev/null || exit
			done < <(rows_of_depth "$depth")
		done
		printf '  measured: %s, depth %s\n' "$rw" "$depth"
	done
done
rows_of_depth 1 >/dev/null
report
kdp disconnect --all && nvme_disconnect_stock && kdp_unload
