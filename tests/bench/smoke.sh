#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Do the experiments work? A little of each (QUICK=1); its JSON must be whole and well formed. No
# figure is judged. One line an experiment, "ok" or "not ok"; logs in build/experiments/quick.
#
#   tests/bench/smoke.sh [NAME...]             registration polling lossy crash peers claims
#   tests/bench/smoke.sh --check FILE...       only look at experiments' JSON, of QUICK=1

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit

# lacks FILE: what it lacks, a sentence a line; fails if there is anything.
lacks() {
	local name text
	name=$(basename "$1" .json)
	[[ -s $1 ]] || { echo "there is no $1"; return 1; }
	if [[ $name == peers ]]; then
		text=$(jq -r -f tests/bench/complete-bench.jq "$1" 2>&1)
	else
		text=$(jq -r --arg experiment "$name" --argjson want "$(jq --arg name "$name" '.[$name]' tests/bench/expected.json)" \
			-f tests/bench/complete.jq "$1" 2>&1)
	fi
	[[ -z $text ]] || { echo "$text"; return 1; }
}

status=0
# verdict NAME COMMAND...
verdict() {
	local name=$1 text
	shift
	if text=$("$@" 2>&1); then
		echo "ok $name"
	else
		status=1
		printf '%s\n' "$text" | tail -n 20 | sed 's/^/# /'
		echo "not ok $name"
	fi
}

if [[ ${1:-} == --check ]]; then
	for file in "${@:2}"; do verdict "$file" lacks "$file"; done
	exit "$status"
fi
(($#)) || set -- registration polling lossy crash peers claims
for name; do
	verdict "$name" env QUICK=1 tests/bench/experiment.sh "$name"
	for file in build/experiments/quick/"$name"{,-*}.json; do
		[[ ! -e $file && $file == *-* ]] || verdict "$name: ${file##*/}" lacks "$file"
	done
done
exit "$status"
