#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the guest: run the selftests, one after the other, each watched.
#
#   tests/vm/run [--kernel 6.1] -- tests/vm/guest/run-selftests.sh [--dir DIR] [--only 'PATTERN...'] [NAME...]
#
# NAME is a file of tests/selftests (or of --dir) without ".sh"; all of them if none is
# given, or all whose name matches a PATTERN of the shell (`--only 'peer_* stats'`; with
# `!` before the first, all that match none). Of all, one whose head says
# `# quick: MACHINE...` runs on those alone (6.12, 6.1, debug, uml, uml-debug) and is
# skipped elsewhere, unless FULL=1: emulation takes its time.
# A test prints KTAP, exits 0 (pass), 4 (skip) or otherwise (fail), and may say in
# its head `# timeout: SECONDS` (120; more on a slow machine). One that runs over time
# is killed and failed.
# The RDMA device is up before the first. After each one everything that it left connected is
# disconnected and the modules are unloaded; what cannot be, or what the kernel
# said meanwhile, fails the point "NAME: nothing left behind"; memory that it leaked
# fails "NAME: no memory leaked" (where the kernel has kmemleak).
#
# Results: KTAP with subtests on stdout; KDP_OUT/points, one "pass|fail|skip TEST: POINT"
# a line and at last "end"; each test's own output in KDP_OUT/selftests/NAME.log.

set -uo pipefail
# shellcheck source=tests/vm/guest/lib.sh
. "${KDP_REPO:?run it in the VM with tests/vm/run}/tests/vm/guest/lib.sh"

selftests=$KDP_REPO/tests/selftests
logs=$KDP_OUT/selftests
points=$KDP_OUT/points
mkdir -p "$logs"
: >"$points"
failures=0
# For "no memory leaked": the tests, and the kernel's clock before and after each.
ran=() ran_from=() ran_to=() leaked=()

# point pass|fail|skip TEXT: what the host counts.
point() {
	printf '%s %s\n' "$1" "$2" >>"$points"
	[[ $1 != fail ]] || ((++failures))
}

# count_points NAME STATUS LOG: the points of one test's KTAP, and whether the test kept its word.
count_points() {
	local name=$1 status=$2 log=$3 line plan='' count=0 failed=0
	while IFS= read -r line; do
		case $line in
		'ok '*'# SKIP'*) point skip "$name: ${line#ok }"; ((++count)) ;;
		'ok '*) point pass "$name: ${line#ok }"; ((++count)) ;;
		'not ok '*) point fail "$name: ${line#not ok }"; ((++count, ++failed)) ;;
		1..[0-9]*) plan=${line#1..}; plan=${plan%% *} ;;
		esac
	done <"$log"
	if ((status == 124 || status == 137)); then
		point fail "$name: did not end within its time limit"
	elif [[ -n $plan && $plan != "$count" ]]; then
		point fail "$name: planned $plan points and made $count (status $status)"
	elif ((status == 4)); then
		((count)) || point skip "$name"
	elif ((status && !failed)); then
		point fail "$name: status $status although no point failed"
	elif ((!count)); then
		point pass "$name"
	fi
}

# Whatever a test that failed half-way may have left connected.
clean_up() {
	if [[ -d /sys/module/kdp_host ]] && command -v kdp >/dev/null; then
		timeout 30 kdp disconnect --all
	fi
	[[ ! -e /dev/nvme0 ]] || timeout 30 nvme disconnect-all
	target_down
}

run_one() {
	local name=$1 file=$selftests/$1.sh log=$logs/$1.log limit status=0 before=$failures
	local started=$SECONDS
	limit=$(sed -n 's/^# timeout: *\([0-9][0-9]*\).*/\1/p' "$file" | head -n 1)

	echo "kdp-selftest: $name" >/dev/kmsg
	ran+=("$name") ran_from+=("$(leaks_clock)")
	watch_begin
	timeout -k 5 $((${limit:-120} * kdp_slowness)) "$file" </dev/null 2>&1 | tee "$log" | sed -u 's/^/  /'
	status=${PIPESTATUS[0]}
	count_points "$name" "$status" "$log"

	if { clean_up && watch_end; } >"$logs/$name.watch" 2>&1; then
		point pass "$name: nothing left behind"
	else
		point fail "$name: nothing left behind"
		sed 's/^/  # /' "$logs/$name.watch"
	fi
	[[ -s $logs/$name.watch ]] || rm -f "$logs/$name.watch"
	ran_to+=("$(leaks_clock)")
	! leaks_watched || leaks_note

	if ((failures > before)); then
		echo "not ok $2 $name # $((SECONDS - started)) s"
	elif ((status == 4)); then
		echo "ok $2 $name # SKIP"
	else
		echo "ok $2 $name # $((SECONDS - started)) s"
	fi
}

# leaks_note: scan; whose are the new findings?
leaks_note() {
	local at report i owner
	while read -r at report; do
		reports_expected "$report" && continue
		owner=-1
		for i in "${!ran[@]}"; do
			((at < ran_from[i] || at > ran_to[i])) || owner=$i
		done
		# allocated before the first or between two of them
		((owner >= 0)) || owner=$((${#ran[@]} - 1))
		leaked[owner]=1
		tr '\037' '\n' <<<"$report" | head -n 40 >>"$logs/${ran[owner]}.leaks"
	done < <(leaks_take)
}

# A last object must grow old enough to be reported.
leaks_end() {
	local i
	sleep 6
	leaks_note
	leaks_note
	for i in "${!ran[@]}"; do
		if [[ -n ${leaked[i]:-} ]]; then
			point fail "${ran[i]}: no memory leaked"
			sed 's/^/  # /' "$logs/${ran[i]}.leaks"
		else
			point pass "${ran[i]}: no memory leaked"
		fi
	done
}

# Once through everything, so that what is made once and stays has been made.
warm_up() {
	local nqn=nqn.io.kdp:warm-up name
	# filesystems, where there are modules of them
	modprobe -qa loop ext4 xfs btrfs
	target_up "$nqn" 16 && kdp_load &&
		name=$(kdp connect -a "$KDP_ADDR" -s 4420 -n "$nqn" -q "$kdp_hostnqn" -I "$kdp_hostid") &&
		dd if="/dev/${name}n1" of=/dev/null bs=64k count=16 iflag=direct status=none &&
		kdp disconnect "$name" && kdp_unload && target_down
}

all=0 only='*'
if [[ ${1:-} == --dir ]]; then
	selftests=$KDP_REPO/${2:?--dir which?}
	shift 2
fi
if [[ ${1:-} == --only ]]; then
	only=${2:?--only which?}
	shift 2
fi

# wanted NAME: by --only?
wanted() {
	local pattern patterns found=1 other=0
	read -ra patterns <<<"${only#!}"
	for pattern in "${patterns[@]}"; do
		# shellcheck disable=SC2053 # the pattern is meant
		[[ $1 != $pattern ]] || found=0 other=1
	done
	if [[ $only == !* ]]; then return "$other"; else return "$found"; fi
}

if ((!$#)); then
	all=1
	for file in "$selftests"/*.sh; do
		name=$(basename "$file" .sh)
		[[ ! -x $file ]] || ! wanted "$name" || set -- "$@" "$name"
	done
	(($#)) || { complain "no selftest is called $only"; exit 1; }
fi
for name; do
	[[ -x $selftests/$name.sh ]] || { complain "no executable $selftests/$name.sh"; exit 1; }
done

# perf patches the scheduler whenever the first counter of a task comes or the last one goes,
# and each `kdp bench` has one. QEMU's translator may trip over that (see boot.sh): one stays.
keep_scheduler_patched() {
	[[ $ACCEL == tcg ]] && command -v perf >/dev/null || return 0
	perf stat -e context-switches -- sleep infinity >/dev/null 2>&1 &
}

echo "KTAP version 1"
echo "1..$#"
keep_scheduler_patched
if ! rdma_up; then
	point fail "$KDP_RDMA_DEV is up"
	echo "Bail out! no RDMA device"
	exit 1
fi
rm -f "$KDP_OUT/known-reports.seen"
# Watched as well: a report that comes once in a boot may come here.
watch_begin
if warm_up >"$logs/warm-up.log" 2>&1 && watch_end >>"$logs/warm-up.log" 2>&1; then
	point pass "warm-up"
	# shellcheck disable=SC2034 # for watch.sh
	watch_warm=1
else
	point fail "warm-up: $(tail -n 1 "$logs/warm-up.log")"
	sed 's/^/  # /' "$logs/warm-up.log"
fi
! leaks_watched || leaks_begin
# Where it runs by default; empty: everywhere.
quick_machines() {
	sed -n 's/^# quick: *//p' "$selftests/$1.sh" | head -n 1
}

machine=$MACHINE
[[ $machine != stock ]] || machine=$(cut -d . -f 1-2 <<<"$KVER")
number=0
for name; do
	quick=$(quick_machines "$name")
	if ((all && !${FULL:-0})) && [[ -n $quick && " $quick " != *" $machine "* ]]; then
		point skip "$name: not on $machine by default, FULL=1 runs it"
		echo "ok $((++number)) $name # SKIP not on $machine by default, FULL=1 runs it"
		continue
	fi
	run_one "$name" $((++number))
done
! leaks_watched || leaks_end
while IFS= read -r name; do
	point fail "tests/vm/known-reports: none of those of $name came"
done < <(reports_unseen "${ran[@]}")
echo end >>"$points"
((failures == 0))
