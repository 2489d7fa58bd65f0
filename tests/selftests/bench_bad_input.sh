#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kdp bench with what cannot work: options, addresses, a target that goes in the middle of a run,
# a disk that is full. Each time a sentence that says what, a status that is not 0, figures that
# were there already kept, and nothing left behind.
# timeout: 240
# quick: 6.12

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:bench-bad
verbs="verbs://$KDP_ADDR:4420/$nqn?nsid=1"
quick=(--ios 50 --rounds 1)

# exits_saying STATUS TEXT COMMAND...: and prints no result.
exits_saying() {
	local want=$1 text=$2 rc=0
	shift 2
	bounded "$@" >"$tmp/out" 2>"$tmp/err" || rc=$?
	[[ $rc == "$want" ]] || complain "status $rc, not $want:" "$(<"$tmp/err")" || return
	[[ $(<"$tmp/err") == *"$text"* ]] || complain "it did not say '$text':" "$(<"$tmp/err")" || return
	[[ ! -s $tmp/out ]] || complain "it printed" "$(head -n 5 "$tmp/out")"
}

# impossible TEXT OPTION...: seen before anything is opened; status 2.
impossible() {
	local text=$1
	shift
	ktap_check "kdp bench $*: refused" exits_saying 2 "$text" kdp bench "$@"
}

# unreachable NAME ERRNO URI [OPTION...]: one of A|B|C, with status 1.
unreachable() {
	local name=$1 want=$2 uri=$3
	shift 3
	ktap_check "$name: $want" fails_with "$want" kdp bench "$uri" "${quick[@]}" "$@"
	ktap_check "$name: nothing left" nothing_left
}

impossible_options() {
	impossible "uri is required" --ios 50
	impossible "nfs:" nfs:/x
	impossible "block:" block:
	impossible "kernel:" kernel:/dev/kdpg0n1?speed=high
	impossible "mode=uring" "kernel:/dev/kdpg0n1?buffers=fixed"
	impossible "NQN" "verbs://$KDP_ADDR:4420/"
	impossible "port" "verbs://$KDP_ADDR:70000/$nqn"
	impossible "--rw sideways" "$local" --rw sideways
	impossible "there twice" "$local" --rw read,read
	impossible "--read-percent" "$local" --rw randread --read-percent 50
	impossible "--read-percent 101" "$local" --rw randrw --read-percent 101 --allow-write
	impossible "--bs 0" "$local" --bs 0
	impossible "--bs 1000" "$local" --bs 4k,1000
	impossible "--bs 4kk" "$local" --bs 4kk
	impossible "--depth 0" "$local" --depth 0
	impossible "--depth 100000" "$local" --depth 1,100000
	impossible "--depth -1" "$local" --depth=-1
	impossible "--threads" "$local" --threads 0
	impossible "--threads" "$local" --threads 100000
	impossible "--size" "$local" --size 4k --depth 16
	impossible "--size" "$local" --size lots
	impossible "--ios" "$local" --ios 0
	impossible "--ios" "$local" --ios 2 --threads 4
	impossible "--runtime" "$local" --ios 5 --runtime 1
	impossible "--runtime" "$local" --runtime 0
	impossible "--rounds" "$local" --rounds 0
	impossible "--cpus" "$local" --cpus all
	impossible "--allow-write" "$local" --rw randwrite
	impossible "--allow-write" "$local" --verify
	impossible "--sideways" "$local" --sideways
}

# What can be opened does not help what cannot.
unreachable_paths() {
	unreachable "address without a route" 'ENETUNREACH|EHOSTUNREACH|ENODEV|ETIMEDOUT' \
		"verbs://192.0.2.1:4420/$nqn"
	unreachable "nobody listens" 'ECONNREFUSED|ECONNRESET' "verbs://$KDP_ADDR:9/$nqn"
	unreachable "no such host" 'ENOENT|EINVAL|EAGAIN|ENXIO|EHOSTUNREACH|EADDRNOTAVAIL' "verbs://no-such-host.invalid/$nqn"
	unreachable "no such subsystem" 'ENOENT|EINVAL|ECONNREFUSED' "verbs://$KDP_ADDR:4420/nqn.io.kdp:other"
	unreachable "no such namespace" 'ENOENT|ENODEV|EINVAL|ENXIO' "verbs://$KDP_ADDR:4420/$nqn?nsid=9"
	unreachable "no such file" ENOENT "block:$tmp/missing"
	unreachable "a directory" 'EISDIR|EINVAL|ENOTBLK' "block:$tmp"
	unreachable "no namespace's device" 'ENOTTY|ENODEV|EINVAL' kernel:/dev/null
	unreachable "I/Os larger than it takes" EINVAL "$local" --bs 16m
	unreachable "the second of two" ENOENT "$verbs" "block:$tmp/missing"
	ktap_check "the second of two: nothing is printed" exits_saying 1 "$tmp/missing" \
		kdp bench "$verbs" "block:$tmp/missing" "${quick[@]}"
	ktap_check "a CPU that is not there" exits_saying 1 EINVAL \
		kdp bench "$local" "${quick[@]}" --cpus 1000
}

# --- the target goes ----------------------------------------------------------------

# run_and_cut URI...: bench them for three rounds, on a terminal, where it tells how far it is; in
# the second round the target goes. Leaves results in $tmp/run.{json,csv}, its status in $tmp/status.
run_and_cut() {
	local bench
	rm -f "$tmp/terminal" "$tmp/status"
	printf -v bench '%q ' kdp bench "$@" --rounds 3 --runtime 2 --json --csv "$tmp/run.csv"
	TERM=xterm timeout -k 5 $((2 * patience)) \
		script -qfec "$bench >$tmp/run.json" "$tmp/terminal" </dev/null >/dev/null 2>&1 &
	local runner=$!
	wait_until "$patience" grep -q 'round 2 of 3' "$tmp/terminal" || return
	target_leaves || return
	local status=0
	wait "$runner" || status=$?
	echo "$status" >"$tmp/status"
	target_returns
}

# ended_with STATUS: the last run that was cut.
ended_with() {
	[[ $(<"$tmp/status") == "$1" ]] || complain "the status was $(<"$tmp/status")"
}

# rounds_of N: the rounds and the errno of the Nth path in the CSV, "3 -" for a path that is well.
rounds_of() {
	awk -F, -v n="$1" '$10 == "iops" && ++row == n { gsub(/"/, "", $8); print $9, ($8 == "" ? "-" : $8) }' \
		"$tmp/run.csv"
}

# broke N: it has what was measured before, and says what became of it.
broke() {
	local rounds why
	read -r rounds why < <(rounds_of "$1")
	[[ ${rounds:-0} -ge 1 && $why == E* ]] || complain "path $1: '$rounds' rounds, '$why'" "$(<"$tmp/run.csv")"
}

went_on() {
	[[ $(rounds_of "$1") == "3 -" ]] || complain "path $1: $(rounds_of "$1")" "$(<"$tmp/run.csv")"
}

# The JSON is whole, and has one failure for each path that broke and one for the run.
marked() {
	[[ $(tail -n 1 "$tmp/run.json") == '}' ]] || complain "the JSON is not whole" || return
	[[ $(grep -c '"failure": {' "$tmp/run.json") == "$1" ]] ||
		complain "$(grep -c '"failure": {' "$tmp/run.json") failures, not $1" "$(grep -A3 '"failure"' "$tmp/run.json")"
}

target_goes() {
	ktap_check "verbs: and a local disk: the target goes in round 2" run_and_cut "$verbs" "$local" || {
		ktap_skip "what became of it" "the run did not come so far"
		return
	}
	ktap_check "the status is 1" ended_with 1
	ktap_check "verbs: keeps its rounds, and is marked" broke 1
	ktap_check "the local disk goes on" went_on 2
	ktap_check "the JSON says both" marked 2
	ktap_check "the target goes: nothing left" nothing_left

	connected "$KDP_ADDR" "$nqn" --ctrl-loss-tmo 0
	ktap_check "kernel: and block: the target goes in round 2" run_and_cut \
		"kernel:$char?mode=uring" "block:$disk" "$local"
	ktap_check "the status is 1 again" ended_with 1
	ktap_check "kernel: keeps its rounds, and is marked" broke 1
	ktap_check "block: too" broke 2
	ktap_check "the local disk goes on again" went_on 3
	ktap_check "the JSON says all" marked 3
	ktap_check "disconnect" disconnect "$ctrl"
	ktap_check "the target goes under a controller: nothing left" nothing_left
}

# --- a full disk ----------------------------------------------------------------------

full=$tmp/full

# A disk of 64 KiB, of which a page is free.
full_disk() {
	mkdir "$full" && mount -t tmpfs -o size=64k full "$full" &&
		head -c $((15 * 4096)) /dev/zero >"$full/filler"
}

# fills OPTION NAME BENCH-OPTION...: the report does not fit. The results are printed all the
# same; of the file, or what is to become it, nothing is left.
fills() {
	local option=$1 name=$2 rc=0
	shift 2
	bounded kdp bench "$local" --rounds 1 "$@" "$option" "$full/$name" >"$tmp/out" 2>"$tmp/err" || rc=$?
	[[ $rc == 1 && $(<"$tmp/err") == *ENOSPC* ]] || complain "status $rc:" "$(<"$tmp/err")" || return
	[[ $(<"$tmp/out") == *IOPS* ]] || complain "the results were not printed" || return
	[[ $(ls -A "$full") == filler ]] || complain "left:" "$(ls -lA "$full")"
}

# What was there before is better than half of what should come.
keeps_older() {
	echo older >"$full/old.csv"
	dd if=/dev/zero of="$full/filler" bs=4096 count=20 status=none 2>/dev/null
	! bounded kdp bench "$local" "${quick[@]}" --csv "$full/old.csv" >/dev/null 2>"$tmp/err" &&
		[[ $(<"$full/old.csv") == older && $(ls -A "$full") == $'filler\nold.csv' ]] ||
		complain "$(<"$tmp/err")" "$(ls -lA "$full")" || return
	rm "$full/old.csv"
}

# output_fails FILE [OPTION...]: what is printed does not fit.
output_fails() {
	local where=$1 rc=0
	shift
	bounded kdp bench "$local" "${quick[@]}" "$@" >"$where" 2>"$tmp/err" || rc=$?
	[[ ! -f $where ]] || rm "$where"
	[[ $rc == 1 && $(<"$tmp/err") == *ENOSPC* ]] || complain "status $rc:" "$(<"$tmp/err")"
}

no_space() {
	local many=(--depth "1,2,3,4,6,8" --bs "4k,8k,16k,32k")
	ktap_check "there is a full disk" full_disk || return
	ktap_check "--csv on it" fills --csv x.csv --ios 50 "${many[@]}"
	ktap_check "--log on it" fills --log x.log --ios 3000
	ktap_check "--csv on it keeps an older file" keeps_older
	ktap_check "--json on it" output_fails "$full/x.json" --json "${many[@]}"
	ktap_check "the table on it" output_fails "$full/x.txt" "${many[@]}"
	ktap_check "--json into /dev/full" output_fails /dev/full --json
	ktap_check "the table into /dev/full" output_fails /dev/full
	ktap_check "--html on it" fills --html x.html --ios 50
	umount "$full"
	for option in --csv --html --log; do
		ktap_check "$option into no directory: nothing is measured" exits_saying 1 "$tmp/none/x" \
			kdp bench "$local" "${quick[@]}" "$option" "$tmp/none/x"
	done
}

world_begin
ktap_check "target is up" target_up "$nqn" 16
calm
# A path that needs no target: the disk behind the namespace.
local=block:$(<"$nvmet/subsystems/$nqn/namespaces/1/device_path")
impossible_options
unreachable_paths
target_goes
no_space
world_end
