#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Passthrough: unmodified nvme-cli on our nodes, and the ioctls used rightly and wrongly.
# timeout: 150
# quick: 6.12 6.1 uml uml-debug

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:passthrough

# says PATTERN COMMAND...: it succeeds and prints that.
says() {
	local pattern=$1 text rc=0
	shift
	text=$(bounded "$@" 2>&1) || rc=$?
	((rc == 0)) && grep -qE "$pattern" <<<"$text" || complain "status $rc:"$'\n'"$text"
}

nvme_write_read() {
	random_file "$tmp/out" "$3"
	rm -f "$tmp/in"
	bounded nvme write "$1" -s "$2" -c $(($3 / 512 - 1)) -z "$3" -d "$tmp/out" &&
		bounded nvme read "$1" -s "$2" -c $(($3 / 512 - 1)) -z "$3" -d "$tmp/in" &&
		same_bytes "$tmp/out" "$tmp/in"
}

# The raw Identify data by three ways; `nvme id-ctrl -b` and admin-passthru must agree.
identify_agrees() {
	bounded nvme id-ctrl "/dev/$ctrl" -b >"$tmp/a" &&
		bounded nvme admin-passthru "/dev/$ctrl" --opcode=6 --cdw10=1 --data-len=4096 --read -b >"$tmp/b" &&
		bounded nvme id-ctrl "$char" -b >"$tmp/c" &&
		[[ $(stat -c %s "$tmp/a") == 4096 ]] &&
		same_bytes "$tmp/a" "$tmp/b" && same_bytes "$tmp/a" "$tmp/c"
}

# The target may answer with an error or, as nvmet does, with zeroes.
no_namespace_2() {
	local text
	! text=$(bounded nvme id-ns "/dev/$ctrl" -n 2 2>&1) || grep -q '^nsze *: *0$' <<<"$text"
}

io_passthru_reads() {
	bounded nvme io-passthru "$char" --opcode=2 --namespace-id=1 --data-len=4096 --read \
		--cdw10=64 --cdw12=7 -b >"$tmp/in" && head -c 4096 "$tmp/out" | cmp - "$tmp/in"
}

world_begin
ktap_check "target is up" target_up "$nqn" 16
connected "$KDP_ADDR" "$nqn"

ktap_check "nvme id-ctrl" says "^subnqn *: *$nqn" nvme id-ctrl "/dev/$ctrl"
ktap_check "nvme id-ctrl by three ways" identify_agrees
ktap_check "nvme id-ns on the namespace's char device" says '^nsze *: *0x8000' nvme id-ns "$char"
ktap_check "nvme id-ns -n 1 on the controller" says '^nsze *: *0x8000' nvme id-ns "/dev/$ctrl" -n 1
ktap_check "nvme id-ns -n 2 shows none" no_namespace_2
ktap_check "nvme list-ns" says '0x1$' nvme list-ns "/dev/$ctrl"
ktap_check "nvme get-ns-id" says 'namespace-id: *1' nvme get-ns-id "$char"
ktap_check "nvme smart-log" says critical_warning nvme smart-log "/dev/$ctrl"
ktap_check "nvme get-feature" says 'get-feature' nvme get-feature "/dev/$ctrl" -f 7
ktap_check "nvme write and read 512 bytes" nvme_write_read "$char" 0 512
ktap_check "nvme write and read 4096 bytes" nvme_write_read "$char" 8 4096
ktap_check "nvme write and read 64 KiB" nvme_write_read "$char" 64 65536
ktap_check "nvme io-passthru" io_passthru_reads
ktap_check "nvme ns-rescan" bounded nvme ns-rescan "/dev/$ctrl"
ktap_check "nvme flush" bounded nvme flush "$char"
ktap_check "nvme read beyond the end fails" fails nvme read "$char" -s 32768 -c 7 -z 4096 -d "$tmp/none"
ktap_check "nvme io-passthru of an unknown opcode fails" \
	fails nvme io-passthru "$char" --opcode=0x70 --namespace-id=1

points_from "$programs/ioctl_abi" "/dev/$ctrl" "$char" 1
points_from "$programs/ioctl_abi" "/dev/$ctrl" "$disk" 1

# A partition, whose node everybody may read and write.
partition_read() {
	bounded "$@" nvme io-passthru "$partition" --opcode=2 --namespace-id=1 --data-len=4096 --read --cdw12=7 -b >/dev/null
}

partition_refused() {
	local text
	! text=$(partition_read setpriv --reuid=65534 --clear-groups 2>&1) && [[ $text == *'Permission denied'* ]] || complain "$text"
}

partition_identify_refused() {
	local text
	! text=$(bounded setpriv --reuid=65534 --clear-groups nvme id-ns "$partition" -n 1 2>&1) && [[ $text == *'Permission denied'* ]] ||
		complain "$text"
}

partition=${disk}p1
ktap_check "a partition" addpart "$disk" 1 2048 2048
chmod 666 "$partition"
ktap_check "its ioctls are for root" partition_read
ktap_check "not for who may only open it" partition_refused
ktap_check "not even Identify" partition_identify_refused
ktap_check "the partition goes" delpart "$disk" 1
# Served although misaligned: then the block layer copied, and that was counted.
served_is_counted() {
	local copied
	copied=$(json bytes_copied)
	echo "bytes_copied is $copied"
	((copied > 0))
}
ktap_check "misaligned buffers show in bytes_copied" served_is_counted
ktap_check "the connection has lived through it" test "$(json state)" = live
world_end
