#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kdp monitor: each change of a controller's state, once, in order, to whoever may ask.
# timeout: 120

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:monitor

# states: as they came, with the reason where there is one.
states() {
	sed -n 's/^[0-9:.]* kdp[0-9]* //p' "$tmp/events" | paste -sd ' '
}

came() {
	wait_until 20 came_now "$1" || complain "it was: $(cat "$tmp/events")"
}

came_now() {
	[[ $(states) == "$1" ]]
}

json_lines() {
	local state want=(connecting live deleting) n=0 line
	while read -r line; do
		state=${want[n++]:-none}
		[[ $line =~ ^\{\"time_s\":[0-9.]+,\"controller\":\"kdp0\",\"instance\":0,\"state\":\"$state\",\"subsystem_nqn\":\"$nqn\",\"reconnects\":0,\"reason\":\"\"\}$ ]] ||
			complain "line $n, state $state: $line" || return
	done <"$tmp/json"
	((n == ${#want[@]})) || complain "$n lines"
}

world_begin
ktap_check "target is up" target_up "$nqn" 16
calm

kdp monitor >>"$tmp/events" 2>&1 &
monitor=$!
ktap_check "somebody listens" wait_until 20 grep -q listening "$tmp/events"
connected "$KDP_ADDR" "$nqn" --ctrl-loss-tmo 0
ktap_check "a connect" came "connecting live"
ktap_check "kdp reset returns" bounded kdp reset "$ctrl"
ktap_check "a reset" came "connecting live resetting: reset by request connecting live"
ktap_check "the target leaves" target_leaves
ktap_check "it is given up, and why" wait_until 20 grep -q ' failed: .' "$tmp/events"
ktap_check "a reset in vain: ENOTCONN" fails_with ENOTCONN kdp reset "$ctrl"
ktap_check "the target returns" target_returns
ktap_check "a reset that helps" bounded kdp reset "$ctrl"
: >"$tmp/events"
ktap_check "disconnect" disconnect "$ctrl"
ktap_check "a disconnect" came "deleting gone"
kill "$monitor"
wait "$monitor"

kdp monitor --json -c 3 >"$tmp/json" 2>"$tmp/events" &
monitor=$!
ktap_check "somebody listens for JSON" wait_until 20 grep -q listening "$tmp/events"
connected "$KDP_ADDR" "$nqn" --name kdp0
ktap_check "disconnect again" disconnect "$ctrl"
wait "$monitor"
ktap_check "the JSON monitor ends by itself" test $? = 0
ktap_check "its lines are objects" json_lines
kdp_unload
ktap_check "without the module: ENODEV" fails_with ENODEV kdp monitor
ktap_check "not a number of changes" test "$(bounded kdp monitor -c 0 >/dev/null 2>&1; echo $?)" = 2
world_end
