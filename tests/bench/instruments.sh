#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# `make bench-instruments`: kdp bench beside fio on the same block device with the same job: IOPS and p99;
# and perftest's raw verbs beside the verbs path. Once with time counted in instructions, where
# both should say the same within 5 %, and once with CPUs that run at the same time, where their 95 %
# intervals should overlap. Exits with 1 if a figure agrees in neither.
#
# Environment: ROUNDS=5, IOS=2000 a turn.
# Leave the machine alone meanwhile.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

bench='bench-instruments'
# shellcheck source=tests/bench/lib.sh
. tests/bench/lib.sh

bench_tool
bench_machine stock
status=0
for clock in icount multi; do
	accel=()
	[[ $clock == multi ]] || accel=(--accel icount)
	printf '[%4d s] %s\n' "$SECONDS" "measuring: $clock"
	bench_run "$logs/$clock" --machine stock "${accel[@]}" --timeout 1500 -- \
		tests/bench/guest/instruments.sh "$clock" "${ROUNDS:-5}" "${IOS:-2000}" || status=$?
done
neither=$(sort "$logs/icount/apart" "$logs/multi/apart" | uniq -d)
[[ -z $neither ]] || { printf 'they agree by neither clock: %s\n' "$neither"; status=1; }
exit "$status"
