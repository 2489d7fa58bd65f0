# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the selftests of the userspace-direct path: path_load (path_load.cpp) in the background
# and what it says. Sourced after common.sh.
#
#   load_begin URI [OPTION...]     it runs, and has done something
#   load_moves                     it does more than it had done
#   load_end                       end it; `line` is what it printed, `status` how it ended

load_pid=''
trap '[[ -z $load_pid ]] || kill -KILL "$load_pid"; rm -rf "$tmp"' EXIT

# value NAME LINE: the number behind NAME.
value() {
	[[ " $2 " =~ " $1 "([0-9]+)" " ]] && echo "${BASH_REMATCH[1]}"
}

load_done() {
	local count=0
	[[ ! -s $tmp/progress ]] || count=$(<"$tmp/progress")
	echo "$count"
}

load_beyond() {
	(($(load_done) > $1))
}

load_begin() {
	local uri=$1
	shift
	rm -f "$tmp/stop" "$tmp/progress"
	path_load --until "$tmp/stop" --progress "$tmp/progress" "$@" "$uri" >"$tmp/load" 2>&1 &
	load_pid=$!
	wait_until "$patience" load_beyond 50 || complain "nothing moves:"$'\n'"$(<"$tmp/load")"
}

load_moves() {
	local before
	before=$(load_done)
	wait_until $((2 * patience)) load_beyond $((before + 50)) ||
		complain "nothing moves any more, $before I/Os are over:"$'\n'"$(<"$tmp/load")"
}

load_over() {
	local state
	state=$(cut -d' ' -f3 "/proc/$load_pid/stat" 2>/dev/null)
	[[ ${state:-Z} == Z ]]
}

# Where load_begin was called: not in a ktap_check's subshell.
load_end() {
	touch "$tmp/stop"
	load_ends
}

# It ends by itself, in time.
load_ends() {
	status=0
	wait_until $((2 * patience)) load_over || kill -KILL "$load_pid"
	wait "$load_pid" || status=$?
	load_pid=''
	line=$(<"$tmp/load")
	echo "# status $status: $line"
}

# It has ended well: nothing failed, nothing was wrong.
load_was_good() {
	[[ $status == 0 && $(value errors "$line") == 0 ]] || complain "status $status: $line"
}

# I/Os have failed with ENOTCONN, and nothing was wrong otherwise.
load_was_lost() {
	[[ $status == 3 && $line == *' ENOTCONN '* ]] || complain "status $status: $line"
}
