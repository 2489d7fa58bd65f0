#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What an I/O costs by io_uring, counted: with a region, a thread that submits and polled
# completions no registration, no invalidation, no copy and no system call; without a region
# one registration each.
# timeout: 240
# quick: 6.12 uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/stats.sh"

nqn=nqn.io.kdp:counts
keys=(commands wr_reg wr_local_inv remote_inv bytes_copied region_commands)

# As many as emulation does in seconds.
case $MACHINE in
stock) reads=100000 few=2000 ;;
uml) reads=10000 few=1000 ;;
uml-debug) reads=5000 few=1000 ;;
*) reads=1000 few=200 ;;
esac

# QEMU's emulation may die of it when the kernel's text changes under its CPUs (boot.sh).
[[ $ACCEL == kvm ]] || export COUNTS_OWN=1

# of_reads NAME READS OPTION...: what they cost: before, after, calls, uses, how.
of_reads() {
	local name=$1 number=$2 line
	shift 2
	before=$(counts "${keys[@]}") polled=$(count poll commands)
	timeout -k 5 $((4 * patience)) "$programs/counts" "$@" "$number" "/dev/$ctrl" "$char" 1 >"$tmp/counts" 2>&1
	after=$(counts "${keys[@]}")
	look
	polled=$(($(count poll commands) - polled))
	points_from sed 's/ - / - '"$name"': /' "$tmp/counts"
	line=$(grep '^counted ' "$tmp/counts") || line='counted 0 -1 -1 nobody'
	read -r _ _ calls uses how <<<"$line"
	echo "# $name: before $before, after $after, $calls system calls ($how), $uses uses"
}

# costs KEY NUMBER
costs() {
	local now
	now=$(more "$1" "$before" "$after")
	((now == $2)) || complain "$1: $now, not $2"
}

# with_region NAME
with_region() {
	ktap_check "$1: no registration" costs wr_reg 0
	ktap_check "$1: no local invalidation" costs wr_local_inv 0
	ktap_check "$1: no remote invalidation" costs remote_inv 0
	ktap_check "$1: no byte copied" costs bytes_copied 0
	ktap_check "$1: all counted as commands of a region" costs region_commands "$number"
	ktap_check "$1: all by the region" test "$uses" = "$number"
}

no_system_calls() {
	echo "$calls of $number"
	((calls >= 0 && 100 * calls < number))
}

world_begin
ktap_check "target is up" target_up "$nqn" 16
connected "$KDP_ADDR" "$nqn" -i 1 -P 1 --cq-mode event
ktap_check "what is read is written" bounded "$programs/counts" --prepare 1 "/dev/$ctrl" "$char" 1
look

number=$reads
of_reads "region, SQPOLL, IOPOLL" "$number" --region --sqpoll --iopoll
with_region "region, SQPOLL, IOPOLL"
ktap_check "region, SQPOLL, IOPOLL: under 0.01 system calls a read ($calls, $how)" no_system_calls
ktap_check "region, SQPOLL, IOPOLL: the poll queue does them" test "$polled" = "$number"

number=$few
of_reads "region, SQPOLL" "$number" --region --sqpoll
with_region "region, SQPOLL"
ktap_check "region, SQPOLL: under 0.01 system calls a read ($calls, $how)" no_system_calls

of_reads "region, IOPOLL" "$number" --region --iopoll
with_region "region, IOPOLL"

of_reads "region" "$number" --region
with_region "region"

for options in '' --fixed '--sqpoll --iopoll --fixed'; do
	name="without a region${options:+, ${options//--/}}"
	# shellcheck disable=SC2086 # words
	of_reads "$name" "$number" $options
	ktap_check "$name: one registration each" costs wr_reg "$number"
	ktap_check "$name: no byte copied" costs bytes_copied 0
	ktap_check "$name: none of a region" costs region_commands 0
done
ktap_check "the connection has lived through it" test "$(json state)" = live
world_end
