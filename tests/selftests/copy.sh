#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# `kdp copy`: from the page cache to the wire and back, without a buffer between, and what it refuses.
# timeout: 150
# quick: 6.12 6.1 uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/stats.sh"
. "$(dirname "$0")/filesystems.sh"

nqn=nqn.io.kdp:copy
zero_copy=$programs/zero_copy
keys=(commands bytes_read bytes_written wr_reg wr_local_inv remote_inv bytes_copied region_commands)
mb=8 mounts=()

copy() {
	bounded kdp copy "$@"
}

# on_disk OFFSET FILE: what lies there, read by way of the disk, is the file.
on_disk() {
	dd if="$disk" bs=4k skip=$(($1 / 4096)) count=$(($(stat -c %s "$2") / 4096)) iflag=direct status=none | cmp - "$2"
}

# costs KEY NUMBER
costs() {
	local now
	now=$(more "$1" "$before" "$after")
	((now == $2)) || complain "$1: $now, not $2"
}

# only_moved KEY BYTES: so many, and nothing registered, invalidated or copied for a command.
only_moved() {
	local key
	costs "$1" "$2" || return
	for key in wr_reg wr_local_inv remote_inv bytes_copied; do costs "$key" 0 || return; done
	# one command may be the Flush
	costs region_commands "$(more commands "$before" "$after")" ||
		costs region_commands $(($(more commands "$before" "$after") - 1))
}

# refuses WORDS OPTION...
refuses() {
	local words=$1 text
	shift
	! text=$(copy "$@" 2>&1) || complain "it copies" || return
	[[ $text == *"$words"* ]] || complain "$text"
}

# With 128 KiB of locked memory, as nobody: chunk by chunk.
as_nobody() {
	chmod 666 "$char"
	chmod 755 "$tmp"
	(ulimit -l 128 && bounded setpriv --reuid=65534 --clear-groups kdp copy "$file" "$char" --no-flush)
}

world_begin
ktap_check "target is up" target_up "$nqn" 64
connected "$KDP_ADDR" "$nqn"
mount_all

for mount in "${mounts[@]}"; do
	type=${mount%%:*} file=${mount#*:}/file
	random_file "$file" $((mb << 20))
	before=$(counts "${keys[@]}")
	ktap_check "$type: a file goes to the namespace" copy "$file" "$char@4m"
	after=$(counts "${keys[@]}")
	ktap_check "$type: it is there" on_disk $((4 << 20)) "$file"
	ktap_check "$type: by regions alone, no byte copied" only_moved bytes_written $((mb << 20))
done
# tmpfs is there always
[[ $file -ef $tmp/tmpfs/file ]] || cp "$file" "$tmp/tmpfs/file"
before=$(counts "${keys[@]}")
ktap_check "a part of the namespace goes to a file on tmpfs" copy "$char@4m" "$tmp/tmpfs/back" --length "${mb}m"
after=$(counts "${keys[@]}")
file=$tmp/tmpfs/file
ktap_check "it is the same" cmp "$file" "$tmp/tmpfs/back"
ktap_check "by regions alone, no byte copied" only_moved bytes_read $((mb << 20))
for mount in "${mounts[@]}"; do
	type=${mount%%:*}
	[[ $type != tmpfs ]] || continue
	ktap_check "$type: a file there cannot receive" refuses tmpfs "$char" "${mount#*:}/back" --length 1m
	ktap_check "$type: but for --buffered" copy "$char@4m" "${mount#*:}/back" --length "${mb}m" --buffered
	ktap_check "$type: the same then" cmp "$file" "${mount#*:}/back"
done

# Which pages they are, frame by frame: in chunks, so that a part is proof for all.
random_file "$tmp/tmpfs/part" $((1 << 20))
for mount in "${mounts[@]}"; do
	type=${mount%%:*} part=${mount#*:}/part
	cp "$tmp/tmpfs/part" "$part.new" && mv "$part.new" "$part"
	points_from "$zero_copy" sent "$part" 0 256 kdp copy "$part" "$char@16m" --chunk 256k
done
truncate -s 1M "$tmp/tmpfs/in"
points_from "$zero_copy" received "$tmp/tmpfs/in" 0 256 kdp copy "$char@16m" "$tmp/tmpfs/in" --length 1m
ktap_check "they hold what was sent" cmp "$tmp/tmpfs/part" "$tmp/tmpfs/in"

for mode in ioctl uring; do
	random_file "$file" $((1 << 20))
	ktap_check "--mode $mode" copy "$file" "$char" --mode "$mode" --bs 64k --depth 4
	ktap_check "--mode $mode: it is there" on_disk 0 "$file"
done
random_file "$file" $((2 << 20))
ktap_check "as nobody, with little locked memory" as_nobody
ktap_check "as nobody: it is there" on_disk 0 "$file"

random_file "$tmp/tmpfs/odd" 100001
ktap_check "a file that ends within a block is refused" refuses "block" "$tmp/tmpfs/odd" "$char"
ktap_check "--pad fills it up" copy "$tmp/tmpfs/odd" "$char" --pad
ktap_check "--pad: it is there" cmp -n 100001 "$disk" "$tmp/tmpfs/odd"
ktap_check "an offset within a block" refuses "block" "$file" "$char@100"
ktap_check "beyond the end" refuses "than the" "$file" "$char@63m"
ktap_check "no such file" refuses "$tmp/none" "$tmp/none" "$char"
: >"$tmp/tmpfs/empty"
ktap_check "an empty file" refuses "empty" "$tmp/tmpfs/empty" "$char"
ktap_check "two files" refuses "one is the character device" "$file" "$tmp/other"
ktap_check "the filesystems unmount" unmount_all
ktap_check "the connection has lived through it" test "$(json state)" = live
world_end
