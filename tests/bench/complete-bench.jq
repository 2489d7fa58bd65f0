# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What the JSON of kdp bench lacks, one sentence each: that each path was measured at each point.

. as $all
| (if .failure == null then empty else "it failed: \(.failure.text)" end),
  (if (.paths | length) > 1 then empty else "it has not several paths" end),
  (if (.points | length) > 0 then empty else "it has no point" end),
  (.points[] as $point
	| if ($point.results | length) == ($all.paths | length) then empty
	  else "depth \($point.depth): \($point.results | length) results of \($all.paths | length) paths" end),
  (.points[] as $point | $point.results[]
	| select((.summary.iops.mean | type) == "number" and .summary.iops.mean > 0 | not)
	| "depth \($point.depth): \($all.paths[.path].label) has no I/Os")
