# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What the benchmarks share on this side of the machine. Sourced in the repository's root,
# with $bench set to the benchmark's name.

# shellcheck source=tests/vm/host/tripped.sh
. tests/vm/host/tripped.sh
# shellcheck source=tests/vm/host/step.sh
. tests/vm/host/step.sh

logs=build/${bench:?}
mkdir -p "$logs"

bench_tool() {
	step "Debian packages" deps.log scripts/deps.sh
	step "library and tool" user.log make tools
}

# bench_machine MACHINE: its kernel, and our modules for it.
bench_machine() {
	if [[ $1 == stock ]]; then
		step "kernel 6.12 for the VM" kernel.log scripts/kernel.sh 6.12
		step "modules" modules-stock.log scripts/build-modules.sh "$(scripts/kernel.sh --version 6.12)"
	else
		step "$1: kernel" "kernel-$1.log" scripts/build-kernel.sh "$1"
		step "$1: modules" "modules-$1.log" scripts/build-modules.sh "$1"
	fi
}

# bench_bound MACHINE: the module that exchanges the messages alone.
bench_bound() {
	local kver kdir arch=()
	if [[ $1 == stock ]]; then
		kver=$(scripts/kernel.sh --version 6.12)
		kdir=/lib/modules/$kver/build
	else
		kver=$(scripts/build-kernel.sh --release "$1")
		kdir=$(scripts/build-kernel.sh --path "$1")/build arch=(ARCH=um)
	fi
	step "the bound's module" "bound-$1.log" tests/bench/bound/build.sh "$kver" "$kdir" "${arch[@]}"
}

# bench_rnbd MACHINE: the modules of RTRS and RNBD. Our own kernels have them.
bench_rnbd() {
	local kver
	[[ $1 == stock ]] || return 0
	kver=$(scripts/kernel.sh --version 6.12)
	step "RTRS and RNBD" rnbd.log tests/bench/rnbd/build.sh "$kver" "/lib/modules/$kver/build"
}

# bench_run OUT RUN-OPTION... -- COMMAND...: in a machine; once more, twice at most, if the
# emulator trips.
bench_run() {
	local out=$1 status trip
	shift
	for _ in 1 2 3; do
		rm -rf "$out"
		status=0
		tests/vm/run --out "$out" "$@" || status=$?
		trip=$(emulator_tripped "$out") || return "$status"
		echo "  the emulator tripped ($trip): once more"
	done
	return "$status"
}
