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

more_ios_than() {
	(($(ios) > $1))
}

# endless_io FIO-OPTION...: in the background; it must not outlive our patience. Sets io_pid.
endless_io() {
	timeout -k 5 $((2 * patience)) fio --name=t --filename="$disk" --direct=1 --time_based --runtime=600 \
		--minimal "$@" >"$tmp/fio" 2>&1 &
	io_pid=$!
}

io_gone() {
	[[ ! -d /proc/$io_pid || $(cut -d ' ' -f 3 "/proc/$io_pid/stat" 2>/dev/null) == Z ]]
}

# io_begin: a point once it runs.
io_begin() {
	local before
	before=$(ios)
	endless_io --rw=randrw --bs=16k --ioengine=libaio --iodepth=8 --size=16M
	ktap_check "I/O runs" wait_until "$patience" more_ios_than $((before + 20)) || cat "$tmp/fio"
}

# What is still read by $held, a descriptor of a disk that went: nothing, by an error or by
# the end of the disk.
reads_nothing() {
	local bytes
	bytes=$(dd bs=4k count=1 status=none <&"$held" 2>/dev/null | wc -c)
	[[ $bytes == 0 ]] || complain "$bytes bytes"
}

# goes_under_load COMMAND...: it succeeds while I/O runs that does not end by itself, and
# after it the I/O ends, with an error.
goes_under_load() {
	local io_pid rc=0 before
	before=$(ios)
	endless_io --size=8M "${load_options[@]}"
	wait_until "$patience" more_ios_than $((before + 50)) || complain "the I/O does not begin" || return
	"$@" || return
	wait "$io_pid" || rc=$?
	((rc != 0 && rc < 124)) || complain "fio's status is $rc"
}

device_goes() {
	bounded rdma link delete "$KDP_RDMA_DEV" && no_nodes
}

device_comes_back() {
	target_down && rdma_up && target_up "$nqn" 16
}
