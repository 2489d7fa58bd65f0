#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Failure walks: the first failure, the second, ... of everything that may fail, from
# loading the modules to unloading them, until a pass meets none.
# timeout: 900
# quick: 6.12 6.1 uml uml-debug

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:walk
faults=/sys/kernel/debug/kdp/fault
inject=/sys/kernel/debug

# Allocations that may sleep fail too, and small ones.
every_allocation_may_fail() {
	echo N >"$inject/failslab/ignore-gfp-wait" &&
		echo N >"$inject/fail_page_alloc/ignore-gfp-wait" &&
		echo 0 >"$inject/fail_page_alloc/min-order" &&
		echo 0 | tee "$inject"/{failslab,fail_page_alloc,fail_usercopy}/verbose >/dev/null
}

world_begin
ktap_check "target is up" target_up "$nqn" 16
# Once without failures, so that everything which stays has been made.
name=$(connect "$KDP_ADDR" "$nqn") && disconnect "$name"

# Each pass takes its time, and on an emulated machine a second or more. By default uml-debug
# tries all points and all loads, of the other allocations one in ten; FULL=1 all of
# everything.
stride=1 stride_alloc=10 stride_load=1
case $MACHINE in
stock) stride=5 ;;
debug) stride=11 stride_alloc=50 stride_load=0 ;;
esac
((!${FULL:-0})) || stride=1 stride_alloc=1 stride_load=1

walk_points=()
for file in "$faults"/*; do walk_points+=("${file##*/}"); done
FAILURE_WALK_STRIDE=$stride patience=450 points_from \
	"$programs/failure_walk" point "${walk_points[@]}" -- "$KDP_ADDR" "$nqn"

if [[ ! -e /proc/self/fail-nth ]]; then
	ktap_skip "failing allocations" "needs a kernel with fault injection: MACHINE=debug or uml-debug"
else
	kdp_unload
	ktap_check "every allocation may fail" every_allocation_may_fail
	reports_announce '^failure_walk: (vmalloc error|page allocation failure)'
	FAILURE_WALK_STRIDE=$stride_alloc FAILURE_WALK_LOAD_STRIDE=$stride_load patience=450 points_from "$programs/failure_walk" alloc \
		"$KDP_MODDIR/kdp_core.ko" "$KDP_MODDIR/kdp_host.ko" \
		"$KDP_ADDR" "$nqn"
fi
world_end
