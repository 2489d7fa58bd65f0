#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# One experiment (Documentation/benchmarking): builds what is missing, boots a machine, prints
# progress and the tables; build/experiments/ gets NAME.json, and NAME.html with the plots.
#
#   tests/bench/experiment.sh registration|polling|lossy|crash|peers|claims
#
# Environment: QUICK=1 (a little of everything, to see that it works), ROUNDS, RUNTIME (seconds of a
# turn), MACHINE=stock|uml, ACCEL. Leave the machine alone meanwhile.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

name=${1:-}
[[ $name == [a-z]* && -x tests/bench/guest/$name.sh ]] ||
	{ echo "usage: tests/bench/experiment.sh registration|polling|lossy|crash|peers|claims" >&2; exit 2; }
machine=${MACHINE:-stock}
bench=experiments
((!${QUICK:-0})) || bench=experiments/quick
# shellcheck source=tests/bench/lib.sh
. tests/bench/lib.sh

words=()
for word in QUICK ROUNDS RUNTIME; do
	[[ -z ${!word:-} ]] || words+=("$word=${!word}")
done

bench_tool
bench_machine "$machine"
if [[ $name == peers ]]; then bench_rnbd "$machine"; fi
printf '[%4d s] %s\n' "$SECONDS" "measuring, some minutes"
bench_run "$logs/$name" --machine "$machine" --timeout 2400 -- env "${words[@]}" "tests/bench/guest/$name.sh"
cp "$logs/$name"/*.json "$logs/"
files=("$logs/$name"/*.json)
files=("${files[@]/#"$logs/$name"/"$logs"}")
build/user/tools/kdp/kdp report "${files[@]}" --html "$logs/$name.html"
printf '\n[%4d s] %s: %s %s\n' "$SECONDS" "$name" "${files[*]}" "$logs/$name.html"
