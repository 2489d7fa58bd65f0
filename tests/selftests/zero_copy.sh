#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Zero-copy, proved: page by page what the driver maps are the pages of the application's
# buffer, or those of the page cache. See zero_copy.c for how.
# timeout: 120
# quick: 6.12 6.1 uml uml-debug

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:zero-copy
zero_copy=$programs/zero_copy

# within_file MODE OFFSET PAGES: the same for a file on ext4.
ext4() {
	mkfs.ext4 -q -F "$disk" && mkdir -p "$tmp/mnt" && mount -t ext4 "$disk" "$tmp/mnt" &&
		dd if=/dev/urandom of="$tmp/mnt/file" bs=1M count=1 conv=fsync status=none
}

# Commands and registrations of what COMMAND... does: each command that has data and is
# not in the capsule registers once.
registrations_agree() {
	local before after commands inline
	before=$(json wr_reg) commands=$(json commands) inline=$(json inline)
	dd if="$disk" of=/dev/null bs=16k count=32 iflag=direct status=none &&
		dd if=/dev/zero of="$disk" bs=16k count=32 oflag=direct status=none || return
	after=$(json wr_reg)
	commands=$(($(json commands) - commands)) inline=$(($(json inline) - inline))
	echo "$commands commands, $inline in the capsule, $((after - before)) registrations"
	# a keep-alive or a flush of somebody has no data
	((after - before <= commands - inline && after - before >= 32 && commands >= 64))
}

bytes_agree() {
	local read written
	read=$(json bytes_read) written=$(json bytes_written)
	dd if="$disk" of=/dev/null bs=64k count=8 iflag=direct status=none &&
		dd if=/dev/zero of="$disk" bs=64k count=4 oflag=direct status=none || return
	read=$(($(json bytes_read) - read)) written=$(($(json bytes_written) - written))
	echo "read $read, written $written"
	((read == 8 * 65536 && written == 4 * 65536))
}

world_begin
if [[ ! -d /sys/kernel/tracing/events/kdp_host/kdp_map_page ]]; then
	ktap_not_ok "the tracepoint kdp_host:kdp_map_page is there"
	world_end
fi
ktap_check "target is up" target_up "$nqn" 32
connected "$KDP_ADDR" "$nqn"

points_from "$zero_copy" direct-read "$disk" 0 16
points_from "$zero_copy" direct-read "$disk" 0 1
points_from "$zero_copy" direct-read "$disk" 1048576 64
points_from "$zero_copy" direct-write "$disk" 65536 16
points_from "$zero_copy" direct-write "$disk" 65536 1
points_from "$zero_copy" buffered "$disk" 2097152 16
points_from "$zero_copy" buffered "$disk" 4194304 1
points_from "$zero_copy" writeback "$disk" 6291456 16
points_from "$zero_copy" writeback "$disk" 7340032 1

ktap_check "each command outside the capsule registers once" registrations_agree
ktap_check "bytes counted are bytes moved" bytes_agree

ktap_check "ext4 with a file" ext4
if mountpoint -q "$tmp/mnt"; then
	points_from "$zero_copy" buffered "$tmp/mnt/file" 0 16
	points_from "$zero_copy" buffered "$tmp/mnt/file" 524288 8
	points_from "$zero_copy" writeback "$tmp/mnt/file" 0 16
	points_from "$zero_copy" direct-read "$tmp/mnt/file" 0 16
	ktap_check "unmount" umount "$tmp/mnt"
fi

copied=$(json bytes_copied)
ktap_check "the module has copied no byte of data (bytes_copied is '$copied')" test "$copied" = 0
world_end
