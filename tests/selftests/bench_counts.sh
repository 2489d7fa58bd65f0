#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What kdp bench counts, beside what others count of the same process: system calls and context
# switches (perf stat), interrupts (/proc/interrupts), CPU time (the shell).
# timeout: 300
# quick: 6.12 6.1

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:bench-counts

# measure FILE IOS URI [COMMAND...]: one round of so many reads at depth 1, by COMMAND.
measure() {
	local file=$1 ios=$2 uri=$3
	shift 3
	timeout -k 5 $((4 * patience)) "$@" kdp bench "$uri" --json --rounds 1 --warmup 0 --rw randread --bs 4k \
		--size 1m --ios "$ios" >"$file" || complain "status $?: $(tail -n 5 "$file")"
}

# number FILE KEY: of the one round.
number() {
	local text pattern="\"$2\": (-?[0-9.e+]+)"
	text=$(<"$1")
	[[ ${text#*\"figures\"} =~ $pattern ]] && echo "${BASH_REMATCH[1]}"
}

# holds EXPRESSION: of awk; what it says is the message.
holds() {
	echo "$1"
	awk "BEGIN { exit !($1) }"
}

# Two runs that differ by their number of I/Os alone: what one I/O costs is the difference. There are
# many, since the start of a process makes some tens of calls more or less. Not by strace: a process
# that is traced is woken from io_uring_enter(2) more often.
system_calls_are() {
	local uri=$1 few many ours
	measure "$tmp/json" 500 "$uri" || return
	ours=$(number "$tmp/json" system_calls_per_io) || complain "kdp bench does not know" || return
	few=$(perf_total 300 "$uri") && many=$(perf_total 5300 "$uri") || return
	holds "($many - $few) / 5000.0 > 0.98 * $ours && ($many - $few) / 5000.0 < 1.02 * $ours"
}

# perf_total IOS URI: of the whole process.
perf_total() {
	measure "$tmp/perf.json" "$1" "$2" perf stat -x, -e raw_syscalls:sys_enter -o "$tmp/perf" || return
	awk -F, '/raw_syscalls/ && $1 ~ /^[0-9]+$/ { print $1; found = 1 } END { exit !found }' "$tmp/perf" ||
		complain "perf stat says: $(<"$tmp/perf")"
}

# perf's count is of the whole process: more than ours by what is not measured, which is its start,
# its end, and the I/Os whose system calls are counted.
switches_are() {
	local uri=$1 ios=2000 ours theirs counted
	measure "$tmp/json" "$ios" "$uri" perf stat -x, -e context-switches -o "$tmp/perf" || return
	theirs=$(awk -F, '/context-switches/ { print $1 }' "$tmp/perf")
	ours=$(($(number "$tmp/json" voluntary_switches) + $(number "$tmp/json" involuntary_switches)))
	counted=$(number "$tmp/json" counted_ios)
	[[ $theirs =~ ^[0-9]+$ ]] || complain "perf stat says: $(<"$tmp/perf")" || return
	holds "$theirs >= $ours && $theirs <= $ours * (1 + 1.5 * $counted / $ios) + 150"
}

# all_interrupts: by the table that everybody can read.
all_interrupts() {
	awk 'NR == 1 { cpus = NF; next } !/ERR:|MIS:/ { for (i = 2; i <= cpus + 1; i++) if ($i ~ /^[0-9]+$/) n += $i; else break }
		END { print n }' /proc/interrupts
}

interrupts_are() {
	local before after ours
	before=$(all_interrupts)
	measure "$tmp/json" 4000 "$1" || return
	after=$(all_interrupts)
	ours=$(number "$tmp/json" interrupts) || complain "kdp bench does not know" || return
	holds "$ours > 0 && $ours <= $after - $before && $ours >= ($after - $before) / 4"
}

cpu_time_is() {
	local theirs ours TIMEFORMAT='%U %S'
	theirs=$({ time measure "$tmp/json" 4000 "$1" 2>/dev/null; } 2>&1) || complain "$theirs" || return
	ours=$(number "$tmp/json" process_cpu_ns)
	holds "$ours / 1e9 <= ${theirs/ / + } + 0.02 && $ours / 1e9 > 0.2 * (${theirs/ / + })"
}

world_begin
ktap_check "target is up" target_up "$nqn" 16
connected "$KDP_ADDR" "$nqn" --cq-mode event
for uri in "block:$disk" "kernel:$char?mode=uring" "verbs://$KDP_ADDR:4420/$nqn?wait=event"; do
	name=${uri%%:*}
	# how often verbs: finds an answer before it has to sleep is another number each time
	[[ $name == verbs ]] ||
		ktap_check "$name: system calls are those that perf sees" system_calls_are "$uri"
	ktap_check "$name: context switches are those that perf sees" switches_are "$uri"
	ktap_check "$name: interrupts are in /proc/interrupts" interrupts_are "$uri"
	ktap_check "$name: CPU time is the shell's, but for start and end" cpu_time_is "$uri"
done
world_end
