#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Connects that must fail: each by its proper errno, in time, and with nothing left behind.
# timeout: 240
# quick: 6.12 6.1 uml uml-debug

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:bad-input
closed=nqn.io.kdp:bad-closed
friend=nqn.io.kdp:friend

# refused NAME ERRNO ARGUMENT...: `kdp connect ARGUMENT...` fails with that, and leaves nothing.
refused() {
	local name=$1 want=$2
	shift 2
	ktap_check "$name: $want" fails_with "$want" kdp connect -I "$kdp_hostid" "$@"
	ktap_check "$name: nothing left" nothing_left
}

# usage NAME ARGUMENT...: the tool itself sees that it makes no sense; status 2.
usage() {
	local name=$1
	shift
	ktap_check "$name: refused by the tool" exits_with 2 kdp "$@"
}

exits_with() {
	local want=$1 rc=0
	shift
	bounded "$@" || rc=$?
	[[ $rc == "$want" ]] || complain "status $rc, not $want"
}

# The tool for somebody who may not look into our directories.
for_nobody() {
	install -m 755 "$(command -v kdp)" /tmp/kdp-for-nobody
}

nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/kdp-for-nobody "$@"
}
export -f nobody

targets_up() {
	target_up "$nqn" 16 && target_up --hosts "$friend" "$closed" 16
}

world_begin
q=(-q "$kdp_hostnqn")
name223=nqn.io.kdp:$(printf '%0220d' 0)
ktap_check "targets are up" targets_up
calm
points_from "$programs/netlink_abi"
ktap_check "nothing left after that" nothing_left

refused "address without a route" 'ENETUNREACH|EHOSTUNREACH|ENODEV|ETIMEDOUT' \
	-a 192.0.2.1 -n "$nqn" "${q[@]}"
if [[ $KDP_RDMA == siw ]]; then
	ktap_skip "addresses that nobody has" "soft-iWARP waits inside its connect until TCP gives up"
else
	refused "address that nobody has" 'EHOSTUNREACH|ETIMEDOUT|ENETUNREACH' \
		-a "${KDP_ADDR%.*}.99" -n "$nqn" "${q[@]}"
	refused "IPv6 address that nobody has" 'EHOSTUNREACH|ETIMEDOUT|ENETUNREACH|ENODEV' \
		-a "${KDP_ADDR6%:*}:99" -n "$nqn" "${q[@]}"
fi
refused "loopback, which has no RDMA device" 'ECONNREFUSED|ENODEV|EADDRNOTAVAIL|EINVAL' \
	-a 127.0.0.1 -n "$nqn" "${q[@]}"
refused "port where nobody listens" ECONNREFUSED -a "$KDP_ADDR" -s 4421 -n "$nqn" "${q[@]}"
refused "local address that is not ours" 'EADDRNOTAVAIL' \
	-a "$KDP_ADDR" -w 192.0.2.7 -n "$nqn" "${q[@]}"
refused "subsystem that is not there" ENOENT -a "$KDP_ADDR" -n "$nqn-none" "${q[@]}"
refused "subsystem name of 223 bytes that is not there" ENOENT \
	-a "$KDP_ADDR" -n "${name223:0:223}" "${q[@]}"
refused "host that is not admitted" EACCES -a "$KDP_ADDR" -n "$closed" "${q[@]}"
refused "discovery subsystem" 'E[A-Z]*' -a "$KDP_ADDR" -n nqn.2014-08.org.nvmexpress.discovery "${q[@]}"
ktap_check "the host that is admitted connects" \
	bounded kdp connect -a "$KDP_ADDR" -n "$closed" -q "$friend" -I "$kdp_hostid"
ktap_check "and disconnects" disconnect kdp0

refused "name kdp1024" 'ERANGE|EINVAL' -a "$KDP_ADDR" -n "$nqn" "${q[@]}" --name kdp1024

usage "no address" connect -n "$nqn"
usage "no name of a subsystem" connect -a "$KDP_ADDR"
usage "empty name of a subsystem" connect -a "$KDP_ADDR" -n ''
usage "name of 224 bytes" connect -a "$KDP_ADDR" -n "$(printf '%0224d' 0)"
usage "port 0" connect -a "$KDP_ADDR" -s 0 -n "$nqn"
usage "port 65536" connect -a "$KDP_ADDR" -s 65536 -n "$nqn"
usage "queue size 15" connect -a "$KDP_ADDR" -n "$nqn" -Q 15
usage "queue size 1025" connect -a "$KDP_ADDR" -n "$nqn" -Q 1025
usage "0 I/O queues" connect -a "$KDP_ADDR" -n "$nqn" -i 0
usage "name that is none of ours" connect -a "$KDP_ADDR" -n "$nqn" --name nvme0
usage "disconnect what is no name" disconnect nvme0
usage "rescan of what is no name" rescan nvme0
usage "rescan of nothing" rescan
usage "unknown subcommand" reconnect
ktap_check "disconnect what is not there: ENODEV" fails_with ENODEV kdp disconnect kdp9
ktap_check "reset what is not there: ENODEV" fails_with ENODEV kdp reset kdp9
ktap_check "rescan what is not there: ENODEV" fails_with ENODEV kdp rescan kdp9
ktap_check "nothing left after those" nothing_left

connected "$KDP_ADDR" "$nqn"
ktap_check "the same connection again: EALREADY" \
	fails_with EALREADY kdp connect -a "$KDP_ADDR" -n "$nqn" "${q[@]}" -I "$kdp_hostid"
ktap_check "the same name again: EEXIST" \
	fails_with EEXIST kdp connect -a "$KDP_ADDR6" -n "$nqn" "${q[@]}" -I "$kdp_hostid" --name "$ctrl"
ktap_check "the first one lives" dd if="$disk" of=/dev/null bs=4k count=1 iflag=direct status=none
ktap_check "the same connection with -D" connect "$KDP_ADDR" "$nqn" -D
ktap_check "is a second controller" nodes_of kdp1 1
ktap_check "which goes" disconnect kdp1
points_from "$programs/netlink_abi" "${ctrl#kdp}"

ktap_check "a copy of the tool for nobody" for_nobody
ktap_check "nobody connects: EPERM" \
	fails_with EPERM bash -c "nobody connect -a $KDP_ADDR6 -n $nqn ${q[*]} -I $kdp_hostid"
ktap_check "nobody disconnects: EPERM" fails_with EPERM bash -c "nobody disconnect $ctrl"
ktap_check "nobody resets: EPERM" fails_with EPERM bash -c "nobody reset $ctrl"
ktap_check "nobody rescans: EPERM" fails_with EPERM bash -c "nobody rescan $ctrl"
ktap_check "nobody lists" bounded bash -c "nobody list --json"
ktap_check "nobody sees it" test "$(nobody list | grep -c "$nqn")" = 1
ktap_check "it lives" dd if="$disk" of=/dev/null bs=4k count=1 iflag=direct status=none
ktap_check "disconnect" disconnect "$ctrl"
ktap_check "nothing left after that" nothing_left

# The target's port stands on the device, so it goes first.
ktap_check "the targets go" target_down
ktap_check "the RDMA device goes" rdma_down
ktap_check "no RDMA device: ENODEV" \
	fails_with 'ENODEV' kdp connect -a "$KDP_ADDR" -n "$nqn" "${q[@]}" -I "$kdp_hostid"
ktap_check "no node is left" no_nodes
ktap_check "the RDMA device comes" rdma_up
ktap_check "the target comes" target_up "$nqn" 16
ktap_check "and all is well" connect "$KDP_ADDR" "$nqn"
ktap_check "disconnect" disconnect kdp0

ktap_check "unload" kdp_unload
ktap_check "list without the module: ENODEV" fails_with ENODEV kdp list
ktap_check "connect without the module: ENODEV" \
	fails_with ENODEV kdp connect -a "$KDP_ADDR" -n "$nqn" "${q[@]}" -I "$kdp_hostid"
world_end
