# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# A network inside one kernel that can be cut: RDMA to one's own address never leaves the
# device, so a pair of veth devices, with an rxe device on each, and routes that send what
# goes to the one end out of the other. Sourced by who needs it, after lib.sh.
#
#    host ── rdma_a/veth_a 10.78.0.1 ───────── 10.78.0.2 veth_b/rdma_b ── target
#
#   veth_up; veth_target NQN; ...; veth_cut; veth_mend; ...; veth_down

veth_a=10.78.0.1 veth_b=10.78.0.2

veth_gid() {
	local port=/sys/class/infiniband/$1/ports/1
	# shellcheck disable=SC2046,SC2183 # four numbers
	grep -qsx "$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' $(tr . ' ' <<<"$2"))" "$port"/gids/[0-9]
}

# An address of our own is looked up in the table `local` first: that is moved behind ours.
veth_routes() {
	ip route add "$veth_b/32" dev veth_a src "$veth_a" table 100 &&
		ip route add "$veth_a/32" dev veth_b src "$veth_b" table 100 &&
		ip rule add pref 100 lookup local && ip rule del pref 0 &&
		ip rule add pref 10 iif lo lookup 100 &&
		ip rule add pref 11 oif veth_a lookup 100 && ip rule add pref 12 oif veth_b lookup 100
}

veth_device() {
	local name
	for name in /proc/sys/net/ipv4/conf/{all,"$1"}; do
		echo 1 >"$name/accept_local" && echo 0 >"$name/rp_filter" || return
	done
	ip addr add "$2/32" dev "$1" && ip link set "$1" mtu "$KDP_MTU" up
}

veth_up() {
	modprobe sch_netem || return
	ip link add veth_a type veth peer name veth_b &&
		veth_device veth_a "$veth_a" && veth_device veth_b "$veth_b" && veth_routes ||
		complain "veth_up: cannot make the network" || return
	rdma link add rdma_a type rxe netdev veth_a && rdma link add rdma_b type rxe netdev veth_b ||
		complain "veth_up: cannot make the RDMA devices" || return
	# ARP would ask for itself in vain at first, for 3 s
	ip neigh add "$veth_b" lladdr "$(cat /sys/class/net/veth_b/address)" dev veth_a nud permanent &&
		ip neigh add "$veth_a" lladdr "$(cat /sys/class/net/veth_a/address)" dev veth_b nud permanent || return
	wait_until 20 veth_gid rdma_a "$veth_a" && wait_until 20 veth_gid rdma_b "$veth_b" ||
		complain "veth_up: the RDMA devices do not get their addresses"
}

# veth_target NQN: that subsystem can be reached at the other end as well.
veth_target() {
	target_port 78 ipv4 "$veth_b" 4420 && ln -s "$nvmet/subsystems/$1" "$nvmet/ports/78/subsystems/"
}

# What is sent vanishes, both ways, and nobody is told.
veth_cut() {
	tc qdisc replace dev veth_a root netem loss 100% && tc qdisc replace dev veth_b root netem loss 100%
}

veth_mend() {
	tc qdisc del dev veth_a root && tc qdisc del dev veth_b root
}

# veth_down: whatever is left of it. The target's RDMA device goes before its port, see
# target_keeper.
veth_down() {
	local name pref
	for name in rdma_a rdma_b; do
		[[ ! -d /sys/class/infiniband/$name ]] || rdma link delete "$name" || return
	done
	if [[ -d $nvmet/ports/78 ]]; then
		rm -f "$nvmet"/ports/78/subsystems/* && rmdir "$nvmet/ports/78" || return
	fi
	ip rule show | grep -q '^0:' || ip rule add pref 0 lookup local || return
	for pref in 10 11 12 100; do ip rule del pref "$pref" 2>/dev/null; done
	[[ ! -d /sys/class/net/veth_a ]] || ip link del veth_a
}
