# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the selftests peer_*: kdp against kdp_peer, a target that does as its script says
# (Documentation/testing-peers.md). Sourced after common.sh.

peer=$KDP_REPO/build/user/tests/peers/kdp_peer
peer_nqn=nqn.io.kdp:peer
peer_number=0

# A place that no partition scan looks at: the offset in bytes, and as a block of 512.
place=1048576 lba=2048

# peers_begin: world_begin, and nobody is connected. A controller that fails stays so, unless
# $peer_loss says how many seconds it looks for its target.
peers_begin() {
	world_begin
	[[ -x $peer ]] || {
		ktap_not_ok "kdp_peer is built" "missing: $peer; build it: make tools"
		ktap_done
	}
	calm
}

peer_listens() {
	grep -q '^listening ' "$peer_log" || [[ ! -d /proc/$peer_pid ]]
}

# peer_start SCRIPT [OPTION...]: sets peer_port, peer_pid, peer_log. Not in a ktap_check,
# which runs its command in a subshell.
peer_start() {
	local script=$1
	shift
	peer_log=$tmp/peer.$BASHPID.$((++peer_number))
	timeout -k 5 $((4 * patience)) "$peer" -a "$KDP_ADDR" -s 0 -e "$script" "$@" >"$peer_log" 2>&1 &
	peer_pid=$!
	wait_until "$patience" peer_listens
	peer_port=$(sed -n 's/^listening .* port=\([0-9]*\).*/\1/p' "$peer_log")
	[[ -n $peer_port ]] || complain "kdp_peer does not start: $(<"$peer_log")"
}

# peer_stop: fails when a rule of the script was never played. Where peer_start was called.
peer_stop() {
	local rc=0
	kill "$peer_pid" 2>/dev/null
	wait "$peer_pid" || rc=$?
	((rc == 0)) || complain "the peer's status is $rc; it said:"$'\n'"$(tail -n 30 "$peer_log")"
}

# peer_ends NAME: a point: it stops, having played all that it should.
peer_ends() {
	local rc=0
	peer_stop 2>"$tmp/stop" || rc=$?
	if ((rc == 0)); then ktap_ok "$1"; else ktap_not_ok "$1" "$(<"$tmp/stop")"; fi
}

# peer_said PATTERN: a line of the peer's events.
peer_said() {
	grep -Eq "$1" "$peer_log" || complain "the peer did not say '$1' but:"$'\n'"$(tail -n 30 "$peer_log")"
}

# peer_refused LINE: the access to our memory of the script's line LINE met an error. iWARP
# tells of it later, and elsewhere: there the memory alone is the proof.
peer_refused() {
	wait_until 10 peer_said "^touched line=$1 " 2>/dev/null || peer_said "^touched line=$1 " || return
	grep -q 'transport=iWARP' "$peer_log" || ! grep -E "^touched line=$1 .*outcome=success" "$peer_log"
}

peer_connect() {
	timeout -k 5 $((patience + 30)) kdp connect -a "$KDP_ADDR" -s "$peer_port" -n "$peer_nqn" -l "${peer_loss:-0}" \
		-q "$kdp_hostnqn" -I "$kdp_hostid" "$@"
}

# connected_to_peer NAME [CONNECT_OPTION...]: sets ctrl and disk; fails with a point.
connected_to_peer() {
	local name=$1 text
	shift
	text=$(peer_connect "$@" 2>&1) || {
		ktap_not_ok "$name: connect" "$text"$'\n'"$(tail -n 30 "$peer_log")"
		return 1
	}
	ctrl=$text disk=/dev/${text}n1
}

# with_peer NAME SCRIPT [CONNECT_OPTION...]: start one and connect; fails with a point.
with_peer() {
	local name=$1 script=$2
	shift 2
	peer_start "$script" || { ktap_not_ok "$name: the peer starts"; return 1; }
	connected_to_peer "$name" "$@" || { peer_stop; return 1; }
}

# peer_end NAME: the end of what with_peer began.
peer_end() {
	ktap_check "$1: disconnects" disconnect "$ctrl"
	peer_ends "$1: the fault was played"
	ktap_check "$1: nothing left" nothing_left
}

# Several faults of one kind share a peer, to save time: the fault of the n-th case is line
# n of the script, and is played at a place of its own, which at_place sets.
#
#   peer_cases read "NAME|FAULT[, FAULT]..."...
peer_cases() {
	local command=$1 case script='' n=0
	shift
	for case; do script+="at 1 $command lba $((lba + 128 * ++n)) do ${case#*|}"$'\n'; done
	peer_start "$script"
}

at_place() {
	place=$(((lba + 128 * $1) * 512))
}

cases_end() {
	peer_ends "all those were played"
	ktap_check "nothing left after those" nothing_left
}

# two_reads: the second is in flight when the first is answered. The first fails, neither
# hangs, and nobody writes into their memory afterwards.
two_reads() {
	bounded guarded_io "$disk" read "$place" 4096 1000 >"$tmp/a" 2>&1 &
	local first=$! a=0 b=0
	sleep 0.5
	bounded guarded_io "$disk" read $((place + 32768)) 4096 1000 >"$tmp/b" 2>&1 || b=$?
	wait "$first" || a=$?
	cat "$tmp/a" "$tmp/b"
	((a == 1 && (b == 0 || b == 1))) || complain "statuses $a and $b"
}

# io_gives STATUS PATTERN COMMAND...: a guarded_io ends so, and its words match.
io_gives() {
	local want=$1 pattern=$2 text rc=0
	shift 2
	text=$(bounded "$@" 2>&1) || rc=$?
	echo "$text"
	[[ $rc == "$want" && $text =~ $pattern ]] || complain "status $rc, not $want with '$pattern'"
}

read_here() {
	io_gives "$1" "$2" guarded_io "$disk" read "$place" 4096 "${3:-0}"
}

# What a broken connection makes of an I/O.
broken='result E(IO|NOLINK)'

# each_breaks "NAME|FAULT"...: a read meets the fault: it ends with an error, and the
# controller has failed.
each_breaks() {
	local case n=0 name
	peer_cases read "$@" || { ktap_not_ok "the peer starts"; return; }
	for case; do
		name=${case%%|*}
		at_place $((++n))
		connected_to_peer "$name" -i 1 || continue
		ktap_check "$name: the read fails" read_here 1 "$broken"
		ktap_check "$name: the controller has failed" becomes failed
		ktap_check "$name: disconnects" disconnect "$ctrl"
	done
	cases_end
}

# each_refused EVENT "NAME|ERRNO|FAULT"...: the n-th connect meets the n-th fault at EVENT
# and fails with that. One peer for all; each connect must cause EVENT once.
# `attempt` is how it connects.
attempt=(peer_connect -i 1)
each_refused() {
	local event=$1 case name want script='' n=0
	shift
	for case; do script+="at $((++n)) $event do ${case##*|}"$'\n'; done
	peer_start "$script" || { ktap_not_ok "the peer starts"; return; }
	for case; do
		name=${case%%|*} want=${case%|*}
		want=${want#*|}
		# one that connects all the same is in the way of the next
		ktap_check "$name: $want" fails_with "$want" "${attempt[@]}" || disconnect --all 2>/dev/null
	done
	cases_end
}

# later NAME ERRNO SCRIPT [CONNECT_OPTION...]: a connect that fails with that, after a while:
# begun now, its point comes with `those_later`.
later_pids=() later_names=()
later() {
	local name=$1 want=$2 script=$3
	shift 3
	(
		rc=0
		peer_start "$script" || exit
				fails_with "$want" peer_connect "$@" || rc=1
		peer_stop || rc=1
		exit "$rc"
	) >"$tmp/later.${#later_pids[@]}" 2>&1 &
	later_pids+=($!) later_names+=("$name: $want, and the fault was played")
}

those_later() {
	local i
	for i in "${!later_pids[@]}"; do
		if wait "${later_pids[i]}"; then
			ktap_ok "${later_names[i]}"
		else
			ktap_not_ok "${later_names[i]}" "$(<"$tmp/later.$i")"
		fi
	done
	later_pids=() later_names=()
	ktap_check "nothing left after those" nothing_left
}
