# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What an experiment's JSON lacks, one sentence each; nothing if it is whole. $want is what it should
# hold: {x: [...], series: [...], charts: [...]}: each chart has each series, each series each x. A series
# may lack a place that a note tells of. No value is judged, but that it is one.

def name: if type == "string" then . else tojson end;

# "SERIES at X: why", as tests/bench/guest/experiment.sh notes a path that failed.
def noted($notes; $series; $x): any($notes[]; startswith("\($series) at \($x | name):"));

. as $all
| (if .schema == 1 then empty else "schema is \(.schema), not 1" end),
  (if .experiment == $experiment then empty else "it is of \(.experiment), not \($experiment)" end),
  (if (.title | type) == "string" and .title != "" then empty else "there is no title" end),
  (if (.environment.kernel? | type) == "string" then empty else "the environment names no kernel" end),
  (if (.notes | type) == "array" and (.notes | length) > 0 then empty else "there are no notes" end),
  (if (.x | .label and has("unit") and has("log")) then empty else "x has not label, unit and log" end),
  (if ([.charts[].title] | length == (unique | length)) then empty else "two charts have one title" end),
  ($want.charts[] as $title
	| ([$all.charts[] | select(.title == $title)][0]) as $chart
	| if $chart == null then "there is no chart \"\($title)\""
	  else $want.series[] as $series
		| ([$chart.series[] | select(.name == $series)][0].points // []) as $points
		| $want.x[] as $x
		| select(any($points[]; .x == $x) or noted($all.notes; $series; $x) | not)
		| "chart \"\($title)\": \"\($series)\" has nothing at \($x | name)"
	  end),
  (.charts[] as $chart | $chart.series[] as $series | $series.points[]
	| select(((.mean | type) == "number" and .mean >= 0 and
		(.half_width == null or ((.half_width | type) == "number" and .half_width >= 0))) | not)
	| "chart \"\($chart.title)\": \"\($series.name)\" at \(.x | name) is \(.mean) +- \(.half_width)"),
  (.charts[] as $chart | $chart.series[] | select([.points[].x] | length != (unique | length))
	| "chart \"\($chart.title)\": \"\(.name)\" has a place twice")
