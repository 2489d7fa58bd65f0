#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The userspace-direct path by several threads, each with an I/O queue of one controller; its
# ways to wait; memory registered for good or for each I/O; a user who is not root. Content is
# verified, counts are exact, nothing is left.
# timeout: 300
# quick: 6.12

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/verbs_load.sh"

nqn=nqn.io.kdp:verbs-threads
uri="verbs://$KDP_ADDR:4420/$nqn?nsid=1"

# load URI OPTION...: prints its line.
load() {
	local uri=$1
	shift
	bounded path_load "$@" "$uri"
}

queue_pairs() {
	rdma resource show qp | grep -c 'comm path_load'
}

# One admin queue and an I/O queue a thread.
four_queue_pairs() {
	local pairs
	pairs=$(queue_pairs)
	[[ $pairs == 4 ]] || complain "$pairs queue pairs"
}

# Every thread registers its memory once.
registered_once() {
	local line
	line=$(load "$uri" --threads 2 --depth 8 --ios 300) || return
	echo "$line"
	[[ $(value registrations "$line") == 2 ]]
}

# A registration an I/O, whichever way its data go: more I/Os than asked for are the last look.
registered_each() {
	local line
	line=$(load "$uri&buffers=plain" --threads 2 --depth 8 "$@") || return
	echo "$line"
	[[ $(value registrations "$line") == $(value ios "$line") ]]
}

too_many_queues() {
	local text
	text=$(load "$uri" --threads 200 --depth 1 --places 1 --ios 1 2>&1)
	echo "$text"
	[[ $text == *'200 were asked for'*EBUSY* ]]
}

too_deep() {
	local text
	text=$(load "$uri" --depth 4000 --places 4000 --ios 1 2>&1)
	echo "$text"
	[[ $text == *'a depth of 4000 was asked for'*EINVAL* ]]
}

# nobody COMMAND...: with no rights but those of the device nodes' modes.
nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs "$@"
}

# What udev does on a machine: the nodes of rdma_cm and uverbs are everybody's.
open_nodes() {
	chmod 666 /dev/infiniband/rdma_cm /dev/infiniband/uverbs*
}

for_nobody() {
	install -m 755 "$programs/path_load" /tmp/path-load-for-nobody
}

nobody_loads() {
	local line
	line=$(bounded nobody /tmp/path-load-for-nobody --threads 2 --ios 200 "$uri") || return
	echo "$line"
	[[ $(value errors "$line") == 0 ]]
}

# 4 MiB of I/O memory do not fit.
nobody_limited() {
	local text
	text=$(
		ulimit -l 1024
		bounded nobody /tmp/path-load-for-nobody --bytes 65536 --places 64 --ios 10 "$uri" 2>&1
	) && return 1
	echo "$text"
	[[ $text == *'1024 KiB'*RLIMIT_MEMLOCK* ]]
}

nobody_shut_out() {
	local text
	chmod 600 /dev/infiniband/uverbs*
	text=$(bounded nobody /tmp/path-load-for-nobody --ios 10 "$uri" 2>&1) && return 1
	echo "$text"
	[[ $text == *'(E'* ]]
}

rdma_there || rdma_up || ktap_done
ktap_check "target is up" target_up "$nqn" 64
calm

if load_begin "$uri" --threads 3 --depth 4; then
	ktap_check "three threads, one controller: an admin queue and three I/O queues" four_queue_pairs
else
	ktap_not_ok "three threads"
fi
load_end
ktap_check "content verified" load_was_good
ktap_check "nothing left" nothing_left
ktap_check "two threads, content verified, memory registered once each" registered_once
for way in poll event adaptive; do
	ktap_check "wait=$way, depth 1" load "$uri&wait=$way" --depth 1 --ios 200
	ktap_check "wait=$way, two threads of depth 16" load "$uri&wait=$way" --threads 2 --depth 16 --ios 500
done
ktap_check "buffers=plain: a registration an I/O, 4 KiB" registered_each --ios 200
ktap_check "buffers=plain: a registration an I/O, 64 KiB" registered_each --bytes 65536 --ios 100
ktap_check "buffers=plain and wait=event" load "$uri&buffers=plain&wait=event" --ios 100
ktap_check "nothing left after those" nothing_left
ktap_check "more queues than there are: how many there are" too_many_queues
ktap_check "deeper than the controller takes: how deep it does" too_deep
ktap_check "nothing left after the refusals" nothing_left

if for_nobody && open_nodes; then
	ktap_check "a user without rights loads it" nobody_loads
	ktap_check "RLIMIT_MEMLOCK is named when it is in the way" nobody_limited
	ktap_check "nodes that are not everybody's: an error" nobody_shut_out
	chmod 666 /dev/infiniband/uverbs*
	ktap_check "nothing left by nobody" nothing_left
else
	ktap_not_ok "a user without rights"
fi
rm -f /tmp/path-load-for-nobody
world_end
