#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Install the Debian packages that kdp is built, tested and tried with: those
# that are missing, and no others. Silent and quick when there is nothing to do.
#
#   scripts/deps.sh          install what is missing
#   scripts/deps.sh --list   print every package, one a line; install nothing
#   scripts/deps.sh --check  print what is missing; exit 1 if anything is

set -euo pipefail

build_packages=(
	make gcc g++ ccache cmake pkg-config bc flex bison libelf-dev sparse xz-utils perl git patch
	linux-headers-amd64 linux-headers-6.12-amd64
	libibverbs-dev librdmacm-dev libnl-3-dev libnl-genl-3-dev
	libcli11-dev libfmt-dev nlohmann-json3-dev liburing-dev libgtest-dev
	clang-format clang-tidy clang libclang-rt-14-dev llvm doxygen
)

run_packages=(
	qemu-system-x86 busybox-static cpio kmod iproute2 procps
	rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest
	nvme-cli fio strace linux-perf jq e2fsprogs xfsprogs btrfs-progs
)

die() {
	printf 'deps: %s\n' "$*" >&2
	exit 1
}

command -v dpkg-query >/dev/null ||
	die "dpkg-query not found: this script knows Debian 12 only; install by hand: ${build_packages[*]} ${run_packages[*]}"

# Packages of the lists that dpkg does not have in state "installed".
missing_packages() {
	local name state
	declare -A have=()
	while read -r name state; do
		[[ $state == ii* ]] && have[$name]=1
	done < <(dpkg-query -W -f='${Package} ${db:Status-Abbrev}\n' \
		"${build_packages[@]}" "${run_packages[@]}" 2>/dev/null)
	for name in "${build_packages[@]}" "${run_packages[@]}"; do
		[[ -n ${have[$name]:-} ]] || echo "$name"
	done
}

case ${1:-} in
--list)
	printf '%s\n' "${build_packages[@]}" "${run_packages[@]}"
	exit 0
	;;
--check | '') ;;
*) die "unknown argument '$1' (known: --list, --check)" ;;
esac

mapfile -t missing < <(missing_packages)
((${#missing[@]})) || exit 0

if [[ ${1:-} == --check ]]; then
	printf '%s\n' "${missing[@]}"
	exit 1
fi

as_root=()
if ((EUID != 0)); then
	command -v sudo >/dev/null ||
		die "not root and no sudo; run as root: apt-get install ${missing[*]}"
	as_root=(sudo)
fi

echo "deps: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT

apt() {
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" \
		>"$log" 2>&1 </dev/null || {
		tail -n 20 "$log" >&2
		die "'apt-get $*' failed (see above); check /etc/apt/sources.list and the network"
	}
}

apt update
apt install -y --no-install-recommends "${missing[@]}"

mapfile -t missing < <(missing_packages)
((${#missing[@]} == 0)) || die "still missing after apt-get install: ${missing[*]}"
