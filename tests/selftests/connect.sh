#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Connect, list, disconnect: names, nodes, several controllers, several namespaces, unload.
# timeout: 150
# quick: 6.12 6.1 uml uml-debug

. "$(dirname "$0")/common.sh"

one=nqn.io.kdp:one
three=nqn.io.kdp:three

# A third namespace, number 7, of another size than the first two.
add_namespace_7() {
	local dir=$nvmet/subsystems/$three/namespaces/7 node
	node=$(target_backend "$(target_backend_name "$three" 7)" 24 512) &&
		mkdir "$dir" && echo "$node" >"$dir/device_path" && echo 1 >"$dir/enable"
}

targets_up() {
	target_up "$one" 32 && target_up --namespaces 2 "$three" 16 && add_namespace_7
}

both_have_nodes() {
	nodes_of kdp0 1 && nodes_of kdp1 1 2 7
}

lives_on() {
	sleep 8
	json_is state live
}

# round NAME ADDRESS [OPTION...]: once through everything, with the name it must get.
round() {
	local want=$1 address=$2 name
	shift 2
	name=$(connect "$address" "$one" "$@" 2>&1)
	ktap_check "connect to $address $* gives $want" test "$name" = "$want" || return
	ktap_check "its nodes are there" nodes_of "$want" 1
	ktap_check "kdp list shows it" shows "$want" live "$one" "$KDP_RDMA_DEV" "/dev/${want}n1"
	ktap_check "it reads" dd if="/dev/${want}n1" of=/dev/null bs=4k count=4 iflag=direct status=none
	ktap_check "disconnect" disconnect "$want"
	ktap_check "its nodes are gone" no_nodes
}

shows() {
	local text word
	text=$(bounded kdp list) || return
	for word; do
		[[ $text == *"$word"* ]] || complain "no '$word' in:"$'\n'"$text" || return
	done
}

json_is() {
	local value
	value=$(json "$1")
	[[ $value == "$2" ]] || complain "$1 is '$value', not '$2'"
}

reconnect_10_times() {
	local i name
	for ((i = 0; i < 10; i++)); do
		name=$(connect "$KDP_ADDR" "$one") && [[ $name == kdp0 ]] && nodes_of kdp0 1 &&
			disconnect kdp0 && no_nodes || complain "failed in round $i" || return
	done
}

# Each namespace gets data of its own and keeps it.
namespaces_are_apart() {
	local id
	for id in 1 2 7; do
		random_file "$tmp/ns$id" 65536
		dd if="$tmp/ns$id" of="/dev/kdp1n$id" bs=64k oflag=direct status=none || return
	done
	for id in 1 2 7; do
		dd if="/dev/kdp1n$id" of="$tmp/back" bs=64k count=1 iflag=direct status=none &&
			same_bytes "$tmp/ns$id" "$tmp/back" || return
	done
}

size_is() {
	local bytes
	bytes=$(blockdev --getsize64 "$1")
	[[ $bytes == "$2" ]] || complain "$1 has $bytes bytes, not $2"
}

# rmmod must not go while somebody holds a node; the errno is the kernel's "in use".
busy_while_open() {
	local rc=0 fd text
	exec {fd}<"$1" || return
	text=$(bounded rmmod kdp_host 2>&1) && rc=1
	echo "$text"
	exec {fd}<&-
	[[ $rc == 0 && $text == *"in use"* || $text == *busy* ]] &&
		dd if=/dev/kdp0n1 of=/dev/null bs=4k count=1 iflag=direct status=none
}

# protection_domains N: of ours. One's target reaches nothing that another's may.
protection_domains() {
	local now
	now=$(rdma resource show pd | grep -c 'comm \[\?kdp_core')
	((now == $1)) || complain "$now: $(rdma resource show pd)"
}

world_begin
ktap_check "list without controllers is empty" test -z "$(bounded kdp list)"
ktap_check "targets are up" targets_up

round kdp0 "$KDP_ADDR"
round kdp0 "$KDP_ADDR6"
round kdp7 "$KDP_ADDR" --name kdp7

ktap_check "first of two controllers" connect "$KDP_ADDR" "$one"
ktap_check "second of two controllers" connect "$KDP_ADDR6" "$three"
ktap_check "both have their nodes" both_have_nodes
ktap_check "no node of a namespace that does not exist" test ! -e /dev/kdp1n3
ktap_check "kdp list shows both" shows kdp0 kdp1 "$one" "$three" /dev/kdp1n7
ktap_check "JSON: state" json_is state live
ktap_check "JSON: RDMA device" json_is rdma_device "$KDP_RDMA_DEV"
ktap_check "JSON: address" json_is traddr "$KDP_ADDR"
ktap_check "JSON: port" json_is trsvcid 4420
ktap_check "JSON: NQN" json_is subsystem_nqn "$one"
ktap_check "JSON: blocks" json_is blocks $((32 * 2048))
ktap_check "JSON: model" json_is model Linux
ktap_check "size of namespace 1" size_is /dev/kdp0n1 $((32 << 20))
ktap_check "size of namespace 7" size_is /dev/kdp1n7 $((24 << 20))
ktap_check "three namespaces, three disks" namespaces_are_apart
ktap_check "each has a protection domain of its own" protection_domains 2
ktap_check "disconnect the first" disconnect kdp0
ktap_check "it goes with it" protection_domains 1
ktap_check "the second stays" nodes_of kdp1 1 2 7
ktap_check "and reads" dd if=/dev/kdp1n7 of=/dev/null bs=4k count=1 iflag=direct status=none
ktap_check "the lowest number is given again" test "$(connect "$KDP_ADDR" "$one")" = kdp0
ktap_check "disconnect both at once" disconnect kdp0 kdp1
ktap_check "all nodes are gone" no_nodes

ktap_check "connect and disconnect 10 times" reconnect_10_times

ktap_check "queue options are taken" connect "$KDP_ADDR" "$one" -i 1 -Q 16 -k 5000 --spin-us 0
ktap_check "one I/O queue" json_is nr_io_queues 1
ktap_check "keep-alive of 5 s" json_is keep_alive_ms 5000
ktap_check "no spinning" json_is spin_us 0
ktap_check "lives beyond its keep-alive timeout" lives_on
ktap_check "reads after that" dd if=/dev/kdp0n1 of=/dev/null bs=4k count=1 iflag=direct status=none

ktap_check "rmmod is refused while the disk is open" busy_while_open /dev/kdp0n1
ktap_check "rmmod is refused while the char device is open" busy_while_open /dev/kdpg0n1
ktap_check "rmmod is refused while the controller's node is open" busy_while_open /dev/kdp0
ktap_check "rmmod disconnects what is not in use" bounded rmmod kdp_host
ktap_check "no node is left" no_nodes
world_end
