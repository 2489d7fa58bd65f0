#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A fuzzer of the ioctls and the io_uring commands of both char devices (fuzz_ioctl.c), as
# root, as nobody, and as nobody who may only read. On uml a million calls; FUZZ_CALLS=N and
# FUZZ_SEED=N, in the environment of tests/vm/run, for others.
# timeout: 300
# quick: 6.12 uml uml-debug

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:fuzz-ioctl

case $MACHINE in
uml) calls=1000000 ;;
stock) calls=40000 ;;
uml-debug) calls=20000 ;;
*) calls=4000 ;;
esac
export FUZZ_CALLS=${FUZZ_CALLS:-$calls}

disk_works() {
	random_file "$tmp/out" 65536
	dd if="$tmp/out" of="$disk" bs=64k oflag=direct status=none &&
		dd if="$disk" of="$tmp/in" bs=64k count=1 iflag=direct status=none && same_bytes "$tmp/out" "$tmp/in"
}

world_begin
ktap_check "target is up" target_up "$nqn" 4
calm
connected "$KDP_ADDR" "$nqn" -P 1 --cq-mode event --reconnect-delay 1
# it has as long as the whole test
patience=140 points_from "$programs/fuzz_ioctl" "/dev/$ctrl" "$char" 1
ktap_check "the controller is live" becomes live
ktap_check "the disk works" disk_works
ktap_check "disconnect" disconnect "$ctrl"
ktap_check "nothing is left" nothing_left
world_end
