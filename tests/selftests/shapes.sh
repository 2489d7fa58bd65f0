#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Block I/O of every shape: from 512 bytes to 4 MiB, odd multiples of a block, buffers and
# pieces that lie anywhere, direct, buffered and mapped, on disks of both block sizes. All of
# it verified. A few sizes by default, all with FULL=1.
# timeout: 900
# quick: 6.12 uml

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:shapes
most=$((4 << 20))

# sizes BLOCK: powers of two, and odd multiples of the block up to the most.
sizes() {
	local block=$1 size odd
	local -a odds=(3 7 129 1025)
	if ((!${FULL:-0})); then
		for odd in 1 "${odds[@]}"; do echo $((odd * block)); done
		echo $((64 << 10)) $((1 << 20)) $most
		return
	fi
	for ((size = block; size <= most; size *= 2)); do echo "$size"; done
	for odd in 3 5 7 9 11 13 15 17 31 33 63 65 127 129 255 257 511 513 1023 1025 2047 2049 4095 4097 8191; do
		((odd * block > most)) || echo $((odd * block))
	done
}

# One fio and one job after the other, for each job costs next to nothing then. Each JOB is a word list.
fio_jobs() {
	local job n=0 jobs=()
	for job; do
		# shellcheck disable=SC2206 # words
		jobs+=(--name="j$((++n))" --stonewall $job)
	done
	timeout -k 5 $((4 * patience)) fio --thread --filename="$disk" --verify=crc32c --verify_fatal=1 \
		--verify_state_save=0 --minimal "${jobs[@]}"
}

# each_size ALIGN: each size by itself, written and read back, sequentially or at random, with
# buffers that are off the page by an odd number of ALIGN. Then sizes mixed.
each_size() {
	local align=$1 size n=0 rw jobs=()
	for size in $(sizes "$block"); do
		rw="write"
		((++n % 2)) || rw=randwrite
		jobs+=("--direct=1 --ioengine=io_uring --iomem_align=$align --rw=$rw --bs=$size --size=$((size * 3)) --iodepth=$((size > 262144 ? 2 : 4))")
	done
	jobs+=("--direct=1 --ioengine=libaio --iomem_align=$((3 * align)) --rw=randrw --iodepth=16 --bsrange=$block-64k --size=3M")
	fio_jobs "${jobs[@]}"
}

# Sizes that are no multiple of a block: the page cache makes blocks of them. Written through
# a mapping and read directly: whoever reads a disk by fio's mmap engine has a hole
# punched into it first (MADV_REMOVE), and --invalidate does so too.
cached() {
	local mapped="--ioengine=mmap --rw=randwrite --invalidate=0 --end_fsync=1 --do_verify=0 --size=2M"
	local direct="--ioengine=libaio --rw=randread --direct=1 --iodepth=4 --size=2M"
	local buffered="--direct=0 --ioengine=psync --end_fsync=1"
	fio_jobs "$buffered --rw=randrw --bsrange=100-20000 --bs_unaligned=1 --size=1M" \
		"$buffered --rw=randwrite --bs=$block --size=256k" "$buffered --rw=write --bs=1m --size=4M" \
		"$mapped --bs=4k" "$direct --bs=4k" "$mapped --bs=64k" "$direct --bs=64k"
}

pieces() {
	bounded iovecs "$disk" $((8 << 20)) "$1" "$2"
}

rounds=6
((!${FULL:-0})) || rounds=200

world_begin
for block in 512 4096; do
	ktap_check "$block: target is up" target_up --blocksize "$block" "$nqn$block" 64
	connected "$KDP_ADDR" "$nqn$block"
	ktap_check "$block: blocks of that size" test "$(blockdev --getss "$disk")" = "$block"
	ktap_check "$block: each size, buffers 4 bytes off" each_size 4
	((!${FULL:-0})) || ktap_check "$block: each size, buffers 512 bytes off" each_size 512
	((!${FULL:-0})) || ktap_check "$block: each size, buffers on pages" each_size 4096
	ktap_check "$block: buffered and mapped" cached
	ktap_check "$block: pieces at multiples of 4 bytes" pieces 4 "$rounds"
	ktap_check "$block: pieces at multiples of 512" pieces 512 "$rounds"
	ktap_check "$block: disconnect" disconnect "$ctrl"
done
world_end
