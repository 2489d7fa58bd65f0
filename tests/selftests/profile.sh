#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# `kdp bench --profile`: what CPU time is spent on, by path. Counts of samples only: that there
# are some, that their sum is right, and that each path shows what it has to and nothing else.
# timeout: 400
# quick: 6.12 6.1

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:profile
stock_nqn=nqn.io.kdp:profile-stock
tcp_nqn=nqn.io.kdp:profile-tcp

# tcp_up: a subsystem behind nvmet-tcp on the loopback address.
tcp_up() {
	# shellcheck disable=SC2154 # of lib.sh
	local subsys=$nvmet/subsystems/$tcp_nqn port=$nvmet/ports/14421 node
	modprobe -a nvmet-tcp nvme-tcp && ip link set lo up || return
	node=$(target_backend "$(target_backend_name "$tcp_nqn" 1)" 64 512) &&
		mkdir "$subsys" "$subsys/namespaces/1" "$port" &&
		echo 1 >"$subsys/attr_allow_any_host" &&
		echo "$node" >"$subsys/namespaces/1/device_path" &&
		echo 1 >"$subsys/namespaces/1/enable" &&
		echo tcp >"$port/addr_trtype" && echo ipv4 >"$port/addr_adrfam" &&
		echo 127.0.0.1 >"$port/addr_traddr" && echo 14421 >"$port/addr_trsvcid" &&
		ln -s "$subsys" "$port/subsystems/" &&
		timeout "$patience" nvme connect -t tcp -a 127.0.0.1 -s 14421 -n "$tcp_nqn" \
			--hostnqn "$kdp_hostnqn" --hostid "$kdp_hostid" &&
		wait_until 20 nvme_has_namespace "$tcp_nqn"
}

stock_up() {
	target_up "$stock_nqn" 64 && nvme_connect_stock "$stock_nqn"
}

# bench URI [OPTION...]: its JSON to $tmp/json, its call chains to $tmp/stacks.
bench() {
	local uri=$1
	shift
	timeout -k 5 $((3 * patience)) kdp bench --json --profile --profile-stacks "$tmp/stacks" \
		--ios 200 --rounds 2 --size 8m --depth 8 "$@" "$uri" >"$tmp/json"
}

# samples CLASS: of all rounds, as the JSON has them.
samples() {
	awk -v class="\"$1\":" '/"samples": \{/ { inside = 1 } /\}/ { inside = 0 }
		inside && $1 == class { sum += $2 } END { print sum + 0 }' "$tmp/json"
}

classes=(application kernel_path provider_calls provider_threads waiting target interrupts other idle)

# sums_agree: each sample is a call chain, and is in one class.
sums_agree() {
	local class by_class=0 chains
	for class in "${classes[@]}"; do ((by_class += $(samples "$class"))); done
	chains=$(awk '{ sum += $NF } END { print sum + 0 }' "$tmp/stacks")
	echo "$by_class samples by class, $chains as call chains"
	((by_class > 0 && by_class == chains))
}

# no_class CLASS...: nothing was seen of them.
no_class() {
	local class
	for class; do
		(($(samples "$class") == 0)) || complain "$class: $(samples "$class") samples" || return
	done
}

# seen NAME URI CLASS...: profiled some times at most, until each class was seen.
seen() {
	local uri=$1 class missing try
	shift
	for ((try = 0; try < 5; try++)); do
		bench "$uri" || return
		missing=''
		for class; do (($(samples "$class") > 0)) || missing+=" $class"; done
		[[ -n $missing ]] || return 0
	done
	complain "not a sample of$missing" "$(<"$tmp/json")"
}

none_lost() {
	! grep '"lost": [1-9]' "$tmp/json"
}

# path NAME URI CLASS...
path() {
	local name=$1
	shift
	ktap_check "$name: seen: ${*:2}" seen "$@" || return
	ktap_check "$name: every sample is in one class" sums_agree
	ktap_check "$name: no sample was lost" none_lost
}

says() {
	grep -q -- "$1" "$2" || complain "no '$1' in:" "$(<"$2")"
}

unavailable() {
	bench "kernel:$char" && says '"profile_unavailable": "' "$tmp/json" &&
		says '"cpu_kernel_path_us_per_io": null' "$tmp/json" && says '"profile": null' "$tmp/json"
}

projected() {
	timeout -k 5 $((3 * patience)) kdp bench --fabric rtt=2us,gbps=100 --ios 200 --rounds 1 --size 8m \
		"kernel:$char" >"$tmp/text" && says 'PROJECTION, not a measurement' "$tmp/text" &&
		says 'own .* us + post 0 us + rtt 2 us + 4096 B' "$tmp/text"
}

world_begin
ktap_check "the target is up" target_up "$nqn" 64
calm
connected "$KDP_ADDR" "$nqn"

if [[ $MACHINE == uml* ]]; then
	ktap_check "without perf events: the reason, and null" unavailable
	disconnect "$ctrl"
	world_end
fi

ktap_check "a program that spins is all application" timeout "$patience" \
	"$KDP_REPO/build/user/tests/unit/kdp_unit" --gtest_filter='Profiler.*' --gtest_fail_if_no_test_selected
path kernel "kernel:$char" kernel_path provider_threads target idle
path io_uring "kernel:$char?mode=uring&buffers=region" application kernel_path provider_calls provider_threads
path block "block:$disk" kernel_path provider_threads target
path verbs "verbs://$KDP_ADDR:4420/$nqn?nsid=1&wait=poll" application provider_calls provider_threads waiting target
if ktap_check "nvme-rdma connects" stock_up; then
	path nvme-rdma "block:$(nvme_namespace "$stock_nqn")" kernel_path provider_threads target
fi
if ktap_check "nvme-tcp connects" tcp_up; then
	path nvme-tcp "block:$(nvme_namespace "$tcp_nqn")" kernel_path target
	ktap_check "nvme-tcp: no provider" no_class provider_calls provider_threads
fi
ktap_check "a projection, with its formula" projected

nvme_disconnect_stock
disconnect "$ctrl"
ktap_check "nothing is left" nothing_left
world_end
