#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Many at once, and many times: controllers with several namespaces, all under I/O; connect
# and disconnect over and over, and memory stays flat. SCALE="CONTROLLERS NAMESPACES CYCLES".
# timeout: 3000
# quick: 6.12 uml

. "$(dirname "$0")/common.sh"

scale=${SCALE:-2 2 12}
((!${FULL:-0})) || scale=${SCALE:-8 4 1000}
read -r controllers namespaces cycles <<<"$scale"

nqn=nqn.io.kdp:scale

targets_up() {
	local i
	for ((i = 0; i < controllers; i++)); do
		target_up --namespaces "$namespaces" "$nqn$i" 16 || return
	done
}

connect_all() {
	local i name
	for ((i = 0; i < controllers; i++)); do
		name=$(connect "$KDP_ADDR" "$nqn$i") && [[ $name == "kdp$i" ]] || complain "controller $i: $name" || return
	done
}

all_nodes() {
	local i
	for ((i = 0; i < controllers; i++)); do
		# shellcheck disable=SC2046 # numbers
		nodes_of "kdp$i" $(seq "$namespaces") || return
	done
}

lists_all() {
	local live
	live=$(bounded kdp list --json | grep -c '"state": "live"')
	((live == controllers)) || complain "$live are live"
}

io_everywhere() {
	local i n jobs=()
	for ((i = 0; i < controllers; i++)); do
		for ((n = 1; n <= namespaces; n++)); do
			jobs+=(--name="c${i}n$n" --filename="/dev/kdp${i}n$n")
		done
	done
	timeout -k 5 $((4 * patience)) fio --thread --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=8 \
		--size=1M --verify=crc32c --verify_fatal=1 --verify_state_save=0 --minimal "${jobs[@]}"
}

own_bytes() {
	local i n
	for ((i = 0; i < controllers; i++)); do
		for ((n = 1; n <= namespaces; n++)); do
			"$1" "/dev/kdp${i}n$n" "disk $i $n" || return
		done
	done
}

mark() {
	printf '%-512s' "$2" | dd of="$1" bs=512 oflag=direct status=none
}

is_marked() {
	local text
	text=$(dd if="$1" bs=512 count=1 iflag=direct status=none)
	[[ $text == "$2 "* ]] || complain "$1 holds '${text:0:20}', not '$2'"
}

cycles_of() {
	local i name
	for ((i = 0; i < $1; i++)); do
		name=$(connect "$KDP_ADDR" "$nqn$((i % controllers))") && disconnect "$name" || complain "cycle $i: $name" || return
	done
}

# Bytes of the kernel's own memory: slabs that cannot be reclaimed, percpu, vmalloc, stacks.
kernel_memory() {
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^(SUnreclaim|KernelStack|PageTables|Percpu|VmallocUsed):/ { sum += $2 } END { print sum * 1024 }' /proc/meminfo
}

# Grown by no more than so many bytes, once everything that is freed late is freed.
memory_is_flat() {
	local now
	now=$(kernel_memory)
	((now - memory <= slack)) || complain "$(((now - memory) >> 10)) KiB more than before, $(((now - memory) / cycles)) bytes a cycle"
}

objects_are_as() {
	rdma_objects
	[[ ${objects[mr]} == "$mrs" && ${objects[qp]} == "$qps" ]] || complain "MRs $mrs before, ${objects[mr]} now; QPs $qps, ${objects[qp]}"
}

world_begin
ktap_check "$controllers targets are up" targets_up
calm
ktap_check "$controllers controllers connect" connect_all
ktap_check "with $namespaces namespaces each" all_nodes
ktap_check "kdp list shows them all, live" lists_all
ktap_check "I/O on all of them at once" io_everywhere
ktap_check "each disk is marked" own_bytes mark
ktap_check "and is itself" own_bytes is_marked
ktap_check "they disconnect all at once" disconnect --all
ktap_check "nothing is left" nothing_left

# What a cycle allocates for the first time comes before.
ktap_check "connect and disconnect, to begin with" cycles_of "$((cycles / 10 + 1))"
rdma_objects
mrs=${objects[mr]} qps=${objects[qp]} memory=$(kernel_memory)
# A leak of the smallest slab object in each cycle would show in a thousand. Under KASAN
# freed memory stays for a while: there kmemleak watches.
slack=$((1 << 20))
ktap_check "connect and disconnect $cycles times" cycles_of "$cycles"
ktap_check "MRs and QPs are as many as before" wait_until 20 objects_are_as
if leaks_watched; then
	ktap_skip "memory is flat" "KASAN keeps what was freed, kmemleak watches"
else
	ktap_check "memory is flat" wait_until 10 memory_is_flat
fi
echo "# $((($(kernel_memory) - memory) >> 10)) KiB more after $cycles cycles, ${objects[mr]} MRs as before"
ktap_check "nothing is left" nothing_left
world_end
