# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What the experiments share in the guest: from single observations to the JSON of an
# experiment (Documentation/benchmarking/README.md). Sourced first of all.
#
#   experiment_begin NAME TITLE XLABEL XUNIT XLOG     '-' as XUNIT: x are words
#   chart TITLE UNIT LOG [FIGURE]                     FIGURE: of kdp bench, filled by `cell`
#   cell X [OPTION of kdp bench...] -- NAME=URI...    one run of kdp bench
#   observe CHART SERIES X VALUE                      one value; several of one place are rounds
#   note TEXT
#   environment_by URI                                where there is no cell
#   experiment_end                                    writes $KDP_OUT/NAME.json
#
# QUICK=1: little of everything, to see whether it works. ROUNDS, RUNTIME (seconds of a turn).

# shellcheck source=tests/vm/guest/lib.sh
. "${KDP_REPO:?run it by make experiment-NAME}/tests/vm/guest/lib.sh"

quick=${QUICK:-0}

# per_turn ROUNDS SECONDS: set $rounds, and $turn, which kdp bench is told: how many rounds and how
# long each turn is, unless the environment says otherwise. CPU time comes in ticks: kdp bench has none
# for turns under half a second.
# shellcheck disable=SC2034 # for the experiments
per_turn() {
	rounds=${ROUNDS:-$1}
	((!quick)) || rounds=1
	turn=(--warmup 20 --runtime "${RUNTIME:-$2}")
	((!quick)) || turn=(--warmup 5 --runtime 0.6)
}

experiment_begin() {
	experiment=$1 charts=() observations=$KDP_OUT/$1.observations
	: >"$observations"
	jq -n --arg name "$1" --arg title "$2" --arg xlabel "$3" --arg unit "${4/#-/}" --argjson log "$5" \
		'{schema: 1, experiment: $name, title: $title, environment: null, notes: [],
		  x: {label: $xlabel, unit: $unit, log: $log}}' >"$KDP_OUT/$1.head"
	: >"$KDP_OUT/$1.notes"
}

chart() {
	charts+=("$(jq -nc --arg title "$1" --arg unit "$2" --argjson log "$3" --arg figure "${4:-}" '$ARGS.named')")
}

note() {
	echo "  note: $*"
	echo "$*" >>"$KDP_OUT/$experiment.notes"
}

# x_json X: a number, or a word in quotes.
x_json() {
	if [[ $1 =~ ^-?[0-9]+(\.[0-9]+)?$ ]]; then echo "$1"; else echo "\"$1\""; fi
}

# Names and words are ours: without quotes and backslashes.
observe() {
	printf '{"chart":"%s","series":"%s","x":%s,"value":%s}\n' "$1" "$2" "$(x_json "$3")" "$4" >>"$observations"
}

# progress WORDS...
progress() {
	printf '  [%4d s] %s\n' "$SECONDS" "$*"
}

# cell X [OPTION...] -- NAME=URI...: each figure of the charts, of each path in each round. With
# may_fail=1 a path that fails is noted; else it ends the experiment. Its JSON stays in $cell.
cell=/tmp/experiment-cell
may_fail=0
cell() {
	local x=$1 options=() names=() uris=() pair status=0
	shift
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	for pair; do
		names+=("${pair%%=*}")
		uris+=("${pair#*=}")
	done
	progress "$x: ${names[*]}"
	timeout -k 5 "${cell_patience:-150}" kdp bench --json "${turn[@]}" --size 16m "${options[@]}" "${uris[@]}" \
		>"$cell" 2>"$cell.errors" </dev/null || status=$?
	if [[ ! -s $cell ]]; then
		((may_fail)) || complain "kdp bench ${options[*]} ${uris[*]}: status $status: $(<"$cell.errors")" || return
		note "${names[*]} at $x: kdp bench ended with status $status: $(tail -n 1 "$cell.errors")"
		return 0
	fi
	cell_observe "$x" "${names[@]}" || return
	((status == 0 || may_fail)) || complain "kdp bench ${options[*]} ${uris[*]}: $(<"$cell.errors")" || return
	((status == 0)) || note "${names[*]} at $x: $(cell_failure)"
}

# The one place that knows the schema of kdp bench --json.
cell_observe() {
	local x=$1
	shift
	jq -c --argjson x "$(x_json "$x")" --argjson charts "$(IFS=,; echo "[${charts[*]}]")" '
		.points[].results[] | $ARGS.positional[.path] as $series | .rounds[] | .figures as $figures |
		$charts[] | select(.figure != "" and $figures[.figure] != null) |
		{chart: .title, series: $series, x: $x, value: $figures[.figure]}' \
		"$cell" --args "$@" >>"$observations" || return
	jq .environment "$cell" >"$KDP_OUT/environment"
}

cell_failure() {
	jq -r '[.failure, .points[]?.results[]?.failure] | map(select(. != null))[0] |
		if . == null then "it failed" else "\(.text) (\(.errno_name))" end' "$cell"
}

# environment_by URI: where no cell tells of the environment: by one I/O.
environment_by() {
	kdp bench --json --ios 1 --rounds 1 --warmup 0 --size 1m "$1" 2>"$cell.errors" </dev/null |
		jq .environment >"$KDP_OUT/environment"
}

# cell_ios: of the last cell, of all paths and rounds; 0 if there is nothing.
cell_ios() {
	jq '[.points[]?.results[]?.rounds[]?.ios] | add // 0' "$cell"
}

experiment_end() {
	jq -s --slurpfile head "$KDP_OUT/$experiment.head" --rawfile notes "$KDP_OUT/$experiment.notes" \
		--slurpfile environment <(cat "$KDP_OUT/environment" 2>/dev/null || echo null) \
		--argjson charts "$(IFS=,; echo "[${charts[*]}]")" \
		-f "$KDP_REPO/tests/bench/guest/experiment.jq" "$observations" >"$KDP_OUT/$experiment.json" &&
		rm "$KDP_OUT/$experiment".{head,notes}
}

# experiment_over COMMAND...: take everything down by it; nothing may be left, and the kernel may not
# have complained. What every experiment ends with.
experiment_over() {
	"$@" && watch_end || complain "something is left" || return
	progress "nothing left behind, no complaint from the kernel, modules unloaded"
}
