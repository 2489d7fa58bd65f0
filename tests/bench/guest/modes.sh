#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the guest: what each way of taking completions costs (tests/bench/modes.sh).
#
#   tests/bench/guest/modes.sh ROUNDS IOS

set -uo pipefail
# shellcheck source=tests/vm/guest/lib.sh
. "${KDP_REPO:?run it by make bench-modes}/tests/vm/guest/lib.sh"
# shellcheck source=tests/bench/guest/bound.sh
. "$KDP_REPO/tests/bench/guest/bound.sh"

rounds=$1 ios=$2
results=$KDP_OUT/results
: >"$results"

# Each row: how its controller is set ('-': it is not ours), the path ('floor': the messages
# alone), and its name.
rows_of_depth() {
	cat <<-END
		thread 0|block:$ours|thread, spin_us 0
		thread 50|block:$ours|thread, spin_us 50
		thread 1000|block:$ours|thread, spin_us 1000
		thread -1|block:$ours|thread, spin_us -1
		event 0|block:$ours|event
		event 0|block:$ours?mode=uring-poll|poll queue (caller)
		-|block:$stock|nvme-rdma
		-|block:$stock?mode=uring-poll|nvme-rdma, poll queue
		-|floor|the messages alone
		-|block:$here|a local null_blk
	END
	(($1 > 1)) || cat <<-END
		event 0|kernel:$char|ioctl: event
		caller 50|kernel:$char|ioctl: caller, spin_us 50
		caller -1|kernel:$char|ioctl: caller, spin_us -1
	END
}

counters() {
	kdp list --json | awk -F '[":, ]+' '/"(commands|sleeps|events)":/ { printf "%s ", $3 }'
}

# figure KEY: of the one round in $json.
figure() {
	local pattern="\"$1\": (-?[0-9.e+]+|null)"
	[[ ${json#*\"figures\"} =~ $pattern ]] && echo "${BASH_REMATCH[1]/null/-}"
}

# turn DEPTH SET URI NAME: a line of results.
turn() {
	local depth=$1 set=$2 uri=$3 name=$4 json before after us
	# CPU time comes in ticks: short turns say nothing
	local ios=$((depth > 1 ? 4 * ios : ios))
	# shellcheck disable=SC2086 # words
	[[ $set == - ]] || kdp set "$controller" --cq-mode ${set% *} --spin-us ${set#* } || return
	[[ $set != - ]] || kdp set "$controller" --cq-mode event || return
	if [[ $uri == floor ]]; then
		us=$(floor randread "$depth" "$ios") || return
		echo "$depth|$name|$(awk -v us="$us" -v depth="$depth" 'BEGIN { print us * depth }')|-|-|-|-|-" >>"$results"
		return
	fi
	before=($(counters))
	json=$(kdp bench --json --rounds 1 --ios "$ios" --depth "$depth" --rw randread \
		--bs 4k --size 16m "$uri" 2>/tmp/bench-errors) || complain "$json" "$(</tmp/bench-errors)" || return
	after=($(counters))
	[[ $set == - ]] && counted='- -' || counted=$(awk -v n=$((after[0] - before[0])) \
		-v s=$((after[1] - before[1])) -v e=$((after[2] - before[2])) 'BEGIN { print s / n, e / n }')
	echo "$depth|$name|$(figure lat_mean_us)|$(figure lat_p99_us)|$(figure cpu_machine_us_per_io)|$(figure context_switches_per_io)|${counted% *}|${counted#* }" >>"$results"
}

report() {
	awk -F '|' '
		{
			k = $1 SUBSEP $2
			if (!(k in n)) order[++rows] = k
			n[k]++
			for (i = 3; i <= 8; i++) v[k, i, n[k]] = $i
		}
		function sorted(k, i,   a, b, t, m) {
			m = n[k]
			for (a = 1; a <= m; a++) x[a] = v[k, i, a]
			for (a = 1; a <= m; a++) for (b = a + 1; b <= m; b++) if (x[b] + 0 < x[a] + 0) { t = x[a]; x[a] = x[b]; x[b] = t }
			return m
		}
		function median(k, i, form,   m) {
			m = sorted(k, i)
			return x[1] == "-" ? "-" : sprintf(form, x[int((m + 1) / 2)])
		}
		function span(k, i, form,   m) {
			m = sorted(k, i)
			return x[1] == "-" ? "-" : sprintf(form " (" form "-" form ")", x[int((m + 1) / 2)], x[1], x[m])
		}
		END {
			for (r = 1; r <= rows; r++) {
				k = order[r]
				split(k, w, SUBSEP)
				if (w[1] != depth) {
					depth = w[1]
					printf "\n%-28s%22s%8s%22s%9s%9s%9s\n", "depth " depth, "latency mean, us", "p99", "CPU, us per I/O", "switches", "sleeps", "events"
				}
				printf "%-28s%22s%8s%22s%9s%9s%9s\n", w[2], span(k, 3, "%.0f"), median(k, 4, "%.0f"), span(k, 5, "%.0f"),
					median(k, 6, "%.2f"), median(k, 7, "%.2f"), median(k, 8, "%.2f")
			}
		}' "$results"
}

rdma_up && target_up nqn.io.kdp:bench-kdp 64 && target_up nqn.io.kdp:bench-nvme 64 && kdp_load || exit
cpus=$(nproc)
controller=$(kdp connect -a "$KDP_ADDR" -n nqn.io.kdp:bench-kdp -q "$kdp_hostnqn" -I "$kdp_hostid" \
	-i "$cpus" -P "$cpus") || exit
stock=$(nvme_connect_stock nqn.io.kdp:bench-nvme "$KDP_ADDR" 4420 --nr-poll-queues="$cpus") || exit
here=$(target_backend kdpt_local 64 512) || exit
ours=/dev/${controller}n1 char=/dev/kdpg${controller#kdp}n1

echo "fabric: $KDP_RDMA_DEV on $KDP_NETDEV, MTU $KDP_MTU, in software; kernel $KVER on $MACHINE, $ACCEL; $cpus CPUs, mitigations off"
echo "jobs: kdp bench, randread of 4 KiB, $ios I/Os a turn (depth 16: four times that), $rounds rounds, alternating: median (least-most)"
for depth in 1 16; do
	for ((round = 1; round <= rounds; round++)); do
		while IFS='|' read -r set uri name; do
			turn "$depth" "$set" "$uri" "$name" </dev/null || exit
		done < <(rows_of_depth "$depth")
		printf '  measured: depth %s, round %s\n' "$depth" "$round"
	done
done
report
echo "CPU: of the whole machine; switches: context switches of the process; sleeps, events: of the controller; all per I/O"
kdp disconnect --all && nvme_disconnect_stock && kdp_unload
