# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# In the guest: a block device over RTRS, RNBD's server and client on this machine. Sourced after
# tests/vm/guest/lib.sh.
#
#   rnbd_up DEVICE [ADDRESS]     serves DEVICE and maps it: /dev/rnbd0
#   rnbd_down

rnbd_modules=(rtrs-core rtrs-server rtrs-client rnbd-server rnbd-client)

# Ours, built from Debian's source; or those of a kernel that has them.
rnbd_load() {
	local name dir=$KDP_REPO/build/rnbd-$KVER
	for name in "${rnbd_modules[@]}"; do
		[[ ! -d /sys/module/${name//-/_} ]] || continue
		if [[ -f $dir/$name.ko ]]; then insmod "$dir/$name.ko"; else modprobe "$name"; fi ||
			complain "cannot load $name" || return
	done
}

rnbd_there() {
	[[ -b /dev/rnbd0 ]]
}

rnbd_up() {
	rnbd_load &&
		echo "sessname=peers path=ip:${2:-$KDP_ADDR} device_path=$1" \
			>/sys/devices/virtual/rnbd-client/ctl/map_device &&
		wait_until 20 rnbd_there || complain "rnbd_up: no /dev/rnbd0 for $1: $(dmesg | tail -n 3)"
}

rnbd_unload() {
	local i
	for ((i = ${#rnbd_modules[@]} - 1; i >= 0; i--)); do
		[[ ! -d /sys/module/${rnbd_modules[i]//-/_} ]] || rmmod "${rnbd_modules[i]}" || return
	done
}

rnbd_down() {
	! rnbd_there || echo normal >/sys/block/rnbd0/rnbd/unmap_device || return
	wait_until 20 rnbd_unload 2>/dev/null || rnbd_unload
}
