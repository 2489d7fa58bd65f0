#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Namespaces of absurd geometry, and lists of them that do not end or make no sense. A
# namespace that cannot be used is left out, with a line in the log; the others come up.
# timeout: 240
# quick: uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/peers.sh"

size_is() {
	local bytes
	bytes=$(blockdev --getsize64 "$1")
	[[ $bytes == "$2" ]] || complain "$1 has $bytes bytes, not $2"
}

not_there() {
	[[ ! -e /dev/${ctrl}n$1 && ! -e /dev/kdpg${ctrl#kdp}n$1 ]] || complain "namespace $1 is there"
}

kernel_said() {
	dmesg | grep -q "$1" || complain "the kernel did not say: $1"
}

# Those that cannot be: number and what is wrong with it, as the script says it.
unusable=("" \
	"blocks 0" \
	"blocks 0xffffffffffffffff" \
	"blocks 0x40000000000000" \
	"lbads 0" \
	"lbads 8" \
	"lbads 17" \
	"lbads 31" \
	"lbads 255" \
	"lbads 13" \
	"metadata 8" \
	"protection 1" \
	"flbas 5" \
	"nlbaf 255 flbas 0x6f lbads 0" \
	"blocks 0x10000000000000 lbads 12")

script=
for n in "${!unusable[@]}"; do
	((n == 0)) || script+="namespace $n ${unusable[n]}"$'\n'
done
script+="namespace 100 ncap 0 nuse 0xffffffffffffffff
namespace 101 blocks 0x3fffffffffffff
namespace 102 lbads 12 blocks 1
namespace 103 blocks 1
namespace 104 read-only 1
namespace 105
namespace 106 flbas 0x1f
namespace 0xfffffffe blocks 64
at 1 identify cns 0 nsid 105 do status 6
"

peers_begin
if with_peer "absurd geometries" "$script" -i 1; then
	for n in "${!unusable[@]}"; do
		((n == 0)) || ktap_check "${unusable[n]}: left out" not_there "$n"
	done
	ktap_check "Identify fails: left out" not_there 105
	ktap_check "a format that does not exist: left out" not_there 106
	ktap_check "the log says so" kernel_said "namespace 1 is left out"
	ktap_check "of 256 bytes a block, too: no such format" kernel_said "namespace 5 is left out: error -71"
	ktap_check "odd NCAP and NUSE: NSZE counts" size_is "/dev/${ctrl}n100" 16777216
	ktap_check "2^63 - 512 bytes" size_is "/dev/${ctrl}n101" 9223372036854775296
	ktap_check "reads the last block of them" \
		io_gives 0 'result 512, all 0x00' guarded_io "/dev/${ctrl}n101" read 9223372036854774784 512 0
	ktap_check "one block of 4096" size_is "/dev/${ctrl}n102" 4096
	ktap_check "one block of 512" size_is "/dev/${ctrl}n103" 512
	ktap_check "a write-protected one is read-only" test "$(blockdev --getro "/dev/${ctrl}n104")" = 1
	ktap_check "number 0xfffffffe" nodes_of "$ctrl" 4294967294
	ktap_check "a write to it" io_gives 0 'result 4096' guarded_io "/dev/${ctrl}n4294967294" write 0 4096 0
	peer_end "absurd geometries"
fi

# -- the list

if with_peer "an empty list" "set list empty" -i 1; then
	ktap_check "an empty list: the controller is there" nodes_of "$ctrl"
	ktap_check "an empty list: no namespace" not_there 1
	ktap_check "an empty list: disconnects" disconnect "$ctrl"
	peer_ends "an empty list: the peer ends"
fi
if with_peer "a list that repeats one" "set list same" -i 1; then
	ktap_check "a list that repeats one: it is there once" nodes_of "$ctrl" 1
	ktap_check "a list that repeats one: it reads" read_here 0 'all 0x00'
	ktap_check "a list that repeats one: disconnects" disconnect "$ctrl"
	peer_ends "a list that repeats one: the peer ends"
fi
if with_peer "a descending list" "set namespaces 3; set list descending" -i 1; then
	ktap_check "a descending list: ends where it descends" nodes_of "$ctrl" 3
	ktap_check "a descending list: disconnects" disconnect "$ctrl"
	peer_ends "a descending list: the peer ends"
fi
if with_peer "a list without end" "set list endless; at every identify cns 0 do status 0xb" -i 1; then
	ktap_check "a list without end: the connect ended" state_is live
	ktap_check "a list without end: disconnects" disconnect "$ctrl"
	peer_ends "a list without end: the fault was played"
fi
ktap_check "1024 are enough" kernel_said "more than 1024 namespaces"
each_refused "identify cns 2" "the list fails|EIO|status 6"
world_end
