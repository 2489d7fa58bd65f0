# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# A filesystem on a block device proves itself with a real tree of files.
# Sourced by who needs it, after lib.sh.

# tree_sources MB: directories of this machine that hold at least that much together.
# The last is the compiler's, which is there because the modules were built.
tree_sources() {
	local dir sum=0
	for dir in /usr/lib/python3.[0-9]* /usr/include/linux /usr/share/qemu \
		/usr/lib/gcc/x86_64-linux-gnu /usr/lib/linux-kbuild-*; do
		[[ -d $dir ]] || continue
		((sum < $1)) || break
		echo "$dir"
		((sum += $(du -sm --apparent-size "$dir" | cut -f 1)))
	done
	((sum >= $1)) || complain "no $1 MB of files on this machine"
}

# tree_sums DIR: "checksum  ./path" of every file below it, sorted by path.
tree_sums() {
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum)
}

tree_step() {
	printf '  %-44s' "$1"
}

tree_took() {
	awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%6.1f s\n", b - a }'
}

# tree_proof DEVICE MB: mkfs.ext4, mount, copy at least MB, unmount, drop caches,
# mount, compare checksums file by file, unmount, fsck. Says what it does.
tree_proof() {
	local device=$1 mb=$2 point=/mnt/kdp-tree dir from rc=0 size files
	local before=/tmp/kdp-tree.before after=/tmp/kdp-tree.after
	local -a sources
	mapfile -t sources < <(tree_sources "$mb")
	((${#sources[@]})) || return

	from=$EPOCHREALTIME
	tree_step "mkfs.ext4 $device"
	mkfs.ext4 -q -F "$device" || return
	tree_took "$from"
	mkdir -p "$point"
	mount -t ext4 "$device" "$point" || complain "cannot mount $device" || return

	from=$EPOCHREALTIME
	tree_step "copy ${sources[*]##*/}, sync"
	# From the root by relative names: --parents stumbles over absolute ones.
	(cd / && cp -a --parents "${sources[@]/#/.}" "$point") && sync -f "$point" ||
		complain "cannot copy ${sources[*]} to $device" || rc=1
	tree_took "$from"
	# Checksums of the sources, not of what the copy's page cache holds.
	for dir in "${sources[@]}"; do
		(cd / && find ".$dir" -type f -print0)
	done | sort -z | (cd / && xargs -0 sha256sum) >"$before" || rc=1

	tree_step "unmount, drop caches, mount"
	from=$EPOCHREALTIME
	umount "$point" || complain "cannot unmount $device" || return
	((rc == 0)) || return
	echo 3 >/proc/sys/vm/drop_caches
	mount -t ext4 -o ro "$device" "$point" || complain "cannot mount $device again" || return
	tree_took "$from"

	from=$EPOCHREALTIME
	tree_step "read and compare every file"
	tree_sums "$point" >"$after" || rc=1
	tree_took "$from"
	size=$(du -sm --apparent-size "$point" | cut -f 1)
	umount "$point" || complain "cannot unmount $device" || return

	files=$(wc -l <"$before")
	if ! cmp -s "$before" "$after"; then
		diff "$before" "$after" | head -n 5 >&2
		complain "files on $device differ from what was copied" || rc=1
	elif ((size < mb || files == 0)); then
		complain "only $size MB in $files files were copied, not $mb MB" || rc=1
	fi
	((rc == 0)) || return

	from=$EPOCHREALTIME
	tree_step "e2fsck -fn"
	e2fsck -fn "$device" >/tmp/kdp-tree.fsck 2>&1 || {
		complain "e2fsck: $(tail -n 5 /tmp/kdp-tree.fsck)"
		return
	}
	tree_took "$from"
	echo "  $files files, $size MB: all checksums agree"
}
