# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Which of the machine's files a guest had better keep in memory. Sourced by tests/vm/run.

# shellcheck disable=SC2154 # repo, out are set by tests/vm/run

vm_hot_programs=(
	bash sh timeout grep sed awk head tail cat cut sort comm uniq wc tr find xargs dd cmp rm mkdir
	rmdir ln ls mktemp sleep date env tee basename dirname readlink realpath id stat touch setpriv
	dmesg mount umount mountpoint blockdev insmod rmmod modprobe rdma ip nvme fio pgrep pkill
	chmod nproc true sha1sum sha256sum sync truncate jq tc
)

# What those open besides, and the links on the way.
vm_hot_files=(
	/bin /sbin /lib /lib64 /etc/ld.so.cache /etc/nsswitch.conf /etc/passwd /etc/group
	/etc/libibverbs.d/* /usr/lib/x86_64-linux-gnu/libibverbs/lib{rxe,siw}-*.so
)

# vm_write_hot: the programs, the libraries that they need and what lies on the way, one a line.
vm_write_hot() {
	local name path
	local -a programs=() files=()
	for name in "${vm_hot_programs[@]}"; do
		path=$(PATH=$PATH:/usr/sbin:/sbin type -P "$name") && programs+=("$path")
	done
	for path in "$repo/build/user/tools/kdp/kdp" "$repo"/build/selftests/*; do
		[[ -f $path && -x $path ]] && programs+=("$path")
	done
	mapfile -t files < <(
		printf '%s\n' "${programs[@]}"
		ldd "${programs[@]}" 2>/dev/null | grep -oE '(^|\s)/[^ :]+(\s|$)'
	)
	# shellcheck disable=SC2086 # the paths' blanks go
	for path in ${files[*]} "${vm_hot_files[@]}"; do
		[[ -e $path ]] || continue
		printf '%s\n' "$path"
		[[ ! -L $path ]] || readlink -f "$path"
	done | sort -u >"$out/hot"
}
