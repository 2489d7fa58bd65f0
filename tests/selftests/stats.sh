# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Counters of $ctrl's queues, by `kdp stats`. Sourced after common.sh.

# look: the counters of all queues, for those below.
look() {
	stats=$(bounded kdp stats "$ctrl" --json)
}

# queues_of SET: how many.
queues_of() {
	grep -c "\"set\": \"$1\"" <<<"$stats"
}

# count SET KEY: the sum over the queues of that set.
count() {
	awk -v set="\"$1\"," -v key="\"$2\":" '$1 == "\"set\":" { here = $2 == set }
		$1 == key && here { sum += $2 } END { print sum + 0 }' <<<"$stats"
}

# counts KEY...: "KEY=NUMBER ..." as they are now, of all I/O queues.
counts() {
	look
	awk -v keys="$*" 'BEGIN { n = split(keys, wanted, " ") }
		$1 == "\"set\":" { here = $2 != "\"admin\"," }
		here { sum[$1] += $2 }
		END { for (i = 1; i <= n; i++) printf "%s=%d ", wanted[i], sum["\"" wanted[i] "\":"] }' <<<"$stats"
}

# value KEY COUNTS: of what `counts` printed.
value() {
	grep -oP "\b$1=\K[0-9]+" <<<"$2"
}

# more KEY BEFORE AFTER
more() {
	echo $(($(value "$1" "$3") - $(value "$1" "$2")))
}
