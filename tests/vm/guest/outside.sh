# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# In the host of two machines (tests/vm/run-two): asking for what only the outside can do.
# Sourced by who needs it, after lib.sh.
#
#   outside kill | start [UUID] | cut | mend | digest        see tests/vm/host/outside.sh

# outside WORD [ARG]: done when it returns; prints the answer.
outside() {
	local name=$KDP_OUT/ask/$EPOCHREALTIME.$BASHPID status
	echo "$*" >"$name.tmp" && mv "$name.tmp" "$name.ask" || return
	wait_until 180 test -e "$name.done" || complain "outside $*: no answer" || return
	{
		read -r status
		cat
	} <"$name.done"
	return "$status"
}
