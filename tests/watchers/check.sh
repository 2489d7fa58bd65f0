#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Do the watchers watch? Plant faults, one at a time, in a copy of the modules and see
# that the tests fail, for the reason that is expected: `make check-watchers`.
#
#   tests/watchers/check.sh [FAULT...]   all of tests/watchers/faults unless named
#   tests/watchers/check.sh --table      what catches what, as the documentation has it
#
# A fault is a patch whose head says:
#
#   fault: what it is
#   machine: where it is looked for (tests/vm/run --machine)
#   selftest: which test meets it
#   caught: extended regular expression that must stand in what the test or its watch says
#   by: the watcher, for the table
#
# The last line is "N passed, N failed". Logs in build/watchers/FAULT.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
top=$PWD
faults=$top/tests/watchers/faults
work=$top/build/watchers
tree=$work/tree
passed=0 failed=0

die() {
	echo "check-watchers: $*" >&2
	exit 2
}

# head_of PATCH KEY
head_of() {
	sed -n "/^--- /q; s/^$2: //p" "$1"
}

print_table() {
	local patch
	echo "| fault | caught by | machine | selftest |"
	echo "|---|---|---|---|"
	for patch in "$faults"/*.patch; do
		echo "| $(head_of "$patch" fault) | $(head_of "$patch" by) | $(head_of "$patch" machine) | \`$(head_of "$patch" selftest)\` |"
	done
}

# A copy of what is built in the guest and run there; user space as it stands here (by
# hard links: the guest may not see where symbolic ones lead).
fresh_tree() {
	mkdir -p "$tree/build"
	rm -rf "$tree"/{kernel,include,scripts,tests} "$tree"/build/{user,selftests}
	cp -r kernel include scripts tests "$tree/" || return
	cp -al build/user build/selftests "$tree/build/"
}

# try PATCH: 0 if it was caught; says why not.
try() {
	local patch=$1 name machine selftest caught out
	name=$(basename "$patch" .patch)
	machine=$(head_of "$patch" machine) selftest=$(head_of "$patch" selftest)
	caught=$(head_of "$patch" caught)
	[[ -n $machine && -n $selftest && -n $caught ]] || { echo "its head is not complete"; return 1; }
	out=$work/$name
	rm -rf "$out"
	mkdir -p "$out"

	fresh_tree || { echo "no scratch copy"; return 1; }
	patch -s -p1 -d "$tree" <"$patch" >"$out/patch.log" 2>&1 ||
		{ echo "the patch does not fit the tree any more"; return 1; }
	"$tree/scripts/build-modules.sh" "$machine" >"$out/build.log" 2>&1 ||
		{ echo "it does not build (see $out/build.log)"; return 1; }
	"$tree/tests/vm/run" --machine "$machine" --timeout 400 --out "$out/vm" -- \
		"$tree/tests/vm/guest/run-selftests.sh" "$selftest" >"$out/console.log" 2>&1
	if grep -q '^fail ' "$out/vm/points" 2>/dev/null || [[ $(cat "$out/vm/verdict") != finished* ]]; then
		grep -rqE -- "$caught" "$out/console.log" "$out/vm" 2>/dev/null && return 0
		echo "the test failed, but nothing said '$caught' (see $out)"
	else
		echo "nobody noticed (see $out)"
	fi
	return 1
}

[[ ${1:-} != --table ]] || { print_table; exit; }
((${#})) || set -- "$faults"/*.patch
[[ -x build/user/tools/kdp/kdp && -d build/selftests ]] || die "build first: make tools selftests"

for patch; do
	[[ -f $patch ]] || patch=$faults/$patch.patch
	[[ -f $patch ]] || die "no fault '$(basename "$patch" .patch)' in tests/watchers/faults"
	SECONDS=0
	if why=$(try "$patch"); then
		((++passed))
		printf 'caught   %-28s %s (%d s)\n' "$(head_of "$patch" fault)" "$(head_of "$patch" by)" "$SECONDS"
	else
		((++failed))
		printf 'MISSED   %-28s %s\n' "$(head_of "$patch" fault)" "$why"
	fi
done
echo "$passed passed, $failed failed"
((failed == 0))
