#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The disk: fio with checksums, a filesystem, flush and FUA, errors.
# timeout: 240

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:block

# verified NAME JOB...: write and verify by one fio; each JOB is a word list of options of
# a job, run one after the other.
verified() {
	local name=$1 job arguments=()
	shift
	for job; do
		# shellcheck disable=SC2206 # words
		arguments+=(--name="${job// /,}" --stonewall --rw=randrw --filename="$disk" $job)
	done
	ktap_check "fio, checksums verified: $name" timeout -k 5 $((2 * patience)) fio \
		--verify=crc32c --verify_fatal=1 --verify_state_save=0 --do_verify=1 \
		--disable_lat=1 --disable_clat=1 --disable_slat=1 "${arguments[@]}"
}

# The commands that the target receives, by its own tracepoint.
trace=/sys/kernel/tracing/trace
event=/sys/kernel/tracing/events/nvmet/nvmet_req_init
target_trace_on() {
	: >"$trace"
	echo 1 >"$event/enable"
}

target_trace_off() {
	echo 0 >"$event/enable"
}

# target_saw PATTERN COMMAND...
target_saw() {
	local pattern=$1 rc=0
	shift
	target_trace_on || return
	"$@" || rc=$?
	target_trace_off
	((rc == 0)) && grep -qE "$pattern" "$trace" ||
		complain "status $rc; the target saw:"$'\n'"$(grep nvmet_req_init: "$trace" | tail)"
}

dd_write() {
	dd if=/dev/zero of="$disk" bs=4k count=1 status=none "$@"
}

filesystem() {
	mkfs.ext4 -q -F "$disk" && mkdir -p "$tmp/mnt" && mount -t ext4 "$disk" "$tmp/mnt"
}

# Few large files and many small ones.
tree() {
	local i
	mkdir "$tmp/tree" "$tmp/tree/small" && random_file "$tmp/tree/large" 4000001 &&
		random_file "$tmp/tree/other" 1000003 || return
	for ((i = 0; i < 100; i++)); do
		echo "$i $RANDOM$RANDOM" >"$tmp/tree/small/$i"
	done
}

remounted() {
	umount "$tmp/mnt" && drop_caches && mount -t ext4 "$disk" "$tmp/mnt"
}

change_files() {
	rm -r "$tmp/mnt/tree/small" && cp "$tmp/tree/large" "$tmp/mnt/again"
}

write_protect() {
	nvme set-feature "/dev/$ctrl" -n 1 -f 0x84 -v "$1"
}

reconnect() {
	disconnect "$ctrl" && connect "$KDP_ADDR" "$nqn"
}

bad_blocks() {
	local dir
	dir=$nullb/$(target_backend_name "$nqn" 1)
	echo "$1" >"$dir/badblocks"
}

# fails_saying TEXT COMMAND...
fails_saying() {
	local want=$1 text rc=0
	shift
	text=$(bounded "$@" 2>&1) || rc=$?
	echo "$text"
	((rc != 0 && rc < 124)) && [[ $text == *"$want"* ]]
}

# region FROM_MB MB: what is there.
region() {
	dd if="$disk" bs=1M skip="$1" count="$2" iflag=direct status=none
}

is_zero() {
	region "$1" "$2" | cmp - <(head -c $(($2 << 20)) /dev/zero)
}

fill() {
	random_file "$tmp/noise" $((4 << 20)) && dd if="$tmp/noise" of="$disk" bs=1M oflag=direct status=none
}

# Of four megabytes the second and the last are zero, the others as they were.
only_those_are_zero() {
	local at
	is_zero 1 1 && is_zero 3 1 || return
	for at in 0 2; do
		cmp <(region "$at" 1) <(dd if="$tmp/noise" bs=1M skip="$at" count=1 status=none) || return
	done
}

# costs_no_data COMMAND...: next to nothing is moved by it.
costs_no_data() {
	local before
	before=$(json bytes_written)
	bounded "$@" || return
	(($(json bytes_written) - before < 65536)) || complain "$(($(json bytes_written) - before)) bytes were written"
}

world_begin
ktap_check "target is up" target_up "$nqn" 64
connected "$KDP_ADDR" "$nqn"

verified "direct, 512 bytes to 1 MiB, depth 1 to 16, libaio and io_uring" \
	"--bs=4k --direct=1 --ioengine=libaio --iodepth=1 --size=1M" \
	"--bs=4k --direct=1 --ioengine=io_uring --iodepth=16 --size=2M" \
	"--bs=64k --direct=1 --ioengine=io_uring --iodepth=1 --size=4M" \
	"--bs=64k --direct=1 --ioengine=libaio --iodepth=16 --size=8M" \
	"--bs=1M --direct=1 --ioengine=libaio --iodepth=1 --size=8M" \
	"--bs=1M --direct=1 --ioengine=io_uring --iodepth=16 --size=24M" \
	"--bsrange=512-20k --direct=1 --ioengine=libaio --iodepth=8 --size=1M"
# Not invalidated: for that, fio punches a hole into a block device that it has mapped.
verified "buffered; written by mmap, read direct" \
	"--bs=4k --direct=0 --ioengine=psync --size=2M --end_fsync=1" \
	"--rw=write --bs=64k --direct=0 --ioengine=mmap --size=4M --end_fsync=1 --invalidate=0 --do_verify=0" \
	"--rw=read --bs=64k --direct=1 --ioengine=libaio --iodepth=4 --size=4M"

ktap_check "the disk says that it has a write cache" \
	test "$(cat "/sys/block/${disk#/dev/}/queue/write_cache")" = "write back"
ktap_check "the disk says that it knows FUA" test "$(cat "/sys/block/${disk#/dev/}/queue/fua")" = 1
if [[ -d $event ]]; then
	ktap_check "a write with O_DSYNC reaches the target with FUA" \
		target_saw 'nvme_cmd_write.*ctrl=0x4000' dd_write oflag=direct,dsync
	ktap_check "a write without has no FUA" \
		target_saw 'nvme_cmd_write.*ctrl=0x0,' dd_write oflag=direct
	ktap_check "fsync reaches the target as Flush" \
		target_saw 'nvme_cmd_flush' dd_write oflag=direct conv=fsync
else
	ktap_skip "FUA and Flush reach the target" "this kernel's nvmet has no tracepoint"
fi

ktap_check "fill 4 MiB" fill
ktap_check "zero one of them, without data" costs_no_data blkdiscard -z -o 1M -l 1M "$disk"
ktap_check "discard one, without data" costs_no_data blkdiscard -o 3M -l 1M "$disk"
ktap_check "those are zero and no others" only_those_are_zero
ktap_check "discard all" costs_no_data blkdiscard "$disk"
ktap_check "zero all" costs_no_data blkdiscard -z "$disk"
ktap_check "all is zero" is_zero 0 4
ktap_check "discarding off a block is refused" fails blkdiscard -o 100 -l 512 "$disk"

ktap_check "mkfs.ext4 and mount" filesystem
ktap_check "make a tree of files" tree
ktap_check "copy it" cp -r "$tmp/tree" "$tmp/mnt/"
ktap_check "unmount, drop caches, mount" remounted
ktap_check "the files are the same" diff -r "$tmp/tree" "$tmp/mnt/tree"
ktap_check "remove some, make others" change_files
ktap_check "trim what is free" bounded fstrim -v "$tmp/mnt"
ktap_check "the files are the same still" diff "$tmp/tree/large" "$tmp/mnt/again"
ktap_check "unmount" umount "$tmp/mnt"
ktap_check "e2fsck finds nothing" e2fsck -fn "$disk"

ktap_check "writing beyond the end" fails_saying "No space left" \
	dd if=/dev/zero of="$disk" bs=4k seek=$((64 * 256)) count=1 oflag=direct status=none
ktap_check "reading beyond the end gives nothing" test -z \
	"$(dd if="$disk" bs=4k skip=$((64 * 256)) count=1 iflag=direct status=none | head -c 1 | od -An -tx1)"

ktap_check "bad blocks in the target" bad_blocks +800-807
ktap_check "reading one gives EIO" fails_saying "Input/output error" \
	dd if="$disk" of=/dev/null bs=4k skip=100 count=1 iflag=direct status=none
ktap_check "its neighbours read" dd if="$disk" of=/dev/null bs=4k count=100 iflag=direct status=none
ktap_check "good again" bad_blocks -800-807
ktap_check "and it reads" dd if="$disk" of=/dev/null bs=4k skip=100 count=1 iflag=direct status=none

ktap_check "set the disk read-only" blockdev --setro "$disk"
ktap_check "writing is refused" fails dd_write oflag=direct
ktap_check "set it writable" blockdev --setrw "$disk"
ktap_check "write-protect the namespace in the target" write_protect 1
ktap_check "writing is an error" fails dd_write oflag=direct
ktap_check "reading is none" dd if="$disk" of=/dev/null bs=4k count=1 iflag=direct status=none
ktap_check "connect anew" reconnect
ktap_check "the disk is read-only from the start" test "$(blockdev --getro "$disk")" = 1
ktap_check "take the protection back" write_protect 0
ktap_check "connect anew" reconnect
ktap_check "the disk is writable" dd_write oflag=direct
world_end
