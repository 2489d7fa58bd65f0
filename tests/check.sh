#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Every test there is. Stage by stage; a stage that fails does not keep the later
# ones from running. The last line of the output is "N passed, N failed" (and
# ", N skipped" if any were); the status is 0 only if nothing failed. Logs in
# build/check/.
#
#   tests/check.sh [STAGE...]
#
#   make check        deps build user tree modules vm
#   make check-debug  deps build debug
#   make check-faults deps build faults
#   make check-scale  deps build scale
#   .ci/run           all but the last two
#
# Environment: KERNELS="6.12 6.1" (which to build for and boot), ACCEL (see tests/vm/run).
# FAULTS_MACHINE=stock|debug: where the host of two machines runs.
# FULL=1: every selftest on every machine; else some are skipped on some, by name, where
# emulation would take minutes over what another machine shows in seconds.
# CHECK_CLOCK=1: keep an eye on the clock. Once an hour has gone, no further stage of
# the checking kernels begins: it is skipped, by name; and none outlives the 85th minute.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
top=$PWD
logs=$top/build/check
kernels=${KERNELS:-6.12 6.1}
mkdir -p "$logs"
passed=0 failed=0 skipped=0
failures=()

# shellcheck source=tests/vm/host/tripped.sh
. tests/vm/host/tripped.sh

# Long enough for all selftests; less than what the whole may take.
vm_timeout=${VM_TIMEOUT:-3000}
debug_timeout=${DEBUG_TIMEOUT:-3300}

# With CHECK_CLOCK: when the last stage may begin, and when it must have ended.
last_begin=3600 last_end=5100

say() {
	printf '[%4d s] %s\n' "$SECONDS" "$*"
}

pass() {
	((passed += ${1:-1}))
}

fail() {
	((++failed))
	failures+=("$1")
	say "FAILED: $1"
}

# stage NAME LOG COMMAND...: one point; the log's end on failure.
stage() {
	local name=$1 log=$logs/$2
	shift 2
	say "$name"
	if "$@" >"$log" 2>&1 </dev/null; then
		pass
	else
		tail -n 30 "$log" | sed 's/^/    /'
		fail "$name (log: ${log#"$top/"})"
		return 1
	fi
}

skip() {
	((++skipped))
	say "skipped: $1"
}

# in_time NAME: may this stage still begin? Else it is skipped.
in_time() {
	((${CHECK_CLOCK:-0} == 0 || SECONDS < last_begin)) && return
	skip "$1: the hour is over"
	return 1
}

# seconds_for MOST: that, or what is left.
seconds_for() {
	local left=$((last_end - SECONDS))
	if ((${CHECK_CLOCK:-0} && left < $1)); then echo "$left"; else echo "$1"; fi
}

# --- stages ----------------------------------------------------------------------

stage_deps() {
	stage "Debian packages" deps.log scripts/deps.sh || return
	[[ " ${stages[*]} " != *' debug '* ]] || build_ahead
	local kernel
	for kernel in $kernels; do
		stage "kernel $kernel for the VM" "kernel-$kernel.log" scripts/kernel.sh "$kernel"
	done
}

stage_build() {
	stage "user space: build" user-build.log make tools || return
	stage "selftests: build helper programs" selftests-build.log make selftests
}

stage_user() {
	local junit=$logs/ctest.xml total bad skip status=0 name
	rm -f "$junit"
	say "user space: unit tests"
	ctest --test-dir build/user --output-on-failure --timeout 120 --output-junit "$junit" \
		>"$logs/ctest.log" 2>&1 </dev/null || status=$?
	read -r total bad skip < <(junit_counts "$junit")
	if ((${total:-0} == 0)); then
		tail -n 20 "$logs/ctest.log"
		fail "unit tests: ctest found none (log: build/check/ctest.log)"
		return
	fi
	pass $((total - bad - skip))
	((skipped += skip))
	if ((bad)); then
		sed -n '/^The following tests FAILED/,$p' "$logs/ctest.log" | sed 's/^/    /'
		while read -r name; do
			fail "unit test $name"
		done < <(sed -n 's/^[[:space:]]*<testcase name="\([^"]*\)".*status="fail".*/\1/p' "$junit")
	elif ((status)); then
		# Such as a test program that was not built.
		tail -n 20 "$logs/ctest.log" | sed 's/^/    /'
		fail "unit tests: ctest ended with status $status (log: build/check/ctest.log)"
	fi
	stage "libkdp: installed, found, linked and run from outside the tree" library.log tests/library/check.sh
}

# "tests failures skipped" of a JUnit file as ctest writes it.
junit_counts() {
	local tests failures skip
	tests=$(grep -o 'tests="[0-9]*"' "$1" 2>/dev/null | head -n 1 | tr -dc 0-9)
	failures=$(grep -o 'failures="[0-9]*"' "$1" 2>/dev/null | head -n 1 | tr -dc 0-9)
	skip=$(grep -cE '<testcase .*status="(notrun|disabled)"' "$1" 2>/dev/null)
	echo "${tests:-0} ${failures:-0} ${skip:-0}"
}

stage_tree() {
	local check
	for check in tests/check/*.sh; do
		stage "$(sed -n '4s/^# //p' "$check")" "$(basename "$check" .sh).log" "$check"
	done
}

stage_modules() {
	local kernel kver
	for kernel in $kernels; do
		kver=$(scripts/kernel.sh --version "$kernel") || { fail "modules for $kernel: no headers"; continue; }
		stage "modules for $kver: W=1 -Werror, sparse" "modules-$kernel.log" \
			scripts/build-modules.sh "$kver" --sparse
	done
}

stage_vm() {
	local kernel
	for kernel in $kernels; do
		start_vm "$kernel" "$vm_timeout" --kernel "$kernel"
	done
	# The checking kernels' machines take over where one of these ends.
	[[ " ${stages[*]} " == *' debug '* ]] || finish_vms
}

# The checking kernels take long to build: begun early, they take what the other stages
# leave of the CPUs. Their stage waits for them (build-kernel.sh has a lock).
build_ahead() {
	local machine missing=()
	for machine in debug uml-debug; do
		scripts/build-kernel.sh --path "$machine" >/dev/null 2>&1 || missing+=("$machine")
	done
	((${#missing[@]})) || return 0
	say "kernels, in the background: ${missing[*]}"
	for machine in "${missing[@]}"; do
		nice -n 19 timeout "$last_end" scripts/build-kernel.sh "$machine"
	done >"$logs/ahead.log" 2>&1 </dev/null &
	trap 'kill $(jobs -p) 2>/dev/null' EXIT
}

stage_debug() {
	local machine ready=()
	for machine in uml-debug debug; do
		checking_kernel "$machine" && checking_modules "$machine" && ready+=("$machine")
	done
	for machine in "${ready[@]}"; do
		checking_selftests "$machine"
	done
	finish_vms
}

checking_kernel() {
	local machine=$1
	in_time "$machine: kernel" || return
	say "$machine: kernel"
	timeout "$(seconds_for 5400)" scripts/build-kernel.sh "$machine" \
		>"$logs/kernel-$machine.log" 2>&1 </dev/null
	case $? in
	0) pass ;;
	124) skip "$machine: not built in time"; return 1 ;;
	*)
		tail -n 15 "$logs/kernel-$machine.log" | sed 's/^/    /'
		fail "$machine: kernel (log: build/check/kernel-$machine.log)"
		return 1
		;;
	esac
}

checking_modules() {
	in_time "$1: modules" && stage "$1: modules" "modules-$1.log" nice scripts/build-modules.sh "$1"
}

# All selftests. User-Mode Linux has one CPU: two machines of about the same length, each on
# a CPU of its own.
checking_selftests() {
	local machine=$1 peers='peer_* failure_walk'
	if [[ $machine == debug ]]; then
		start_vm "$machine" "$debug_timeout" --machine "$machine"
		return
	fi
	VM_CPU=0 start_vm "$machine" "$debug_timeout" --machine "$machine" -- --only "!$peers"
	VM_CPU=1 start_vm "$machine, peers" "$debug_timeout" --machine "$machine" -- --only "$peers"
}

# The faults that take their time: two machines, then the long forms of recovery_* in one.
stage_faults() {
	local machine=${FAULTS_MACHINE:-stock} kver=${FAULTS_MACHINE:-}
	[[ $machine != stock ]] || kver=$(scripts/kernel.sh --version 6.12)
	stage "$machine: modules" "modules-$machine.log" scripts/build-modules.sh "$kver" || return
	start_vm "$machine, two machines" 1800 --two --machine "$machine" -- --dir tests/faults
	finish_vms
	FULL=1 start_vm "$machine, recovery" 1800 --machine "$machine" -- \
		recovery_target recovery_limits recovery_reset recovery_link
	finish_vms
}

# User-Mode Linux is the fast one: there a thousand times.
stage_scale() {
	stage "uml: kernel" kernel-uml.log scripts/build-kernel.sh uml &&
		stage "uml: modules" modules-uml.log scripts/build-modules.sh uml || return
	stage "stock: modules" modules-stock.log scripts/build-modules.sh "$(scripts/kernel.sh --version 6.12)" || return
	SCALE=${SCALE:-8 4 1000} start_vm "uml, scale" 1800 --machine uml -- scale
	finish_vms
	SCALE=${SCALE:-8 4 100} start_vm "6.12, scale" 1800 --kernel 6.12 -- scale
	finish_vms
}

# --- machines, side by side ---------------------------------------------------------

vm_names=() vm_pids=()
# Each keeps one CPU busy, a stock kernel's at times two.
most_machines=2

machines_running() {
	local pid count=0
	for pid in "${vm_pids[@]}"; do
		! kill -0 "$pid" 2>/dev/null || ((++count))
	done
	echo "$count"
}

# start_vm NAME SECONDS [--two] [OPTIONS-OF-TESTS/VM/RUN...] [-- SELFTEST...]: once there is a
# place for it.
start_vm() {
	local name=$1 limit=$2
	shift 2
	until (($(machines_running) < most_machines)); do sleep 1; done
	# a stock kernel's selftests are never left out
	[[ $name != *debug* ]] || in_time "$name: selftests" || return
	say "selftests on $name"
	run_vm "$name" "$(seconds_for "$limit")" "$@" > >(grep --line-buffered -E '^( *not ok|ok|Bail|vm:|# |  # )' | sed -u "s/^/$name: /") 2>&1 &
	vm_names+=("$name") vm_pids+=($!)
}

selftests_in_vm() {
	local out=$1 limit=$2 run=tests/vm/run options=() name words=()
	shift 2
	if [[ ${1:-} == --two ]]; then
		run=tests/vm/run-two
		shift
	fi
	while (($#)) && [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	for name in SCALE FAULTS_HOST; do
		[[ -z ${!name:-} ]] || words+=("$name=${!name}")
	done
	rm -rf "$out"
	mkdir -p "$out"
	"$run" "${options[@]}" --timeout "$limit" --out "$out" -- \
		env "${words[@]}" tests/vm/guest/run-selftests.sh "${@:2}" </dev/null
}

run_vm() {
	local out=$logs/vm-${1//[, ]/-} limit=$2 status=0 trip
	shift 2
	selftests_in_vm "$out" "$limit" "$@" || status=$?
	if trip=$(emulator_tripped "$out"); then
		echo "# the emulator tripped ($trip): once more"
		rm -rf "$out-tripped"
		mv "$out" "$out-tripped"
		status=0
		selftests_in_vm "$out" "$limit" "$@" || status=$?
	fi
	return "$status"
}

# Wait for every machine, count its points.
finish_vms() {
	local i status
	for i in "${!vm_pids[@]}"; do
		status=0
		wait "${vm_pids[i]}" || status=$?
		count_vm "${vm_names[i]}" "$status"
	done
	vm_names=() vm_pids=()
}

# count_vm NAME STATUS
count_vm() {
	local name=$1 status=$2 out=$logs/vm-${1//[, ]/-} kind text
	while read -r kind text; do
		case $kind in
		pass) pass ;;
		skip) ((++skipped)) ;;
		fail) fail "$name: $text" ;;
		esac
	done < <(cat "$out/points" 2>/dev/null)

	case $(cat "$out/verdict" 2>/dev/null) in
	'finished '*)
		[[ $(tail -n 1 "$out/points" 2>/dev/null) == end ]] ||
			fail "$name: the selftests broke off with status $status"
		;;
	*) fail "$name: guest never finished ($(cat "$out/verdict" 2>/dev/null || echo 'not started'))" ;;
	esac
}

# ---------------------------------------------------------------------------------

summary() {
	local name
	if ((failed)); then
		echo "Failed:"
		for name in "${failures[@]}"; do echo "  $name"; done
	fi
	if ((skipped)); then
		echo "$passed passed, $failed failed, $skipped skipped"
	else
		echo "$passed passed, $failed failed"
	fi
	((failed == 0))
}

(($#)) || set -- deps build user tree modules vm
stages=("$@")
for name; do
	declare -F "stage_$name" >/dev/null || { echo "check: no stage '$name'" >&2; exit 2; }
done
for name; do
	"stage_$name" && continue
	# Without packages nothing later can tell anything.
	[[ $name != deps ]] || break
done
say "done"
summary
