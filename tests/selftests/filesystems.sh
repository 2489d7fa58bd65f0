# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A filesystem of each kind that there is, in $mounts as TYPE:DIRECTORY. Sourced after common.sh.

# mount_one TYPE: an empty one at $tmp/TYPE, on a loop device; or a reason on stdout.
mount_one() {
	local type=$1 image=$tmp/$1.image
	mkdir -p "$tmp/$type"
	if [[ $type == tmpfs ]]; then
		mount -t tmpfs tmpfs "$tmp/$type"
		return
	fi
	type -P "mkfs.$type" >/dev/null || { echo "no mkfs.$type"; return 1; }
	grep -qw "$type" /proc/filesystems || modprobe -q "$type" || { echo "the kernel has no $type"; return 1; }
	modprobe -q loop
	truncate -s 320M "$image" && "mkfs.$type" -q "$image" && mount -o loop "$image" "$tmp/$type"
}

mount_all() {
	local type why
	for type in tmpfs ext4 xfs btrfs; do
		why=$(mount_one "$type" 2>&1)
		if mountpoint -q "$tmp/$type"; then
			mounts+=("$type:$tmp/$type")
		else
			ktap_skip "files on $type" "${why##*$'\n'}"
		fi
	done
}

unmount_all() {
	local mount
	for mount in "${mounts[@]}"; do umount "${mount#*:}" || return; done
}
