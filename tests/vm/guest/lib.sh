# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What scripts in the guest start with: `. "$KDP_REPO/tests/vm/guest/lib.sh"`.
# Each part below is sourced from a file of its own:
#
#   ktap.sh    ktap_plan, ktap_ok, ktap_not_ok, ktap_skip, ktap_check, ktap_done
#   rdma.sh    rdma_up, rdma_down
#   target.sh  target_up, target_down: a stock nvmet target over RDMA or TCP
#   host.sh    kdp_load, kdp_unload, nvme_connect_stock, nvme_disconnect_stock
#   watch.sh   watch_begin, watch_end: nothing left behind, nothing in dmesg
#   leaks.sh   leaks_begin, leaks_take: kmemleak, where there is one
#
# Functions return non-zero after a message on stderr; none of them exits.

kdp_guest_dir=$(dirname "${BASH_SOURCE[0]}")

[[ ${KDP_VM:-} == 1 ]] || {
	echo "lib.sh: not in the virtual machine (start it with tests/vm/run)" >&2
	exit 4
}

# How much longer things may take than on the stock machine.
case ${MACHINE:-stock} in
debug) kdp_slowness=6 ;;
uml-debug) kdp_slowness=2 ;;
*) kdp_slowness=1 ;;
esac

# complain WORDS...: a message on stderr, and failure.
complain() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	return 1
}

# wait_until SECONDS COMMAND...: until it succeeds; fails when the time is over.
wait_until() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# shellcheck source=tests/vm/guest/ktap.sh
. "$kdp_guest_dir/ktap.sh"
# shellcheck source=tests/vm/guest/rdma.sh
. "$kdp_guest_dir/rdma.sh"
# shellcheck source=tests/vm/guest/target.sh
. "$kdp_guest_dir/target.sh"
# shellcheck source=tests/vm/guest/host.sh
. "$kdp_guest_dir/host.sh"
# shellcheck source=tests/vm/guest/watch.sh
. "$kdp_guest_dir/watch.sh"
# shellcheck source=tests/vm/guest/leaks.sh
. "$kdp_guest_dir/leaks.sh"
