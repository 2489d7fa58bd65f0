# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Nothing left behind, nothing in the kernel's log. Sourced by lib.sh.
#
#   rdma_up; watch_begin
#   ... whatever is to be watched ...
#   target_down; watch_end || echo "it left something"

# shellcheck source=tests/vm/guest/reports.sh
. "$kdp_guest_dir/reports.sh"

# RDMA objects as "kind owner" lines: numbers and states change, owners must not.
# ib_core's own CQs are its shared pool (ib_cq_pool_get, used by the stock drivers):
# it keeps them until the device goes.
# One process asks for all kinds: on a checking kernel each costs.
watch_resources() {
	rdma -f -b <(printf 'resource show %s\n' qp cq mr pd cm_id ctx srq) 2>/dev/null | awk '
		/ cm-idn / { kind = "cm_id" }
		/ lqpn / && !/ cm-idn / { kind = "qp" }
		/ mrn / { kind = "mr" }
		/ srqn / { kind = "srq" }
		/ cqn / && !/ srqn / { kind = "cq" }
		/ ctxn / && !/ [a-z]*(mr|pd|cq|srq)n / { kind = "ctx" }
		/ pdn / && !/ (mrn|lqpn|srqn) / { kind = "pd" }
		match($0, / comm [^ ]+/) {
			owner = substr($0, RSTART + 6, RLENGTH - 6)
			if (kind " " owner != "cq [ib_core]") print kind, owner
		}' | sort
}

# Lines of $2 that $1 has not, counted as often as they stand there.
watch_extra() {
	comm -13 <(printf '%s\n' "$1") <(printf '%s\n' "$2")
}

watch_lockdep_off=

# Growth of the kernel's general caches that a test may show. After a test they differ by
# less than 150 KiB from before it (6.12, stock), once everything has been used; a leak in each I/O or
# connect shows sooner or later as more.
watch_slab_slack=$((512 << 10))

# Everything has been used once: what is made then and stays does not count.
watch_warm=

# Bytes in those caches; 0 where that says nothing: not warm, the kernel does not tell, or
# KASAN keeps what was freed (there kmemleak watches).
watch_slab() {
	if [[ -z $watch_warm ]] || leaks_watched || [[ ! -r /proc/slabinfo ]]; then
		echo 0
		return
	fi
	awk '$1 ~ /^kmalloc-[0-9]/ { sum += $2 * $4 } END { print sum + 0 }' /proc/slabinfo
}

watch_slab_settled() {
	(($(watch_slab) - watch_slab_before <= watch_slab_slack))
}

# watch_begin: from here on. Bring the RDMA device up first: a device has queues of its own.
watch_begin() {
	watch_mark="kdp-watch $$.$RANDOM.$SECONDS begins"
	watch_before=$(watch_resources)
	watch_parts_before=$(watch_leftovers)
	watch_slab_before=$(watch_slab)
	echo "$watch_mark" >/dev/kmsg
}

# What our modules leave in the file system while they live.
watch_leftovers() {
	find /dev /sys/class/block -maxdepth 1 -name 'kdp*[0-9]*' ! -name 'kdpt_*' 2>/dev/null | sort
}

watch_settled() {
	[[ -z $(watch_extra "$watch_before" "$(watch_resources)") ]]
}

# watch_end: unloads our modules; fails, saying why, if they will not go, if an RDMA
# object is left that was not there at watch_begin, or if the kernel complained.
watch_end() {
	local rc=0 text
	! kdp_loaded || kdp_unload || rc=1

	# Orderly teardown of the other end may take a moment.
	if ! wait_until 10 watch_settled; then
		text=$(watch_extra "$watch_before" "$(watch_resources)" | uniq -c)
		complain "RDMA objects left behind:"$'\n'"$text" || rc=1
	fi

	# What is freed after a grace period may be late.
	wait_until 10 watch_slab_settled ||
		complain "slab growth: $((($(watch_slab) - watch_slab_before) >> 10)) KiB in kmalloc caches" || rc=1

	text=$(watch_extra "$watch_parts_before" "$(watch_leftovers)")
	[[ -z $text ]] || complain "left behind:"$'\n'"$text" || rc=1

	text=$(dmesg)
	if [[ $text != *"$watch_mark"* ]]; then
		complain "the kernel's log has overrun since watch_begin" || rc=1
	fi
	# not by "${text##*...}": bash takes minutes for a long log
	text=$(sed "0,/$watch_mark/d" <<<"$text" | reports_unexpected)
	[[ -z $text ]] || complain "the kernel complained:"$'\n'"$text" || rc=1
	# It goes off with its first report: what came later was not watched.
	if grep -qs 'debug_locks: *0' /proc/lockdep_stats && [[ -z $watch_lockdep_off ]]; then
		watch_lockdep_off=1
		complain "lockdep is off: locks are not watched any more" || rc=1
	fi
	return "$rc"
}
