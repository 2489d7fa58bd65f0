# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# In the guest: kdp beside the in-tree drivers, each connected to a subsystem with a backend of its
# own: native multipath would make one disk of two paths to one subsystem. Sourced after experiment.sh.
#
#   beside_up NAME [CONNECT_OPTION...]    options of kdp connect; sets
#                                         $disk $char $verbs $our_tcp    kdp's paths
#                                         $rdma $tcp                     the in-tree drivers' disks
#   beside_down

# shellcheck disable=SC2034 # for who sources this
beside_up() {
	local nqn=nqn.io.kdp:$1 subsystem name node
	shift
	for subsystem in "$nqn" "$nqn-rdma" "$nqn-tcp" "$nqn-kdp-tcp"; do
		target_up "$subsystem" 32 || return
	done
	target_tcp "$nqn-tcp" && target_tcp "$nqn-kdp-tcp" || return
	name=$(kdp connect -a "$KDP_ADDR" -n "$nqn" -q "$kdp_hostnqn" -I "$kdp_hostid" "$@") &&
		rdma=$(nvme_connect_stock "$nqn-rdma") && tcp=$(nvme_connect_stock --tcp "$nqn-tcp") || return
	disk=/dev/${name}n1 char=/dev/kdpg${name#kdp}n1
	verbs="verbs://$KDP_ADDR:4420/$nqn?nsid=1" our_tcp="tcp://$KDP_ADDR:4420/$nqn-kdp-tcp?nsid=1"
	for node in "$disk" "$rdma" "$tcp"; do
		fill_backend "$node" || return
	done
}

# fill_backend NODE: the backend has memory for what was written once: not at the first one's expense.
fill_backend() {
	dd if=/dev/zero of="$1" bs=1M count=16 oflag=direct status=none
}

beside_down() {
	kdp disconnect --all && nvme_disconnect_stock && kdp_unload && target_down
}
