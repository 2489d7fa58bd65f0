#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The programs of examples/, with libkdp.so: they read the same bytes by every path, say what is
# wrong in a sentence, and leave nothing behind.
# timeout: 240
# quick: 6.12

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:examples
built=$KDP_REPO/build/user/examples
verbs="verbs://$KDP_ADDR:4420/$nqn?nsid=1"
lba=5

# What read_block prints of the block, and what it holds.
reads() {
	local got
	got=$(bounded "$built/read_block" "$1" "$lba") || complain "$got" || return
	[[ $(tail -n 4 <<<"$got") == "$expected" ]] || complain "$got" "instead of" "$expected"
}

# compares URI URI: as many reads of each as it was told.
compares() {
	local text
	text=$(bounded "$built/compare_latency" "$1" "$2" 50) || complain "$text" || return
	[[ $(awk '$5 == 50 && $1 > 0 && $4 >= $3' <<<"$text" | wc -l) == 2 ]] || complain "$text"
}

# One registration, and no more system calls than batches (eight of sixteen).
one_registration() {
	local text
	text=$(bounded "$built/uring_region" "$char") || complain "$text" || return
	[[ $text == "128 reads of 512 bytes: "[1-8]" system calls that submit, 1 registrations" ]] ||
		complain "$text"
}

# says TEXT COMMAND...: status 1, and that sentence.
says() {
	local want=$1 text rc=0
	shift
	text=$(bounded "$@" 2>&1) || rc=$?
	[[ $rc == 1 && $text == *"$want"* ]] || complain "status $rc:" "$text"
}

world_begin
[[ -x $built/read_block ]] || {
	ktap_not_ok "the examples are built" "missing in $built; build them: make tools"
	world_end
}
ktap_check "target is up" target_up "$nqn" 16
calm
connected "$KDP_ADDR" "$nqn"
random_file "$tmp/data" 4096
ktap_check "something is written" dd if="$tmp/data" of="$disk" bs=4096 oflag=direct status=none
expected=$(tail -c +$((lba * 512 + 1)) "$tmp/data" | head -c 64 | od -An -v -tx1 | sed 's/^ //')

for uri in "block:$disk" "kernel:$char" "kernel:$char?mode=uring" \
	"kernel:$char?mode=uring&buffers=region" "$verbs"; do
	ktap_check "read_block: $uri" reads "$uri"
done
ktap_check "compare_latency: block: and kernel:" compares "block:$disk" "kernel:$char?mode=uring&buffers=region"
ktap_check "compare_latency: block: and verbs:" compares "block:$disk" "$verbs"
ktap_check "uring_region: one registration" one_registration

ktap_check "read_block: a block behind the end" says "read of block 99999999: " \
	"$built/read_block" "block:$disk" 99999999
ktap_check "read_block: the same by verbs" says "read of block 99999999: " \
	"$built/read_block" "$verbs" 99999999
ktap_check "read_block: no such subsystem" says "nqn.io.kdp:other" \
	"$built/read_block" "verbs://$KDP_ADDR:4420/nqn.io.kdp:other"
ktap_check "read_block: no path" says "is no path that kdp knows" "$built/read_block" "nfs:/x"
stock=$(nvme_connect_stock "$nqn") || ktap_not_ok "the in-tree driver connects" "$stock"
ktap_check "uring_region: the in-tree driver has no regions" says "has no regions" \
	"$built/uring_region" "/dev/ng${stock#/dev/nvme}"
ktap_check "the in-tree driver disconnects" nvme_disconnect_stock "$nqn"
ktap_check "disconnect" disconnect "$ctrl"
ktap_check "nothing left" nothing_left
world_end
