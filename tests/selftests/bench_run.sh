#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kdp bench as a whole: sweeps, threads and mixed loads with verification on each path; a
# target that goes in the middle; full disks; what makes no sense.
# timeout: 300
# quick: 6.12

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:bench-run
other=nqn.io.kdp:bench-other

# verified NAME URI OPTION...
verified() {
	local name=$1 uri=$2
	shift 2
	ktap_check "$name" timeout -k 5 $((2 * patience)) kdp bench "$uri" --verify --allow-write --rounds 2 \
		--size 2m --warmup 10 "$@"
}

# measured: a first turn is over, since the log, which has no name of its own yet, has its lines.
measured() {
	(($(cat "$tmp"/log.*.tmp 2>/dev/null | wc -l) > 5))
}

# The subsystem leaves while the run goes on: what was measured is kept, the other path goes on.
target_goes() {
	local status=0 pid
	kdp bench "verbs://$KDP_ADDR:4420/$nqn" "verbs://$KDP_ADDR:4420/$other" --rw randread --size 2m \
		--rounds 6 --runtime 2 --json --csv "$tmp/csv" --log "$tmp/log" >"$tmp/json" 2>"$tmp/errors" &
	pid=$!
	wait_until "$patience" measured
	target_leaves
	wait "$pid" || status=$?
	target_returns
	echo "status $status: $(<"$tmp/errors")"
	((status == 1)) && grep -q "$nqn" "$tmp/errors" || return
	# six rounds of the other, fewer of this one, and it says why
	(($(grep -c '"elapsed_ns"' "$tmp/json") > 6)) || complain "rounds: $(grep -c '"elapsed_ns"' "$tmp/json")" || return
	(($(grep -c '"errno_name": "E' "$tmp/json") == 2)) || complain "failures are not told" || return
	grep -q "$other,,6,iops," "$tmp/csv" && grep -q "$nqn,E[A-Z]*,[1-5],iops," "$tmp/csv"
}

# full_disk OPTION: the table is printed, the error names the file, nothing is left of it.
full_disk() {
	local status=0 mark
	mkdir -p "$tmp/full" && mount -t tmpfs -o size=4k tmpfs "$tmp/full" || return
	head -c 4096 /dev/zero >"$tmp/full/filler"
	bounded kdp bench "block:$disk" --ios 100 --rounds 1 --size 1m "$1" "$tmp/full/out" >"$tmp/table" 2>"$tmp/errors" ||
		status=$?
	mark=$(ls "$tmp/full")
	umount "$tmp/full"
	echo "status $status, left: $mark: $(<"$tmp/errors")"
	((status == 1)) && [[ $mark == filler ]] && grep -q "$tmp/full/out.*ENOSPC" "$tmp/errors" && grep -q IOPS "$tmp/table"
}

# The log has a line for each I/O that was measured.
log_is_whole() {
	bounded kdp bench "block:$disk" --ios 300 --rounds 2 --size 1m --depth 1,4 --threads 2 --log "$tmp/log" || return
	(($(wc -l <"$tmp/log") == 1 + 2 * 2 * 300)) || complain "lines: $(wc -l <"$tmp/log")"
}

# As Ctrl-C does, which jobs of this shell would ignore.
interrupted_prints() {
	local status=0 pid
	kdp bench "block:$disk" --rounds 100 --runtime 1 --depth 1,2 --size 1m --log "$tmp/log" >"$tmp/table" 2>"$tmp/errors" &
	pid=$!
	wait_until "$patience" measured
	kill -TERM "$pid"
	wait "$pid" || status=$?
	((status == 1)) && grep -q Interrupted "$tmp/table" && grep -q IOPS "$tmp/table"
}

# makes_no_sense WORDS OPTION...: status 2, and says so.
makes_no_sense() {
	local want=$1 text status=0
	shift
	text=$(bounded kdp bench "block:$disk" "$@" 2>&1) || status=$?
	echo "status $status: $text"
	((status == 2)) && [[ $text == *"$want"* ]]
}

world_begin
ktap_check "targets are up" target_up "$nqn" 16 && target_up "$other" 16
connected "$KDP_ADDR" "$nqn" --cq-mode event

for uri in "block:$disk" "kernel:$char" "kernel:$char?mode=uring&buffers=region" "verbs://$KDP_ADDR:4420/$nqn"; do
	name=${uri#"${uri%%:*}"} name=${uri%%:*}${name##*[a-z0-9]n1}
	verified "$name: mixed, 2 threads, a sweep" "$uri" --rw randrw,rw --read-percent 70 --bs 4k,64k --depth 1,4 \
		--threads 2 --ios 200
	verified "$name: reads, writes, 3 threads" "$uri" --rw randread,write,read --bs 512 --depth 8 --threads 3 --ios 300
done
ktap_check "the log is whole" log_is_whole
ktap_check "a target that goes: the figures so far, and the others go on" target_goes
ktap_check "a signal: prints what there is" interrupted_prints
ktap_check "a full disk for the CSV" full_disk --csv
ktap_check "a full disk for the log" full_disk --log
ktap_check "a full disk for the page" full_disk --html
ktap_check "a directory that is not there" fails_with ENOENT kdp bench "block:$disk" --csv "$tmp/no/csv"
ktap_check "CPUs that are not there" fails_with EINVAL kdp bench "block:$disk" --cpus 1000
ktap_check "an impossible depth" makes_no_sense '--depth 0' --depth 1,0
ktap_check "an impossible size" makes_no_sense '--bs 513' --bs 4k,513
ktap_check "an impossible load" makes_no_sense '--rw trim' --rw trim
ktap_check "too many threads" makes_no_sense '--threads 1000' --threads 1000
ktap_check "writing without consent" makes_no_sense '--allow-write' --rw randread,randrw
world_end
