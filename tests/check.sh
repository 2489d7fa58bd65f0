#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Every test there is: `make check`. Stage by stage; a stage that fails does not
# keep the later ones from running. The last line of the output is
# "N passed, N failed" (and ", N skipped" if any were); the status is 0 only if
# nothing failed. Logs in build/check/.
#
#   tests/check.sh [STAGE...]     stages: deps user tree modules vm
#
# Environment: KERNELS="6.12 6.1" (which to build for and boot), ACCEL (see tests/vm/run).

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
top=$PWD
logs=$top/build/check
kernels=${KERNELS:-6.12 6.1}
mkdir -p "$logs"
passed=0 failed=0 skipped=0
failures=()

# Long enough for all selftests; less than what the whole may take.
vm_timeout=${VM_TIMEOUT:-900}

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

# --- stages ----------------------------------------------------------------------

stage_deps() {
	stage "Debian packages" deps.log scripts/deps.sh || return
	local kernel
	for kernel in $kernels; do
		stage "kernel $kernel for the VM" "kernel-$kernel.log" scripts/kernel.sh "$kernel"
	done
}

stage_user() {
	stage "user space: build" user-build.log make tools || return
	stage "selftests: build helper programs" selftests-build.log make selftests
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
		run_vm "$kernel"
	done
}

selftests_in_vm() {
	rm -rf "$2"
	tests/vm/run --kernel "$1" --timeout "$vm_timeout" --out "$2" -- \
		tests/vm/guest/run-selftests.sh
}

run_vm() {
	local kernel=$1 out=$logs/vm-$1 status=0 kind text
	say "selftests on $kernel"
	selftests_in_vm "$kernel" "$out" || status=$?
	# QEMU's translator may run a stale instruction on one CPU while the kernel on
	# another patches its own text (a jump label): the guest dies of an int3 that is no
	# longer there. No code of ours can do that; once more, and say so.
	if grep -q 'Oops: int3' "$out/console.log" "$out/dmesg.txt" 2>/dev/null; then
		say "the emulator tripped over a patched instruction (Oops: int3): once more"
		status=0
		selftests_in_vm "$kernel" "$out" || status=$?
	fi

	while read -r kind text; do
		case $kind in
		pass) pass ;;
		skip) ((++skipped)) ;;
		fail) fail "$kernel: $text" ;;
		esac
	done < <(cat "$out/points" 2>/dev/null)

	case $(cat "$out/verdict" 2>/dev/null) in
	'finished '*)
		[[ $(tail -n 1 "$out/points" 2>/dev/null) == end ]] ||
			fail "$kernel: the selftests broke off with status $status"
		;;
	*) fail "$kernel: guest never finished ($(cat "$out/verdict" 2>/dev/null || echo 'not started'))" ;;
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

(($#)) || set -- deps user tree modules vm
for name; do
	declare -F "stage_$name" >/dev/null || { echo "check: no stage '$name'" >&2; exit 2; }
done
for name; do
	# Without packages nothing later can tell anything.
	"stage_$name" || [[ $name != deps ]] || break
done
say "done"
summary
