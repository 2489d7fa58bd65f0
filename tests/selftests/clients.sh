#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Unmodified clients of the passthrough ABI: nvme-cli, and fio with its engine for io_uring
# commands. What kernel, target or client lack is skipped, where the in-tree driver shows
# that it is not us: `optional` tries again with that.
#
#   tests/vm/run -- tests/selftests/clients.sh --stock     all with the in-tree driver
# timeout: 240
# quick: 6.12 6.1 uml

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/stats.sh"

nqn=nqn.io.kdp:clients
stock_nqn=nqn.io.kdp:clients-in-tree

fio_size=1M
[[ $MACHINE != uml* ]] || fio_size=256k

# optional NAME COMMAND...: with our nodes, and where that fails with the in-tree driver's.
optional() {
	local name=$1 text rc=0
	shift
	text=$("$@" 2>&1) || rc=$?
	if ((rc == 0)); then
		ktap_ok "$name"
	elif (use_stock; "$@") >"$tmp/stock" 2>&1; then
		ktap_not_ok "$name" "status $rc, and 0 with the in-tree driver:"$'\n'"$text"
	else
		ktap_skip "$name" "nor by the in-tree driver: $(tail -n 1 "$tmp/stock")"
	fi
}

# polled NAME COMMAND...: the same, but for 6.1, whose in-tree driver oopses when it is polled.
polled() {
	if [[ $KVER != 6.1.* ]]; then
		optional "$@"
	elif ((!stock)); then
		ktap_check "$@"
	else
		ktap_skip "$1" "6.1 oopses in bio_poll"
	fi
}

use_stock() {
	node=$stock_node char=$stock_char
}

# says PATTERN COMMAND...: it succeeds and prints that.
says() {
	local pattern=$1 text rc=0
	shift
	text=$(bounded "$@" 2>&1) || rc=$?
	((rc == 0)) && grep -qE "$pattern" <<<"$text" || complain "status $rc:"$'\n'"$text"
}

# --- nvme-cli ---

nvme_write() {
	bounded nvme write "$char" -s "$1" -c $(($2 / 512 - 1)) -z "$2" -d "$3"
}

nvme_read() {
	rm -f "$3"
	bounded nvme read "$char" -s "$1" -c $(($2 / 512 - 1)) -z "$2" -d "$3"
}

write_and_read() {
	random_file "$tmp/out" "$1"
	nvme_write 64 "$1" "$tmp/out" && nvme_read 64 "$1" "$tmp/in" && same_bytes "$tmp/out" "$tmp/in"
}

zeroes_at() {
	nvme_read "$1" 4096 "$tmp/in" && cmp -n 4096 "$tmp/in" /dev/zero
}

write_zeroes() {
	random_file "$tmp/out" 8192
	nvme_write 128 8192 "$tmp/out" || return
	bounded nvme write-zeroes "$char" -n 1 -s 128 -c 7 && zeroes_at 128 &&
		nvme_read 136 4096 "$tmp/in" && cmp -i 0:4096 -n 4096 "$tmp/in" "$tmp/out"
}

# A discarded block of this target reads as zeroes.
deallocate() {
	random_file "$tmp/out" 4096
	nvme_write 256 4096 "$tmp/out" || return
	bounded nvme dsm "$char" -n 1 -d -s 256 -b 8 && zeroes_at 256
}

compare_agrees() {
	random_file "$tmp/out" 4096
	nvme_write 320 4096 "$tmp/out" &&
		bounded nvme compare "$char" -s 320 -c 7 -z 4096 -d "$tmp/out"
}

verify() {
	bounded nvme verify "$char" -n 1 -s 0 -c 7
}

io_passthru() {
	random_file "$tmp/out" 4096
	bounded nvme io-passthru "$char" --opcode=1 --namespace-id=1 --data-len=4096 --write \
		--cdw10=512 --cdw12=7 -i "$tmp/out" || return
	bounded nvme io-passthru "$char" --opcode=2 --namespace-id=1 --data-len=4096 --read \
		--cdw10=512 --cdw12=7 -b >"$tmp/in" && same_bytes "$tmp/out" "$tmp/in"
}

admin_passthru() {
	bounded nvme id-ctrl "$node" -b >"$tmp/a" &&
		bounded nvme admin-passthru "$node" --opcode=6 --cdw10=1 --data-len=4096 --read -b >"$tmp/b" &&
		[[ $(stat -c %s "$tmp/a") == 4096 ]] && same_bytes "$tmp/a" "$tmp/b"
}

reset() {
	bounded nvme reset "$node" && wait_until "$patience" is_live
}

nvme_clients() {
	ktap_check "nvme id-ctrl" says "^subnqn *: *$nqn" nvme id-ctrl "$node"
	ktap_check "nvme id-ns" says '^nsze *: *0x8000' nvme id-ns "$char"
	ktap_check "nvme list-ns" says '0x1$' nvme list-ns "$node"
	ktap_check "nvme get-feature" says 'get-feature' nvme get-feature "$node" -f 7
	ktap_check "nvme smart-log" says critical_warning nvme smart-log "$node"
	ktap_check "nvme error-log" says 'Error Log Entries' nvme error-log "$node" -e 1
	ktap_check "nvme write and read 512 bytes" write_and_read 512
	ktap_check "nvme write and read 4096 bytes" write_and_read 4096
	ktap_check "nvme write and read 128 KiB" write_and_read 131072
	ktap_check "nvme flush" bounded nvme flush "$char" -n 1
	ktap_check "nvme write-zeroes" write_zeroes
	ktap_check "nvme dsm" deallocate
	optional "nvme compare" compare_agrees
	optional "nvme verify" verify
	ktap_check "nvme io-passthru" io_passthru
	ktap_check "nvme admin-passthru" admin_passthru
	ktap_check "nvme reset" reset
	ktap_check "nvme write and read after it" write_and_read 4096
}

# --- fio ---

# fio_verifies OPTION...: writes at random, reads back, compares checksums.
fio_verifies() {
	bounded fio --name=t --filename="$char" --ioengine=io_uring_cmd --cmd_type=nvme --rw=randwrite --bs=4k \
		--size="$fio_size" --verify=crc32c --verify_fatal=1 --minimal "$@" >"$tmp/fio" 2>&1 ||
		complain "$(tail -n 5 "$tmp/fio")"
}

fio_clients() {
	local depth
	for depth in 1 128; do
		optional "fio, depth $depth" fio_verifies --iodepth="$depth"
		optional "fio --fixedbufs, depth $depth" fio_verifies --iodepth="$depth" --fixedbufs
		optional "fio --sqthread_poll, depth $depth" fio_verifies --iodepth="$depth" --sqthread_poll
		polled "fio --hipri, depth $depth" fio_verifies --iodepth="$depth" --hipri
	done
	polled "fio --registerfiles --fixedbufs --hipri --sqthread_poll, depth 32" \
		fio_verifies --iodepth=32 --registerfiles --fixedbufs --hipri --sqthread_poll
	optional "fio, many sizes, depth 16" fio_verifies --bs=4k-64k --iodepth=16
	optional "fio --nonvectored=0, depth 16" fio_verifies --nonvectored=0 --iodepth=16
	optional "fio, two jobs, depth 16" fio_verifies --numjobs=2 --offset_increment=2M --iodepth=16
}

polled_commands() {
	look
	count poll commands
}

is_live() {
	if ((stock)); then
		[[ $(</sys/class/nvme/nvme0/state) == live ]]
	else
		[[ $(json state) == live ]]
	fi
}

stock=0
if [[ ${1:-} == --stock ]]; then
	stock=1 nqn=$stock_nqn
	rdma_up || exit
else
	world_begin
	ktap_check "target is up" target_up "$nqn" 16
fi
ktap_check "target for the in-tree driver is up" target_up "$stock_nqn" 16
stock_disk=$(nvme_connect_stock "$stock_nqn" "$KDP_ADDR" 4420 --nr-poll-queues=1) ||
	ktap_not_ok "the in-tree driver connects" "$stock_disk"
stock_node=/dev/nvme0 stock_char=/dev/ng${stock_disk#/dev/nvme}

if ((stock)); then
	use_stock
	nvme_clients
	fio_clients
	ktap_check "the connection has lived through it" is_live
	ktap_done
fi
connected "$KDP_ADDR" "$nqn" -P 1 --cq-mode event
node=/dev/$ctrl
nvme_clients
before=$(polled_commands)
fio_clients
after=$(polled_commands)
ktap_check "fio --hipri is polled for ($((after - before)) commands)" test "$after" -gt "$before"
ktap_check "the connection has lived through it" is_live
world_end
