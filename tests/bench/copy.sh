#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# `make bench-copy`: a file of 512 MB from the page cache to a namespace: by `kdp copy`, by the
# same through a buffer, and by dd through a buffer to the disk. The content is compared each
# time; CPU time per MB stands side by side. In QEMU, with two CPUs that run at the same time.
#
# Environment: ROUNDS=3, MB=512, ACCEL.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

bench=bench-copy
# shellcheck source=tests/bench/lib.sh
. tests/bench/lib.sh

bench_tool
bench_machine stock
printf '[%4d s] %s\n' "$SECONDS" "measuring, some minutes"
bench_run "$logs/stock" --machine stock --timeout 1500 -- tests/bench/guest/copy.sh "${ROUNDS:-3}" "${MB:-512}"
