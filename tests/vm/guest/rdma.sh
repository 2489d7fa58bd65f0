# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# A soft-RoCE device with usable addresses. Sourced by lib.sh.

KDP_NETDEV=${KDP_NETDEV:-eth0}
KDP_ADDR=${KDP_ADDR:-10.77.0.1}
KDP_ADDR6=${KDP_ADDR6:-fd77::1}
KDP_MTU=${KDP_MTU:-9000}

# A GID comes a moment after its address; rdma_cm needs one for each address used.
rxe_ready() {
	local gids=/sys/class/infiniband/rxe0/ports/1/gids v4 v6
	[[ $(cat /sys/class/infiniband/rxe0/ports/1/state 2>/dev/null) == *ACTIVE* ]] || return 1
	# shellcheck disable=SC2086 # four numbers
	v4=$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' ${KDP_ADDR//./ })
	# the table has a thousand places; the first few are taken
	v6=$(cat $gids/[0-9] 2>/dev/null | grep -c '^fd77:')
	grep -qsx "$v4" $gids/[0-9] && ((v6 > 0))
}

# rxe_up: device rxe0 on KDP_NETDEV, IPv4 KDP_ADDR/24 and IPv6 KDP_ADDR6/64, MTU KDP_MTU.
# The address and the MTU come first: rxe takes its RDMA MTU from the netdev. Idempotent.
rxe_up() {
	rxe_ready && return
	modprobe rdma_rxe || complain "modprobe rdma_rxe failed" || return
	[[ -d /sys/class/net/$KDP_NETDEV ]] || complain "no network device $KDP_NETDEV" || return
	echo 0 >"/proc/sys/net/ipv6/conf/$KDP_NETDEV/accept_dad"
	ip link set "$KDP_NETDEV" mtu "$KDP_MTU" up &&
		ip addr replace "$KDP_ADDR/24" dev "$KDP_NETDEV" &&
		ip addr replace "$KDP_ADDR6/64" dev "$KDP_NETDEV" nodad ||
		complain "cannot configure $KDP_NETDEV" || return
	[[ -d /sys/class/infiniband/rxe0 ]] ||
		rdma link add rxe0 type rxe netdev "$KDP_NETDEV" ||
		complain "rdma link add rxe0 on $KDP_NETDEV failed" || return
	modprobe -a rdma_ucm ib_uverbs
	wait_until 20 rxe_ready ||
		complain "rxe0 has not become ACTIVE with GIDs for $KDP_ADDR and $KDP_ADDR6 within 20 s"
}

# rxe_down: remove rxe0 under whoever uses it.
rxe_down() {
	[[ ! -d /sys/class/infiniband/rxe0 ]] || rdma link delete rxe0
}
