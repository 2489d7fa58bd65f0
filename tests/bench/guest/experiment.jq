# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# From observations (an array of {chart, series, x, value}) to an experiment: $head with notes,
# environment and charts. Series and places stand in the order in which they were first seen.

# Student's t for a 95 % interval, by degrees of freedom.
def student: [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13,
	2.12, 2.11, 2.10, 2.09, 2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04][. - 1] // 1.96;

# Numbers to their mean, and half of the interval that it lies in; null when there is but one.
def estimate:
	length as $n | (add / $n) as $mean |
	{ mean: $mean,
	  half_width: (if $n < 2 then null
		else (($n - 1) | student) * ((map(. - $mean | . * .) | add) / ($n - 1) / $n | sqrt) end) };

# Like group_by, in the order of first appearance.
def groups(key): [to_entries | group_by(.value | key)[]] | sort_by(.[0].key) | map(map(.value));

. as $all
| $head[0]
| .environment = $environment[0]
| .notes = ($notes | split("\n") | map(select(. != "")))
| .charts = [ $charts[] | . as $chart
	| { title, unit, log,
	    series: [ $all | map(select(.chart == $chart.title)) | groups(.series)[]
		| { name: .[0].series,
		    points: [ groups(.x)[] | { x: .[0].x } + (map(.value) | estimate) ] } ] }
	| select(.series != []) ]
