#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What one path writes, each other path reads: our block device, our char device by
# nvme-cli, libkdp's kernel:, block:, verbs: and tcp: paths, the in-tree driver, and the
# target's own backend. Then libkdp's paths among themselves, in I/Os of all sizes and
# depths; with more than 2 MiB in flight (64 MiB on uml) only with FULL=1, which takes a minute on uml.
# One subsystem, reachable by RDMA and by TCP.
# timeout: 600
# quick: 6.12 uml

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:cross-path
size=32768
names=(disk nvme-cli kernel uring region block verbs tcp stock backend)

# Writes go to a place of their own each, in units of $size.
path_write() {
	local place=$1 name=$2 file=$3
	case $name in
	disk) dd if="$file" of="$disk" bs="$size" seek="$place" oflag=direct status=none ;;
	stock) dd if="$file" of="$stock" bs="$size" seek="$place" oflag=direct status=none ;;
	backend) dd if="$file" of="$backend" bs="$size" seek="$place" oflag=direct status=none ;;
	nvme-cli) nvme write "$char" -s $((place * size / 512)) -c $((size / 512 - 1)) -z "$size" -d "$file" ;;
	*) "$programs/path_io" "${uris[$name]}" write $((place * size)) "$size" "$file" ;;
	esac
}

# All places at once.
path_read_all() {
	local name=$1 file=$2 all=$((size * ${#names[@]}))
	rm -f "$file"
	case $name in
	disk) dd if="$disk" of="$file" bs="$all" count=1 iflag=direct status=none ;;
	stock) dd if="$stock" of="$file" bs="$all" count=1 iflag=direct status=none ;;
	backend) dd if="$backend" of="$file" bs="$all" count=1 iflag=direct status=none ;;
	nvme-cli) nvme read "$char" -s 0 -c $((all / 512 - 1)) -z "$all" -d "$file" ;;
	*) "$programs/path_io" "${uris[$name]}" read 0 "$all" "$file" ;;
	esac
}

same_place() {
	cmp -i $(($1 * size)):0 -n "$size" "$tmp/back" "$tmp/data.$1"
}

# Through the page cache both ways: written buffered and synced, read buffered anew.
buffered_agrees() {
	random_file "$tmp/buffered" 1000448
	dd if="$tmp/buffered" of="$disk" bs=4000 seek=500 conv=fsync,notrunc status=none &&
		blockdev --flushbufs "$stock" &&
		dd if="$stock" bs=512 skip=$((2000000 / 512)) count=2000 status=none |
		tail -c +$((2000000 % 512 + 1)) | head -c 1000448 | cmp - "$tmp/buffered"
}

world_begin
[[ -x $programs/path_io && -x $programs/cross_io ]] || {
	ktap_not_ok "path_io and cross_io are built" "build the library, then: make -C tests/selftests"
	world_end
}
# A queue of 128 entries, as nvmet has unless it is told, holds 127 commands.
export TARGET_QUEUE_SIZE=256
ktap_check "target is up" target_up --transports rdma,tcp "$nqn" 128
deepest=127
! cat "$nvmet"/ports/*/param_max_queue_size >/dev/null 2>&1 || deepest=128
connected "$KDP_ADDR" "$nqn"
declare -A uris=(
	[kernel]="kernel:$char"
	[uring]="kernel:$char?mode=uring"
	[region]="kernel:$char?mode=uring&buffers=region"
	[block]="block:$disk"
	[verbs]="verbs://$KDP_ADDR:4420/$nqn?nsid=1"
	[tcp]="tcp://$KDP_ADDR:4420/$nqn?nsid=1"
)
limit=2M
[[ ${MACHINE:-stock} != uml ]] || limit=64M
[[ ${FULL:-} != 1 ]] || limit=128M
stock=$(nvme_connect_stock "$nqn") || ktap_not_ok "the in-tree driver connects" "$stock"
backend=$(cat "$nvmet/subsystems/$nqn/namespaces/1/device_path")

for place in "${!names[@]}"; do
	random_file "$tmp/data.$place" "$size"
	ktap_check "${names[place]} writes" path_write "$place" "${names[place]}" "$tmp/data.$place"
done
for reader in "${names[@]}"; do
	ktap_check "$reader reads" path_read_all "$reader" "$tmp/back" || continue
	for place in "${!names[@]}"; do
		ktap_check "$reader has what ${names[place]} wrote" same_place "$place"
	done
done
ktap_check "the in-tree driver reads what our page cache wrote" buffered_agrees
points_time=$((8 * patience))
points_from "$programs/cross_io" --limit "$(numfmt --from=iec "$limit")" --deepest "$deepest" "${uris[@]}" \
	"${uris[tcp]}&hdgst=1&ddgst=1"
world_end
