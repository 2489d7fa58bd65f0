# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A process that holds a registered region (region_hold.c) while a test does something to the
# controller $ctrl, whose namespace is $char. Sourced after common.sh.

hold_begin() {
	coproc HOLD { exec "$programs/region_hold" "/dev/$ctrl" "$char" 1 "$1"; }
	holder=$!
	exec {to_hold}>&"${HOLD[1]}" {from_hold}<&"${HOLD[0]}"
	eval "exec ${HOLD[1]}>&- ${HOLD[0]}<&-"
}

# hold WORD...: its answer.
hold() {
	local answer
	echo "$*" >&"$to_hold" && read -r -t $((2 * patience)) answer <&"$from_hold" || answer="no answer"
	echo "$answer"
}

# hold_says PATTERN WORD...
hold_says() {
	local pattern=$1 answer
	shift
	answer=$(hold "$@")
	[[ $answer =~ ^($pattern)$ ]] || complain "$*: '$answer', not '$pattern'"
}

# hold_ends STATUS NAME: a point. Not by ktap_check, which runs its command in a subshell.
hold_ends() {
	local rc=0
	exec {to_hold}>&- {from_hold}<&-
	wait "$holder" || rc=$?
	if ((rc == $1)); then ktap_ok "$2"; else ktap_not_ok "$2" "its status is $rc"; fi
}
