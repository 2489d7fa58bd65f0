#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the guest: a file to a namespace, without a buffer and with one (tests/bench/copy.sh).
#
#   tests/bench/guest/copy.sh ROUNDS MB

set -uo pipefail
# shellcheck source=tests/vm/guest/lib.sh
. "${KDP_REPO:?run it by make bench-copy}/tests/vm/guest/lib.sh"

rounds=$1 mb=$2
results=$KDP_OUT/results
: >"$results"

# Ticks of all CPUs that were not idle.
busy() {
	awk '$1 == "cpu" { print $2 + $3 + $4 + $7 + $8 }' /proc/stat
}

counters() {
	kdp list --json | awk -F '[":, ]+' '/"(wr_reg|region_commands|bytes_copied)":/ { sum[$2] += $3 }
		END { print sum["wr_reg"], sum["region_commands"], sum["bytes_copied"] }'
}

# turn NAME COMMAND...: a line of results: s, CPU of the process and of the machine in us a MB.
turn() {
	local name=$1 before after busy_before busy_after text TIMEFORMAT='%R %U %S'
	shift
	before=($(counters)) busy_before=$(busy)
	text=$( { time "$@" >/dev/null 2>/tmp/copy-errors; } 2>&1) || complain "$name:" "$(</tmp/copy-errors)" || return
	busy_after=$(busy) after=($(counters))
	dd if="$disk" bs=1M count="$mb" iflag=direct status=none | cmp - "$file" || complain "$name: the content differs" || return
	awk -v OFS='|' -v name="$name" -v mb="$mb" -v hz="$(getconf CLK_TCK)" -v busy=$((busy_after - busy_before)) \
		-v reg=$((after[0] - before[0])) -v region=$((after[1] - before[1])) -v copied=$((after[2] - before[2])) \
		'{ print name, $1, ($2 + $3) * 1e6 / mb, busy / hz * 1e6 / mb, reg, region, copied }' <<<"$text" >>"$results"
}

report() {
	awk -F '|' '
		!($1 in n) { order[++rows] = $1 }
		{
			n[$1]++
			for (i = 2; i <= 4; i++) {
				sum[$1, i] += $i
				if (n[$1] == 1 || $i < lo[$1, i]) lo[$1, i] = $i
				if ($i > hi[$1, i]) hi[$1, i] = $i
			}
			counts[$1] = sprintf("%10d%10d%10d", $5, $6, $7)
		}
		function span(k, i, form) { return sprintf(form " (" form "-" form ")", sum[k, i] / n[k], lo[k, i], hi[k, i]) }
		END {
			printf "%-30s%22s%24s%26s%10s%10s%10s\n", "", "s", "CPU, us a MB: process", "machine", "REG_MR", "by region", "copied"
			for (r = 1; r <= rows; r++) {
				k = order[r]
				printf "%-30s%22s%24s%26s%s\n", k, span(k, 2, "%.2f"), span(k, 3, "%.0f"), span(k, 4, "%.0f"), counts[k]
			}
		}' "$results"
}

rdma_up && target_up nqn.io.kdp:bench-copy "$mb" && kdp_load || exit
name=$(kdp connect -a "$KDP_ADDR" -n nqn.io.kdp:bench-copy -q "$kdp_hostnqn" -I "$kdp_hostid" --cq-mode event) || exit
disk=/dev/${name}n1 char=/dev/kdpg${name#kdp}n1
modprobe -qa loop ext4
truncate -s $((mb + 128))M /tmp/image && mkfs.ext4 -q /tmp/image && mkdir -p /tmp/mnt && mount -o loop /tmp/image /tmp/mnt || exit
file=/tmp/mnt/file
dd if=/dev/urandom of=$file bs=1M count="$mb" conv=fsync status=none || exit

# the backend has memory for what was written once: not at the first one's expense
dd if=/dev/zero of="$disk" bs=1M count="$mb" oflag=direct status=none || exit

echo "fabric: $KDP_RDMA_DEV on $KDP_NETDEV, MTU $KDP_MTU, in software; kernel $KVER on $MACHINE, $ACCEL; $(nproc) CPUs, mitigations off"
echo "job: $mb MiB on ext4, in the page cache, to a namespace in memory; $rounds rounds, alternating: mean (least-most); the machine is host and target"
for ((round = 1; round <= rounds; round++)); do
	turn "kdp copy" kdp copy "$file" "$char" || exit
	turn "kdp copy --buffered" kdp copy "$file" "$char" --buffered || exit
	turn "dd bs=1M oflag=direct" dd if="$file" of="$disk" bs=1M oflag=direct status=none || exit
	printf '  measured: round %s\n' "$round"
done
report
umount /tmp/mnt && kdp disconnect --all && kdp_unload
