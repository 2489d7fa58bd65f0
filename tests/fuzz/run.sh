#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Fuzz the parsers: `make fuzz-wire`. Builds the harnesses with clang into BUILD and runs each
# for its share of the time, one after the other, from a copy of the committed corpus in
# BUILD/corpus, which grows from run to run. The last line says "clean" or "found"; the status is
# 0 only for "clean". What was found stays in BUILD/artifacts.
#
#   tests/fuzz/run.sh BUILD SECONDS [HARNESS...]
#   tests/fuzz/run.sh BUILD --merge [HARNESS...]     take what BUILD/corpus has more into the tree

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

die() {
	printf 'fuzz: %s\n' "$*" >&2
	exit 2
}

build=${1:?usage: run.sh BUILD SECONDS|--merge [HARNESS...]}
seconds=${2:?usage: run.sh BUILD SECONDS|--merge [HARNESS...]}
shift 2
[[ $seconds == --merge || $seconds =~ ^[1-9][0-9]*$ ]] ||
	die "'$seconds' is no number of seconds (FUZZ_SECONDS)"
command -v clang++ >/dev/null || die "clang++ is not installed: make deps"
seeds=tests/fuzz/corpus
logs=$build/logs
mkdir -p "$logs"

say() {
	printf '[%4d s] %s\n' "$SECONDS" "$*"
}

say "building with clang, ASan, UBSan"
{
	cmake -S . -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
		-DCMAKE_BUILD_TYPE=RelWithDebInfo -DKDP_FUZZ=ON &&
		cmake --build "$build" --target kdp_fuzz -j"$(nproc)"
} >"$logs/build.log" 2>&1 </dev/null || {
	tail -n 30 "$logs/build.log" >&2
	die "the harnesses do not build (log: $logs/build.log)"
}

binaries=$build/tests/fuzz
if (($# == 0)); then
	for binary in "$binaries"/fuzz_*; do
		[[ ! -x $binary ]] || set -- "$@" "${binary##*/fuzz_}"
	done
fi
for name; do
	[[ -x $binaries/fuzz_$name ]] || die "no harness '$name'"
	mkdir -p "$build/corpus/$name" "$build/artifacts/$name"
	[[ ! -d $seeds/$name ]] || cp -n "$seeds/$name"/* "$build/corpus/$name/"
done

if [[ $seconds == --merge ]]; then
	for name; do
		mkdir -p "$seeds/$name"
		"$binaries/fuzz_$name" -set_cover_merge=1 "$seeds/$name" "$build/corpus/$name" \
			>"$logs/merge-$name.log" 2>&1 </dev/null || die "merge failed (log: $logs/merge-$name.log)"
		say "$name: $(find "$seeds/$name" -type f | wc -l) files"
	done
	exit 0
fi

# The last number behind "$1" in the log of harness $2, or 0.
figure() {
	local value
	value=$(grep -oE "$1 *[0-9]+" "$logs/$2.log" | tail -n 1 | grep -oE '[0-9]+$') || true
	echo "${value:-0}"
}

share=$((seconds / $#))
((share)) || share=1
runs=0 edges=0 found=()
export ASAN_OPTIONS=${ASAN_OPTIONS:-} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
say "$# harnesses, $share s each"
start=$SECONDS
for name; do
	verdict=clean
	"$binaries/fuzz_$name" -max_total_time="$share" -timeout=10 -rss_limit_mb=1024 \
		-use_value_profile=1 -print_final_stats=1 -artifact_prefix="$build/artifacts/$name/" \
		"$build/corpus/$name" >"$logs/$name.log" 2>&1 </dev/null || {
		verdict=found
		grep -E 'property violated|runtime error|what\(\):|ERROR: ' "$logs/$name.log" | head -n 3 | sed 's/^/    /'
		artifact=$(sed -n 's/.*Test unit written to //p' "$logs/$name.log" | tail -n 1)
		found+=("$name: ${artifact:-(no input)}")
		say "$name: log: $logs/$name.log; again: $binaries/fuzz_$name ${artifact:-}"
	}
	n=$(figure 'stat::number_of_executed_units:' "$name")
	cov=$(figure 'cov:' "$name")
	((runs += n, edges += cov)) || true
	say "$name: $n runs, $((n / share))/s, $cov edges: $verdict"
done

took=$((SECONDS - start))
verdict=clean
((${#found[@]} == 0)) || verdict="found ${#found[@]} (${found[*]})"
echo "$runs runs in $took s, $((runs / (took ? took : 1)))/s, $edges edges covered: $verdict"
((${#found[@]} == 0))
