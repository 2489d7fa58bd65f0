# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# The two hosts: our modules, and the stock nvme-rdma (or nvme-tcp). Sourced by lib.sh.

# kdp_insmod NAME [PARAMETER=VALUE...]: a module of ours as built for this kernel.
kdp_insmod() {
	local name=$1 ko=$KDP_MODDIR/$1.ko
	shift
	[[ ! -d /sys/module/$name ]] || return 0
	[[ -f $ko ]] ||
		complain "no $name.ko below $KDP_MODDIR; build it: make modules KVER=$KVER" || return
	insmod "$ko" "$@" || complain "insmod $ko failed: $(dmesg | tail -n 3)"
}

# kdp_load [HOST_PARAMETER=VALUE...]: both of them.
kdp_load() {
	[[ -d /sys/module/rdma_cm ]] || modprobe -a ib_core rdma_cm || complain "modprobe ib_core or rdma_cm failed" || return
	kdp_insmod kdp_core && kdp_insmod kdp_host "$@"
}

kdp_loaded() {
	[[ -d /sys/module/kdp_core || -d /sys/module/kdp_host ]]
}

kdp_unload_once() {
	local name
	for name in kdp_host_test kdp_core_test kdp_target kdp_host kdp_core; do
		[[ ! -d /sys/module/$name ]] || rmmod "$name" || return
	done
}

# kdp_unload: fails when they are still in use after 10 s.
kdp_unload() {
	wait_until 10 kdp_unload_once 2>/dev/null || kdp_unload_once || complain "cannot unload: $(lsmod | grep '^kdp')"
}

kdp_hostnqn=nqn.2014-08.org.nvmexpress:uuid:77000000-0000-4000-8000-000000000001
kdp_hostid=77000000-0000-4000-8000-000000000001

# nvme_namespace NQN [NSID]: the stock driver's block device for it, such as /dev/nvme0n1.
nvme_namespace() {
	local subsys block
	for subsys in /sys/class/nvme-subsystem/nvme-subsys*; do
		[[ $(cat "$subsys/subsysnqn" 2>/dev/null) == "$1" ]] || continue
		for block in "$subsys"/nvme*n*; do
			[[ $(cat "$block/nsid" 2>/dev/null) == "${2:-1}" && -b /dev/${block##*/} ]] || continue
			echo "/dev/${block##*/}"
			return 0
		done
	done
	return 1
}

nvme_has_namespace() {
	nvme_namespace "$@" >/dev/null
}

# nvme_connect_stock [--tcp] NQN [ADDRESS] [PORT] [OPTION...]: prints the block device of
# namespace 1. Use a subsystem of its own: native multipath would merge two paths to one NQN.
nvme_connect_stock() {
	local text transport=rdma
	if [[ $1 == --tcp ]]; then
		transport=tcp
		shift
	fi
	modprobe "nvme-$transport" || complain "modprobe nvme-$transport failed" || return
	text=$(nvme connect -t "$transport" -a "${2:-$KDP_ADDR}" -s "${3:-4420}" -n "$1" \
		--hostnqn "$kdp_hostnqn" --hostid "$kdp_hostid" "${@:4}" 2>&1) ||
		complain "nvme connect to $1 failed: $text" || return
	wait_until 20 nvme_has_namespace "$1" ||
		complain "nvme connect to $1: no block device within 20 s" || return
	nvme_namespace "$1"
}

# nvme_disconnect_stock [NQN]: that one, or all.
nvme_disconnect_stock() {
	if (($#)); then nvme disconnect -n "$1"; else nvme disconnect-all; fi >/dev/null
}
