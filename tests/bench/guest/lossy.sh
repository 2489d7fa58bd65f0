#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the guest: a link that loses, delays and marks packets, RDMA and TCP side by side
# (Documentation/benchmarking/lossy.md).

set -uo pipefail
# shellcheck source=tests/bench/guest/experiment.sh
. "$(dirname "$0")/experiment.sh"
# shellcheck source=tests/vm/guest/veth.sh
. "$KDP_REPO/tests/vm/guest/veth.sh"

# a subsystem for each path, so that the target's log tells them apart
subsystem=nqn.io.kdp:lossy
per_turn 3 2
losses=(0 0.01 0.1 1) delays=(0 0.1 1 2) marks=("no marks" "1 % marked" "10 % marked" "10 % to be marked, not ECN-capable")
if ((quick)); then losses=(0 1) delays=(1) marks=("10 % marked"); fi
may_fail=1
# a driver that waits for a reconnect may well be asked for longer than its turn
cell_patience=60

# link [NETEM WORDS...]: what happens to packets from now on, each way.
link() {
	local device
	for device in veth_a veth_b; do
		tc qdisc replace dev "$device" root netem limit 10000 "$@" || complain "netem $*" || return
	done
}

# ecn 0|1: whether senders say that they understand marks: ECT(0) in the TOS of new connections.
ecn() {
	local device
	for device in rdma_a rdma_b; do
		mkdir -p "/sys/kernel/config/rdma_cm/$device" &&
			echo $(($1 * 2)) >"/sys/kernel/config/rdma_cm/$device/ports/1/default_roce_tos" || return
	done
	echo "$1" >/proc/sys/net/ipv4/tcp_ecn
}

# Counters that only grow: retransmissions by rxe (either end) and by TCP, and packets that arrived marked.
sent_again() {
	local rdma
	rdma=$(cat /sys/class/infiniband/rdma_[ab]/ports/1/hw_counters/completer_retry_err | paste -sd +)
	echo $((rdma + $(netstat_of Tcp RetransSegs)))
}

marked() {
	netstat_of IpExt InCEPkts
}

# netstat_of PROTOCOL NAME: that counter of /proc/net/{snmp,netstat}.
netstat_of() {
	awk -v protocol="$1:" -v name="$2" '
		$1 == protocol && !head { head = 1; for (i = 2; i <= NF; i++) if ($i == name) at = i; next }
		$1 == protocol && at { print $at; exit }' /proc/net/snmp /proc/net/netstat
}

# nvme-rdma registers for each I/O and has the target invalidate: kdp, block does so too, kdp, region does not
paths=("kdp, block" "kdp, region" "kdp, verbs" "kdp, tcp" nvme-rdma nvme-tcp)

# nqn_of PATH. The first two are two nodes of one controller.
nqn_of() {
	local name=${1/block/region}
	name=${name//[, ]/}
	echo "$subsystem-${name//kdp/kdp-}"
}

# uri_of PATH
uri_of() {
	case $1 in
	"kdp, block") echo "block:/dev/${name}n1" ;;
	"kdp, region") echo "kernel:$char?mode=uring&buffers=region" ;;
	"kdp, verbs") echo "verbs://$veth_b:4420/$(nqn_of "$1")?nsid=1&ctrl_loss_tmo=30" ;;
	"kdp, tcp") echo "tcp://$veth_b:4420/$(nqn_of "$1")?nsid=1" ;;
	nvme-rdma) echo "block:$rdma" ;;
	nvme-tcp) echo "block:$tcp" ;;
	esac
}

# controllers PATH: that the target was asked for since it is there.
controllers() {
	dmesg | grep -c "creating nvm controller .* $(nqn_of "$1") for"
}

# made_anew PATH BEFORE: controllers since then, but for those that kdp bench begins with: it opens a path to
# see whether it can, and again to measure.
made_anew() {
	local n=$(($(controllers "$1") - $2))
	[[ $1 != *verbs && $1 != *' tcp' ]] || ((n -= n < 2 ? n : 2))
	echo "$n"
}

# place X: each path there, one after the other; what the counters did meanwhile, per 1000 I/Os.
place() {
	local x=$1 path again controllers_before marked_before ios
	for path in "${paths[@]}"; do
		again=$(sent_again) marked_before=$(marked) controllers_before=$(controllers "$path")
		cell "$x" --bs 4k --depth 16 --rw randread --rounds "$inner" -- "$path=$(uri_of "$path")" || return
		ios=$(cell_ios)
		((ios)) || continue
		observe "sent again, per 1000 I/Os" "$path" "$x" "$(ratio $(($(sent_again) - again)) "$ios")"
		observe "marked packets received, per I/O" "$path" "$x" "$(ratio $(($(marked) - marked_before)) $((ios * 1000)))"
		observe "connections made anew" "$path" "$x" "$(made_anew "$path" "$controllers_before")"
	done
}

ratio() {
	awk -v n="$1" -v ios="$2" 'BEGIN { printf "%.4f\n", 1000 * n / ios }'
}

lossy_charts() {
	chart "I/Os per second" 1/s true iops
	chart "latency, 99th percentile" µs true lat_p99_us
	chart "sent again, per 1000 I/Os" "" false
	chart "marked packets received, per I/O" "" false
	chart "connections made anew" "" false
	note "4 KiB random reads at depth 16, $rounds rounds of ${turn[-1]} s; both ends and the link are in one kernel"
}

# connect_all: by what `ecn` said last.
connect_all() {
	name=$(kdp connect -a "$veth_b" -n "$(nqn_of "kdp, region")" -q "$kdp_hostnqn" -I "$kdp_hostid" --cq-mode event) &&
		rdma=$(nvme_connect_stock "$(nqn_of nvme-rdma)" "$veth_b") &&
		tcp=$(nvme_connect_stock --tcp "$(nqn_of nvme-tcp)" "$veth_b") &&
		char=/dev/kdpg${name#kdp}n1
}

disconnect_all() {
	link && kdp disconnect --all && nvme_disconnect_stock
}

take_down() {
	disconnect_all && kdp_unload && rmdir /sys/kernel/config/rdma_cm/rdma_[ab] && veth_down && target_down
}

# experiment NAME TITLE XLABEL XUNIT COMMAND X...: COMMAND X makes the link so. Where a path may stand still for
# longer than a turn, a round is a visit to each place ($outer of them); else the rounds are kdp bench's ($inner).
experiment() {
	local command=$5 x visit
	experiment_begin "$1" "$2" "$3" "$4" false || return
	lossy_charts
	for ((visit = 0; visit < outer; visit++)); do
		for x in "${@:6}"; do
			"$command" "$x" && place "$x" || return
		done
	done
	experiment_end
}

loses() {
	link loss "$1%"
}

delays() {
	link delay "${1}ms"
}

# marks X: what netem would lose it marks, if the sender said that it understands that.
marks() {
	local capable=1 percent=${1%% *}
	case $1 in
	no*) percent=0 ;;
	*not*) capable=0 ;;
	esac
	disconnect_all && ecn "$capable" && connect_all || return
	# netem marks by its loss alone
	if ((percent)); then link loss "$percent%" ecn; else link; fi
}

rdma_up && kdp_load || exit
watch_begin
veth_up || exit
for path in "${paths[@]:1}"; do
	target_up "$(nqn_of "$path")" 32 || exit
	case $path in
	*tcp) target_tcp "$(nqn_of "$path")" "$veth_b" || exit ;;
	*) veth_target "$(nqn_of "$path")" || exit ;;
	esac
done
link && ecn 0 && connect_all || exit
for node in "/dev/${name}n1" "$rdma" "$tcp"; do
	dd if=/dev/zero of="$node" bs=1M count=16 oflag=direct status=none || exit
done

outer=$rounds inner=1
experiment lossy "A link that loses packets" "packets lost, each way" % loses "${losses[@]}" || exit
per_turn 3 0.7
outer=1 inner=$rounds
experiment lossy-delay "A link that delays packets" "delay, each way" ms delays "${delays[@]}" &&
	experiment lossy-ecn "A link that marks packets (ECN)" "packets marked, each way" - marks "${marks[@]}" || exit
experiment_over take_down
