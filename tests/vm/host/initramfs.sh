# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# The initramfs: busybox, the few modules that reach the machine's root, and `init`.
# Sourced by tests/vm/run. Kept in the cache under a name made of all that went in.
# Our own kernels have all of that built in.

vm_boot_modules=(virtio_pci virtio_net virtio_rng 9pnet_virtio 9p overlay)

# vm_initramfs INIT KERNEL_DIR KVER: print the path of the image, building it if needed.
vm_initramfs() {
	local init=$1 kdir=$2 kver=$3 busybox key image tmp
	busybox=$(command -v busybox) || {
		echo "vm: busybox not found; run 'make deps'" >&2
		return 1
	}
	key=$(cat "$init" "${BASH_SOURCE[0]}" "$busybox" "$kdir/lib/modules/$kver/modules.dep" | sha256sum)
	image=${KDP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kdp}/initramfs/$kver-${key:0:16}.cpio
	if [[ ! -f $image ]]; then
		mkdir -p "${image%/*}"
		tmp=$(mktemp -d "${image%/*}/.build.XXXXXX") || return 1
		if ! vm_build_initramfs "$tmp/root" "$init" "$busybox" "$kdir" "$kver" "$tmp/image"; then
			rm -rf "$tmp"
			return 1
		fi
		mv "$tmp/image" "$image"
		rm -rf "$tmp"
	fi
	echo "$image"
}

vm_build_initramfs() {
	local root=$1 init=$2 busybox=$3 kdir=$4 kver=$5 image=$6 module file name
	mkdir -p "$root"/{bin,modules,proc,sys,dev,out,lower,over,new} || return 1
	cp "$busybox" "$root/bin/busybox" || return 1
	ln -s busybox "$root/bin/sh"
	install -m 755 "$init" "$root/init" || return 1

	# modprobe prints the insmod lines in the order that dependencies want.
	: >"$root/modules/order"
	[[ $engine == qemu ]] || local vm_boot_modules=()
	for module in "${vm_boot_modules[@]}"; do
		PATH=$PATH:/sbin:/usr/sbin modprobe -d "$kdir" -S "$kver" --show-depends "$module" || {
			echo "vm: $kver has no module $module" >&2
			return 1
		}
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$root/modules/.paths" || return 1

	while read -r file; do
		name=${file##*/}
		case $name in
		*.ko) cp "$file" "$root/modules/$name" ;;
		*.ko.xz) name=${name%.xz}; xz -dc "$file" >"$root/modules/$name" ;;
		*) echo "vm: do not know how to unpack $file" >&2; return 1 ;;
		esac || return 1
		echo "$name" >>"$root/modules/order"
	done <"$root/modules/.paths"
	rm "$root/modules/.paths"

	# Not compressed: unpacking it in an emulated guest costs more than reading it.
	(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet) >"$image"
}
