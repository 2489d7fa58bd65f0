#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Registered regions: the calls and their errors, memory and files of all kinds, what may
# happen to them, what they save, and that they live and die when they should.
# timeout: 300
# quick: 6.12 6.1 uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/stats.sh"
. "$(dirname "$0")/filesystems.sh"
. "$(dirname "$0")/load.sh"
. "$(dirname "$0")/hold.sh"

nqn=nqn.io.kdp:regions
mounts=()

# A few huge pages, and whether a region of 1 GiB fits: it wants twice as much left.
huge_pages() {
	local free
	[[ -e /proc/sys/vm/nr_hugepages ]] || return 0
	free=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
	if ((kdp_slowness == 1 && free > 2500)); then
		echo 520 >/proc/sys/vm/nr_hugepages
		(($(</proc/sys/vm/nr_hugepages) >= 516)) && big=(--big 1073741824)
	else
		echo 8 >/proc/sys/vm/nr_hugepages
	fi
}

no_huge_pages() {
	[[ ! -e /proc/sys/vm/nr_hugepages ]] || echo 0 >/proc/sys/vm/nr_hugepages
}

# A file of an ext4 whose disk, a null_blk, cannot read one of its blocks.
unreadable_file() {
	local name=kdpt_unreadable node dir at
	node=$(target_backend $name 64 512) && dir=$nullb/$name || return
	mkfs.ext4 -q -b 4096 "$node" && mkdir -p "$tmp/bad" && mount -t ext4 "$node" "$tmp/bad" || return
	dd if=/dev/urandom of="$tmp/bad/file" bs=4k count=64 conv=fsync status=none || return
	at=$(filefrag -b4096 -v "$tmp/bad/file" | awk '$1 == "0:" { print $4 + 0 }')
	((at > 0)) || complain "where is it? $(filefrag -v "$tmp/bad/file")" || return
	echo "+$(((at + 40) * 8))-$(((at + 40) * 8 + 7))" >"$dir/badblocks" && drop_caches
}

readable_again() {
	umount "$tmp/bad"
	echo 0 >"$nullb/kdpt_unreadable/power" && rmdir "$nullb/kdpt_unreadable"
}

mrs() {
	rdma_objects
	echo "${objects[mr]}"
}

mrs_are() {
	local now
	now=$(mrs)
	((now == $1)) || complain "$now memory regions, not $1"
}

# --- what they save ---

saves() {
	local before after key
	before=$(counts wr_reg wr_local_inv remote_inv bytes_copied region_commands)
	hold_says '0 128' io 64 || return
	after=$(counts wr_reg wr_local_inv remote_inv bytes_copied region_commands)
	echo "before $before, after $after"
	for key in wr_reg wr_local_inv remote_inv bytes_copied; do
		(($(more $key "$before" "$after") == 0)) || return
	done
	(($(more region_commands "$before" "$after") == 128))
}

# --- connections ---

# survives_reset USES: of eight writes and reads, and of what else is under way.
survives_reset() {
	bounded kdp reset "$ctrl" && becomes live && hold_says '1 [1-9][0-9]*' list && hold_says "0 $1" io 8
}

lost_connection() {
	ktap_check "the target leaves" target_leaves
	ktap_check "the controller looks for it" becomes connecting
	ktap_check "the region stays, registered" hold_says '1 [1-9][0-9]*' list
	ktap_check "a command is refused meanwhile" hold_says EAGAIN io 1
	ktap_check "DEL meanwhile" hold_says 0 del
	ktap_check "ADD meanwhile" hold_says EAGAIN add
	ktap_check "the target returns" target_returns
	ktap_check "the controller finds it" becomes live
	ktap_check "ADD then" hold_says 0 add
	ktap_check "I/O uses it" hold_says '0 16' io 8
	ktap_check "the target leaves again" target_leaves
	ktap_check "the controller looks for it" becomes connecting
	ktap_check "the target returns again" target_returns
	ktap_check "the controller finds it" becomes live
	ktap_check "the region is registered again" hold_says '1 [1-9][0-9]*' list
	ktap_check "I/O uses it" hold_says '0 16' io 8
}

world_begin
ktap_check "target is up" target_up "$nqn" 16
big=()
huge_pages
mount_all
calm
connected "$KDP_ADDR" "$nqn" --reconnect-delay 1
look
quiet=$(mrs)

points_from "$programs/region_abi" "/dev/$ctrl" "$char" 1
points_from "$programs/region_memory" "/dev/$ctrl" "$char" 1 "${mounts[@]}"
points_from "$programs/region_change" "${big[@]}" "/dev/$ctrl" "$char" 1 "${mounts[@]}"
no_huge_pages
ktap_check "a file with a block that cannot be read" unreadable_file
points_from "$programs/region_memory" --unreadable "$tmp/bad/file" "/dev/$ctrl" "$char" 1
ktap_check "it goes" readable_again
ktap_check "the filesystems unmount" unmount_all
ktap_check "the connection has lived through it" state_is live
ktap_check "all memory regions went back" mrs_are "$quiet"

hold_begin 262144
ktap_check "ADD" hold_says 0 add
ktap_check "I/O in a region registers, invalidates and copies nothing" saves
ktap_check "it survives a reset" survives_reset 16
ktap_check "and another, with 128 commands in flight" hold_says begun flood
ktap_check "the reset" survives_reset "[0-9]+"
ktap_check "commands in flight have ended" hold_says '[0-9]+ (0|ENOTCONN|status 0x.*)' ended
ktap_check "I/O uses it as before" hold_says '0 16' io 8
lost_connection
ktap_check "DEL" hold_says 0 del
hold_ends 0 "its holder ends"
ktap_check "all memory regions went back" wait_until 20 mrs_are "$quiet"

hold_begin 262144
ktap_check "ADD" hold_says 0 add
ktap_check "128 commands at a time" hold_says begun flood-and-hang
kill -KILL "$holder"
hold_ends 137 "kill -9 with them in flight"
ktap_check "kill -9: all memory regions went back" wait_until 20 mrs_are "$quiet"
ktap_check "kill -9: the connection lives" state_is live
ktap_check "kill -9: the disk reads" dd if="$disk" of=/dev/null bs=64k count=4 iflag=direct status=none

hold_begin 262144
ktap_check "ADD" hold_says 0 add
ktap_check "128 commands at a time" hold_says begun flood
ktap_check "disconnect with a region and commands in flight" disconnect "$ctrl"
ktap_check "they have ended" hold_says '[0-9]+ (ENODEV|ENOTCONN|EIO|status 0x.*)' ended
ktap_check "nothing is left, though the file is open" nothing_left
ktap_check "a command in the region that is gone" hold_says ENODEV io 1
ktap_check "ADD after a disconnect" hold_says ENODEV add
hold_ends 0 "its holder ends"

connected "$KDP_ADDR" "$nqn"
hold_begin 262144
ktap_check "ADD" hold_says 0 add
ktap_check "the RDMA device goes with a region" device_goes
ktap_check "a command after it" hold_says ENODEV io 1
hold_ends 0 "its holder ends"
ktap_check "the RDMA device comes back" device_comes_back
world_end
