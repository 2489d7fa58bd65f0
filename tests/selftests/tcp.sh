#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The baseline path: NVMe/TCP in user space against the stock nvmet-tcp, with and without
# digests, none of our modules involved. The in-tree nvme-tcp reads what it wrote, and the
# other way round. No connection may be left behind.
# timeout: 240
# quick: 6.12

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:tcp
uri="tcp://$KDP_ADDR:4420/$nqn?nsid=1"
uri6="tcp://[$KDP_ADDR6]:4420/$nqn?nsid=1"
digests="hdgst=1&ddgst=1"

# connections: established ones to the target, those of the in-tree driver included.
connections() {
	ss -Htn state established '( dport = :4420 )' | wc -l
}

no_more_connections() {
	(($(connections) <= connections_before))
}

nothing_connected() {
	wait_until 20 no_more_connections || complain "connections are left:" "$(ss -tn)"
}

# bench NAME URI OPTION...
bench() {
	local name=$1 uri=$2
	shift 2
	ktap_check "$name" bounded kdp bench "$uri" --verify --allow-write --rounds 1 "$@"
	ktap_check "$name: no connection left" nothing_connected
}

fails_to_open() {
	fails_with "$1" kdp bench "$2" --rw randread --ios 1 --rounds 1
}

# round_trip [OPTION...] SUFFIX: 1 MiB by the tcp path, read back by the in-tree driver, and
# the other way round.
round_trip() {
	local suffix=${*: -1} options=("${@:1:$#-1}")
	random_file "$tmp/a" 1048576
	random_file "$tmp/b" 1048576
	bounded path_io "${options[@]}" "$uri$suffix" write 1048576 1048576 "$tmp/a" &&
		dd if="$stock" of="$tmp/back" bs=1M skip=1 count=1 iflag=direct status=none &&
		same_bytes "$tmp/a" "$tmp/back" &&
		dd if="$tmp/b" of="$stock" bs=1M seek=2 oflag=direct status=none &&
		bounded path_io "${options[@]}" "$uri$suffix" read 2097152 1048576 "$tmp/back" &&
		same_bytes "$tmp/b" "$tmp/back"
}

killed_with_io() {
	local pid
	kdp bench "$uri" --rw randread --bs 4k --depth 16 --size 8m --runtime 60 --rounds 1 >/dev/null 2>&1 &
	pid=$!
	sleep 2
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	nothing_connected
}

tcp_leaves() {
	rm "$nvmet/ports/24420/subsystems/$nqn" "$nvmet/ports/34420/subsystems/$nqn"
}

tcp_returns() {
	ln -s "$nvmet/subsystems/$nqn" "$nvmet/ports/24420/subsystems/" &&
		ln -s "$nvmet/subsystems/$nqn" "$nvmet/ports/34420/subsystems/"
}

# The run ends by itself, in time, and says why.
target_goes() {
	local pid rc=0
	timeout -k 5 "$patience" kdp bench "$uri" --rw randrw --allow-write --bs 4k --depth 16 --size 8m \
		--runtime 600 --rounds 1 >"$tmp/gone" 2>&1 &
	pid=$!
	wait_until "$patience" has_connections || complain "it does not connect" || return
	sleep 2
	tcp_leaves
	wait "$pid" || rc=$?
	cat "$tmp/gone"
	[[ $rc != 0 && $rc -lt 124 ]] && grep -q ENOTCONN "$tmp/gone"
}

has_connections() {
	(($(connections) >= connections_before + 2))
}

rdma_there || rdma_up || ktap_done
[[ -x $programs/path_io ]] || {
	ktap_not_ok "path_io is built" "build the library, then: make -C tests/selftests"
	world_end
}
ktap_check "target is up" target_up --transports tcp "$nqn" 32
connections_before=$(connections)

bench "4k random reads, depth 1" "$uri" --rw randread --bs 4k --depth 1 --size 1m --ios 200
bench "4k random reads, depth 32" "$uri" --rw randread --bs 4k --depth 32 --size 4m --ios 1000
bench "4k random writes, depth 1" "$uri" --rw randwrite --bs 4k --depth 1 --size 1m --ios 200
bench "4k random writes, depth 32" "$uri" --rw randwrite --bs 4k --depth 32 --size 4m --ios 1000
bench "512-byte reads, depth 4" "$uri" --rw read --bs 512 --depth 4 --size 256k --ios 200
bench "1m writes, which R2Ts ask for, depth 8" "$uri" --rw write --bs 1m --depth 8 --size 16m --ios 50
bench "1m reads, depth 8" "$uri" --rw read --bs 1m --depth 8 --size 16m --ios 50
bench "64k random writes over IPv6" "$uri6" --rw randwrite --bs 64k --depth 4 --size 4m --ios 50
for which in hdgst=1 ddgst=1 "$digests"; do
	bench "4k random writes, $which" "$uri&$which" --rw randwrite --bs 4k --depth 16 --size 4m --ios 300
	bench "64k random reads, $which" "$uri&$which" --rw randread --bs 64k --depth 4 --size 4m --ios 50
done

ktap_check "answers that waited for longer than io_timeout= are taken" \
	bounded path_io --late 4 "$uri&io_timeout=2" read 0 65536 "$tmp/back" 4096
if stock=$(nvme_connect_stock --tcp "$nqn"); then
	ktap_check "the in-tree nvme-tcp has the same bytes" round_trip ""
	ktap_check "the same with digests" round_trip "&$digests"
	ktap_check "the same by four queues of one controller" round_trip --paths 4 ""
	nvme_disconnect_stock "$nqn"
else
	ktap_not_ok "the in-tree nvme-tcp connects" "$stock"
fi

ktap_check "a namespace that is not there" fails_to_open ENODEV "tcp://$KDP_ADDR:4420/$nqn?nsid=9"
ktap_check "a subsystem that is not there" fails_to_open ENOENT "tcp://$KDP_ADDR:4420/$nqn-none?nsid=1"
ktap_check "a port where nobody listens" fails_to_open ECONNREFUSED "tcp://$KDP_ADDR:4421/$nqn?nsid=1"
ktap_check "an address that is not there" fails_to_open 'EHOSTUNREACH|ENETUNREACH|ETIMEDOUT' "tcp://192.0.2.1:4420/$nqn?nsid=1"
ktap_check "a name instead of an address" fails_to_open EINVAL "tcp://nowhere:4420/$nqn?nsid=1"
ktap_check "a depth that the target does not take" \
	fails_with EINVAL kdp bench "$uri" --rw randread --ios 1 --rounds 1 --depth 1024
ktap_check "no connection left after those" nothing_connected
ktap_check "killed with I/O in flight, no connection left" killed_with_io
ktap_check "the target goes in the middle of a run, which ends and says so" target_goes
ktap_check "nobody serves the subsystem now" fails_to_open 'ENOENT|ECONNREFUSED' "$uri"
ktap_check "the target returns" tcp_returns
ktap_check "and it works again" bounded kdp bench "$uri" --rw randread --ios 10 --size 1m --rounds 1
world_end
