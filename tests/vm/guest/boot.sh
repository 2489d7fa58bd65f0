#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Process 1 of the guest once the root is mounted; called by the initramfs with
# the results directory. Completes the mounts, runs the script that guest.env
# names, leaves its status in the file `status` and powers off.

set -u
cd / || exit
# shellcheck disable=SC1091 # written by tests/vm/run
. "$1/guest.env"

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# Not C.UTF-8: for that every program opens a dozen files first.
export HOME=/root LANG=C
export KDP_REPO KDP_OUT KDP_MODDIR KVER MACHINE ACCEL KDP_RDMA FULL FUZZ_CALLS FUZZ_SEED KDP_VM=1
PATH=$KDP_REPO/build/user/tools/kdp:$KDP_REPO/build/selftests:$PATH

# What is run again and again goes into the overlay's memory: over 9p each opening of a
# program and its libraries is a dozen messages.
[[ ! -f $KDP_OUT/hot ]] || xargs -d '\n' -a "$KDP_OUT/hot" chown -h 0:0

mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
ln -sfn /proc/self/fd /dev/fd
ln -sfn /proc/self/fd/0 /dev/stdin
ln -sfn /proc/self/fd/1 /dev/stdout
ln -sfn /proc/self/fd/2 /dev/stderr
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
# Recording command names would patch the scheduler whenever a tracepoint is switched on.
# QEMU's translator (two CPU threads) may go on running the breakpoint that stood there
# for a moment: the guest then dies of an int3, or never leaves it.
echo 0 >/sys/kernel/tracing/options/record-cmd
mount -t cgroup2 cgroup2 /sys/fs/cgroup
modprobe configfs
mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
mkdir -p /run/lock
echo kdp-vm >/proc/sys/kernel/hostname
ip link set lo up
# User-Mode Linux has no network device of its own; RDMA to oneself needs none.
[[ -d /sys/class/net/eth0 ]] || ip link add eth0 type dummy
ulimit -l unlimited
stty -onlcr <>/dev/console 2>/dev/null

# Followed, so that what the kernel said is there even if the guest never finishes.
dmesg --follow >"$KDP_OUT/dmesg.txt" 2>/dev/null &
dmesg_pid=$!

finish() {
	kill "$dmesg_pid"
	dmesg >"$KDP_OUT/dmesg.txt"
	echo "$1" >"$KDP_OUT/status.tmp"
	mv "$KDP_OUT/status.tmp" "$KDP_OUT/status"
	sync "$KDP_OUT"
	echo 0 >/proc/sys/kernel/printk
	busybox poweroff -f
	sleep 60
}

[[ ! -d $KDP_CWD ]] || cd "$KDP_CWD" || exit

if ((KDP_SHELL)); then
	export TERM
	stty sane rows "$LINES" columns "$COLUMNS" <>/dev/console
	(($#)) && "$@"
	export PS1='kdp-vm:\w# '
	tty=/dev/ttyS0
	[[ -e $tty ]] || tty=/dev/tty0
	setsid --ctty bash --rcfile "$KDP_REPO/tests/vm/guest/lib.sh" -i <>"$tty" >&0 2>&1
	finish $?
fi

# Without SysRq (User-Mode Linux) by hand.
blocked_tasks() {
	local task
	if [[ -e /proc/sysrq-trigger ]]; then
		echo w >/proc/sysrq-trigger
		return
	fi
	for task in /proc/[0-9]*/task/*; do
		grep -q '^State:.*D' "$task/status" 2>/dev/null || continue
		echo "blocked: $(cat "$task/comm"): $(tr '\n' ' ' <"$task/stack")" >/dev/kmsg
	done
}

# Shortly before the machine gives up: what is everybody waiting for?
if ((KDP_WATCHDOG > 0)); then
	(
		sleep "$KDP_WATCHDOG"
		echo "vm: time is nearly up; blocked tasks follow in dmesg.txt" >/dev/console
		blocked_tasks
	) &
fi

setsid --wait "$@" </dev/null
finish $?
