#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Namespaces that come, go, grow and shrink while we are connected, with I/O running. The stock
# target tells of it: the disks follow without a command of ours.
# timeout: 180
# quick: 6.12 6.1 uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/load.sh"

nqn=nqn.io.kdp:rescan
subsys=$nvmet/subsystems/$nqn

# backing NSID MB: its file.
backing() {
	truncate -s "$2M" "$tmp/ns$1"
}

# enable NSID [UUID]: a namespace on its file, made when it is not there.
enable() {
	local dir=$subsys/namespaces/$1
	mkdir -p "$dir" || return
	echo "$tmp/ns$1" >"$dir/device_path" && echo 1 >"$dir/buffered_io" || return
	[[ -z ${2:-} ]] || echo "$2" >"$dir/device_uuid" || return
	echo 1 >"$dir/enable"
}

disable() {
	echo 0 >"$subsys/namespaces/$1/enable"
}

# resize NSID MB: and the target looks.
resize() {
	backing "$1" "$2" && echo 1 >"$subsys/namespaces/$1/revalidate_size"
}

appear() {
	wait_until "$patience" nodes_of "$ctrl" "$@" 2>/dev/null || nodes_of "$ctrl" "$@"
}

is_gone() {
	[[ ! -e /dev/${ctrl}n$1 && ! -e /dev/kdpg${ctrl#kdp}n$1 ]] || complain "namespace $1 is there"
}

goes() {
	wait_until "$patience" is_gone "$1" 2>/dev/null || is_gone "$1"
}

# size_is NSID MB
size_is() {
	local bytes
	bytes=$(blockdev --getsize64 "/dev/${ctrl}n$1")
	[[ $bytes == $(($2 << 20)) ]] || complain "namespace $1 has $bytes bytes"
}

size_becomes() {
	wait_until "$patience" size_is "$@" 2>/dev/null || size_is "$@"
}

# ns_json NSID KEY: of `kdp list --json`.
ns_json() {
	bounded kdp list --json | awk -v id="$1," -v key="\"$2\":" '
		$1 == "\"nsid\":" { mine = $2 == id }
		mine && $1 == key { gsub(/[",]/, "", $2); print $2 }'
}

uuid_is() {
	local uuid
	uuid=$(ns_json "$1" uuid)
	[[ $uuid == "$2" ]] || complain "namespace $1 has the UUID ${uuid:-of none}, not $2"
}

uuid_becomes() {
	wait_until "$patience" uuid_is "$@" 2>/dev/null || uuid_is "$@"
}

write_there() {
	dd if="$tmp/pattern" of="/dev/${ctrl}n$1" bs=64k oflag=direct conv=notrunc status=none
}

# Of the disk that is there now, not of its page cache.
reads_pattern() {
	bounded dd if="/dev/${ctrl}n$1" of="$tmp/in" bs=64k count=1 iflag=direct status=none &&
		same_bytes "$tmp/pattern" "$tmp/in"
}

reads() {
	bounded dd if="/dev/${ctrl}n$1" of=/dev/null bs=64k count=1 iflag=direct status=none
}

io_goes_on() {
	! io_gone || complain "fio has ended: $(<"$tmp/fio")"
}

# Another disk of the same name would have another number.
disk_number() {
	cat "/sys/block/${ctrl}n$1/diskseq"
}

same_disk() {
	local now
	now=$(disk_number "$1")
	[[ $now == "$2" ]] || complain "namespace $1 was disk $2 and is $now"
}

rescan_twice() {
	bounded kdp rescan "$ctrl" && bounded kdp rescan "/dev/$ctrl"
}

# Changes without end, until the file goes: then all three are there.
storm() {
	while [[ -e $tmp/storm ]]; do
		disable 3 && disable 4 && enable 3 && disable 5 && enable 4 && enable 5 || return
	done
}

world_begin
random_file "$tmp/pattern" 65536
ktap_check "target is up" target_up "$nqn" 16
calm
connected "$KDP_ADDR" "$nqn"
io_begin
first=$(disk_number 1)

uuid=0a0b0c0d-1111-4222-8333-444455556666
ktap_check "the target adds a namespace" eval 'backing 2 8 && enable 2 $uuid'
ktap_check "its devices appear" appear 2
ktap_check "of its size" size_is 2 8
ktap_check "kdp list knows its UUID" uuid_is 2 "$uuid"
ktap_check "its wwid says it, too" grep -qx "uuid.$uuid" "/sys/block/${ctrl}n2/wwid"
ktap_check "it can be written" write_there 2
second=$(disk_number 2)

ktap_check "the namespace grows" resize 2 16
ktap_check "its disk grows" size_becomes 2 16
ktap_check "the namespace shrinks" resize 2 4
ktap_check "its disk shrinks" size_becomes 2 4
ktap_check "it is the same disk" same_disk 2 "$second"
ktap_check "with what was written" reads_pattern 2

exec {held}<"/dev/${ctrl}n2"
ktap_check "the namespace is disabled" disable 2
ktap_check "its devices go" goes 2
ktap_check "who had it open reads nothing" reads_nothing
ktap_check "it is enabled" enable 2
ktap_check "its devices appear again" appear 2
ktap_check "who had the old one open still reads nothing" reads_nothing
exec {held}<&-
ktap_check "the new one has what was written" reads_pattern 2

uuid=0a0b0c0d-1111-4222-8333-777788889999
ktap_check "another namespace takes its number" eval 'disable 2 && enable 2 $uuid'
ktap_check "it gets a disk of its own" uuid_becomes 2 "$uuid"
ktap_check "which can be read" reads 2

several() {
	local n
	for n in 3 4 5 6 7 8; do backing "$n" 4 && enable "$n" || return; done
}
ktap_check "six at once" several
ktap_check "their devices appear" appear 3 4 5 6 7 8
ktap_check "kdp rescan, and again" rescan_twice
ktap_check "nothing has changed by that: the first" same_disk 1 "$first"
ktap_check "all are there" nodes_of "$ctrl" 1 2 3 4 5 6 7 8
ktap_check "the I/O has gone on all the while" io_goes_on

ktap_check "the namespace with I/O is disabled" disable 1
ktap_check "its devices go" goes 1
ktap_check "its I/O ends" wait_until "$patience" io_gone
rc=0
wait "$io_pid" || rc=$?
ktap_check "with an error (fio's status $rc)" test $((rc != 0 && rc < 124)) = 1
ktap_check "the others are served" reads 8
ktap_check "the controller is live" test "$(json state)" = live
ktap_check "it is enabled" eval 'echo 1 >"$subsys/namespaces/1/enable"'
ktap_check "its devices appear again" appear 1
ktap_check "and it reads" reads 1

touch "$tmp/storm"
storm &
storm_pid=$!
ktap_check "disconnect amid changes" disconnect "$ctrl"
ktap_check "nothing is left" nothing_left
connected "$KDP_ADDR" "$nqn" --cq-mode caller
rm "$tmp/storm"
rc=0
wait "$storm_pid" || rc=$?
ktap_check "the changes end" test "$rc" = 0
ktap_check "at last all are there" appear 1 2 3 4 5 6 7 8
# nobody waits for the answer to an event request
ktap_check "one is disabled" disable 8
ktap_check "its devices go, where callers take completions, too" goes 8
world_end
