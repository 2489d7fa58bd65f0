# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# An RDMA device in software, with usable addresses. Sourced by lib.sh.
#
# KDP_RDMA says which: rxe (soft-RoCE, the default) or siw (soft-iWARP).

KDP_RDMA=${KDP_RDMA:-rxe}
KDP_RDMA_DEV=${KDP_RDMA}0
KDP_NETDEV=${KDP_NETDEV:-eth0}
KDP_ADDR=${KDP_ADDR:-10.77.0.1}
KDP_ADDR6=${KDP_ADDR6:-fd77::1}
KDP_MTU=${KDP_MTU:-9000}

# A RoCE GID comes a moment after its address; rdma_cm needs one for each address used.
# iWARP has no need of them.
rdma_ready() {
	local port=/sys/class/infiniband/$KDP_RDMA_DEV/ports/1 v4 v6
	[[ $(cat "$port/state" 2>/dev/null) == *ACTIVE* ]] || return 1
	[[ $KDP_RDMA != siw ]] || return 0
	# shellcheck disable=SC2086 # four numbers
	v4=$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' ${KDP_ADDR//./ })
	# the table has a thousand places; the first few are taken
	v6=$(cat "$port"/gids/[0-9] 2>/dev/null | grep -c '^fd77:')
	grep -qsx "$v4" "$port"/gids/[0-9] && ((v6 > 0))
}

rdma_there() {
	[[ -d /sys/class/infiniband/$KDP_RDMA_DEV ]]
}

# rdma_up: the device on KDP_NETDEV, IPv4 KDP_ADDR/24 and IPv6 KDP_ADDR6/64, MTU KDP_MTU.
# The address and the MTU come first: rxe takes its RDMA MTU from the netdev. Idempotent.
rdma_up() {
	local module=rdma_rxe
	rdma_ready && return
	[[ $KDP_RDMA == rxe ]] || module=$KDP_RDMA
	modprobe "$module" || complain "modprobe $module failed" || return
	[[ -d /sys/class/net/$KDP_NETDEV ]] || complain "no network device $KDP_NETDEV" || return
	echo 0 >"/proc/sys/net/ipv6/conf/$KDP_NETDEV/accept_dad"
	ip link set "$KDP_NETDEV" mtu "$KDP_MTU" up &&
		ip addr replace "$KDP_ADDR/24" dev "$KDP_NETDEV" &&
		ip addr replace "$KDP_ADDR6/64" dev "$KDP_NETDEV" nodad ||
		complain "cannot configure $KDP_NETDEV" || return
	rdma_there ||
		rdma link add "$KDP_RDMA_DEV" type "$KDP_RDMA" netdev "$KDP_NETDEV" ||
		complain "rdma link add $KDP_RDMA_DEV on $KDP_NETDEV failed" || return
	modprobe -a rdma_ucm ib_uverbs
	wait_until 20 rdma_ready ||
		complain "$KDP_RDMA_DEV has not become ACTIVE with its addresses within 20 s" || return
	target_keep_ports
}

# rdma_down: remove the device under whoever uses it.
rdma_down() {
	! rdma_there || rdma link delete "$KDP_RDMA_DEV" && target_forget_ports
}
