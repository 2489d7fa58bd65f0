# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# I/O on $disk while something happens to it. Sourced after common.sh.

# How fio does it; a test may choose otherwise.
load_options=(--rw=randrw --bs=4k --ioengine=libaio --iodepth=32)

# ios: so many have ended on the disk.
ios() {
	local ios
	read -r ios _ <"/sys/block/${disk#/dev/}/stat" && echo "$ios"
}

io_goes_on() {
	(($(ios) > $1 + 50))
}

# goes_under_load COMMAND...: it succeeds while I/O runs that does not end by itself, and
# after it the I/O ends, with an error.
goes_under_load() {
	local pid rc=0 before
	before=$(ios)
	timeout -k 5 "$patience" fio --name=t --filename="$disk" --direct=1 --size=8M --time_based --runtime=600 \
		--minimal "${load_options[@]}" >/dev/null 2>&1 &
	pid=$!
	wait_until 30 io_goes_on "$before" || complain "the I/O does not begin" || return
	"$@" || return
	wait "$pid" || rc=$?
	((rc != 0 && rc < 124)) || complain "fio's status is $rc"
}

device_goes() {
	bounded rdma link delete "$KDP_RDMA_DEV" && no_nodes
}

device_comes_back() {
	target_down && rdma_up && target_up "$nqn" 16
}
