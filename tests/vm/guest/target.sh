# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# A stock nvmet target over RDMA, TCP or both, on memory-backed null_blk. Sourced by lib.sh.

nvmet=/sys/kernel/config/nvmet
nullb=/sys/kernel/config/nullb

# target_modules [TRANSPORT...]: rdma unless said.
target_modules() {
	local transport
	[[ -d $nvmet && -d $nullb ]] || { modprobe null_blk nr_devices=0 && modprobe nvmet; } ||
		complain "modprobe null_blk or nvmet failed" || return
	for transport in "${@:-rdma}"; do
		[[ -d /sys/module/nvmet_$transport ]] || modprobe "nvmet-$transport" ||
			complain "modprobe nvmet-$transport failed" || return
	done
}

# target_backend_name NQN NSID: of its null_blk; a disk's name has 31 characters at most.
target_backend_name() {
	local hash
	hash=$(printf %s "$1" | sha1sum)
	echo "kdpt_${hash:0:12}_$2"
}

# target_backend NAME MB BLOCKSIZE: a null_blk that remembers; prints its node.
target_backend() {
	local dir=$nullb/$1 node
	mkdir "$dir" || return
	echo "$2" >"$dir/size" &&
		echo "$3" >"$dir/blocksize" &&
		echo 1 >"$dir/memory_backed" &&
		echo 1 >"$dir/discard" &&
		echo 1 >"$dir/power" || return
	# Named after the directory, or on older kernels after its number.
	for node in "/dev/$1" "/dev/nullb$(cat "$dir/index")"; do
		[[ -b $node ]] && echo "$node" && return
	done
	return 1
}

# target_port NAME FAMILY ADDRESS SERVICE [TRANSPORT]: make the port unless it stands already. With
# TARGET_QUEUE_SIZE its queues have so many entries, where nvmet can be told (from Linux 6.9 on).
target_port() {
	local dir=$nvmet/ports/$1
	[[ -d $dir ]] && return
	mkdir "$dir" &&
		echo "${5:-rdma}" >"$dir/addr_trtype" &&
		echo "$2" >"$dir/addr_adrfam" &&
		echo "$3" >"$dir/addr_traddr" &&
		echo "$4" >"$dir/addr_trsvcid" || return
	[[ -z ${TARGET_QUEUE_SIZE:-} || ! -e $dir/param_max_queue_size ]] ||
		echo "$TARGET_QUEUE_SIZE" >"$dir/param_max_queue_size"
}

# On a kernel with lockdep the ports stay, held by a subsystem that nobody may connect to.
# When a port's last link goes, nvmet destroys the listener under nvmet_config_sem, which
# lockdep reports (handler_mutex against nvmet_config_sem, in stock code alone) and then
# goes off: nothing that comes later would be watched. Where the RDMA device went first,
# the listener is gone and the port can follow.
target_keeper=nqn.io.kdp:keeps-the-ports

target_keep_ports() {
	local port
	[[ -e /proc/lockdep ]] || return 0
	target_modules || return
	mkdir -p "$nvmet/subsystems/$target_keeper"
	target_port 4420 ipv4 "$KDP_ADDR" 4420 && target_port 14420 ipv6 "$KDP_ADDR6" 4420 || return
	for port in 4420 14420; do
		ln -sfn "$nvmet/subsystems/$target_keeper" "$nvmet/ports/$port/subsystems/$target_keeper" || return
	done
}

# To be called when the RDMA device has gone.
target_forget_ports() {
	local port
	[[ -d $nvmet/subsystems/$target_keeper ]] || return 0
	for port in "$nvmet"/ports/*; do
		rm -f "$port/subsystems/$target_keeper"
		rmdir "$port" 2>/dev/null
	done
	rmdir "$nvmet/subsystems/$target_keeper"
}

# target_identity DIR UUID N: who namespace N is; N is added to the UUID's last digit.
target_identity() {
	local uuid
	uuid=${2%?}$(printf %x $((0x${2: -1} + $3)))
	echo "$uuid" >"$1/device_uuid" && echo "$uuid" >"$1/device_nguid"
}

# target_up [--hosts HOSTNQN,...] [--namespaces N] [--blocksize 512|4096]
#           [--devices NODE,...] [--uuid UUID] [--transports rdma,tcp] NQN MB [PORT]
#
# A subsystem with N (1) namespaces of MB each, reachable at KDP_ADDR and KDP_ADDR6,
# port 4420 unless said. With --hosts only those hosts may connect; else any host.
# With --devices those are the namespaces; MB does not matter. With --uuid they are the same
# ones each time: UUID for all but its last digit, and the same as NGUID. By --transports it is
# reachable over each of them (rdma unless said), at the same addresses and port.
# Call it once a subsystem; undo with target_down.
target_up() {
	local hosts='' namespaces=1 blocksize=512 devices=() uuid='' transports=(rdma) transport
	while [[ ${1:-} == --* ]]; do
		case $1 in
		--hosts) hosts=$2 ;;
		--namespaces) namespaces=$2 ;;
		--blocksize) blocksize=$2 ;;
		--devices) IFS=, read -ra devices <<<"$2"; namespaces=${#devices[@]} ;;
		--uuid) uuid=$2 ;;
		--transports) IFS=, read -ra transports <<<"$2" ;;
		*) complain "target_up: unknown option $1"; return ;;
		esac
		shift 2
	done
	local nqn=$1 mb=$2 service=${3:-4420} subsys=$nvmet/subsystems/$1 n node host
	target_modules "${transports[@]}" || return
	[[ ! -d $subsys ]] || complain "target_up: $nqn is up already" || return
	mkdir "$subsys" || return
	if [[ -n $hosts ]]; then
		for host in ${hosts//,/ }; do
			mkdir -p "$nvmet/hosts/$host"
			ln -s "$nvmet/hosts/$host" "$subsys/allowed_hosts/" || return
		done
	else
		echo 1 >"$subsys/attr_allow_any_host"
	fi
	# One serial number a subsystem, stable from boot to boot.
	printf %s "$nqn" | sha1sum | head -c 16 >"$subsys/attr_serial"

	for ((n = 1; n <= namespaces; n++)); do
		node=${devices[n - 1]:-}
		[[ -n $node ]] ||
			node=$(target_backend "$(target_backend_name "$nqn" "$n")" "$mb" "$blocksize") ||
			complain "target_up: cannot make a null_blk of $mb MB for $nqn" || return
		mkdir "$subsys/namespaces/$n" &&
			echo "$node" >"$subsys/namespaces/$n/device_path" &&
			{ [[ -z $uuid ]] || target_identity "$subsys/namespaces/$n" "$uuid" "$n"; } &&
			echo 1 >"$subsys/namespaces/$n/enable" ||
			complain "target_up: cannot enable namespace $n of $nqn on $node" || return
	done

	for transport in "${transports[@]}"; do
		target_serve "$1" "$service" "$transport" || return
	done
}

# target_serve NQN SERVICE TRANSPORT: on a port for each address; a port's name is a number,
# 2SERVICE and 3SERVICE for TCP.
target_serve() {
	local subsys=$nvmet/subsystems/$1 v4=$2 v6=1$2
	[[ $3 == rdma ]] || v4=2$2 v6=3$2
	target_port "$v4" ipv4 "$KDP_ADDR" "$2" "$3" &&
		target_port "$v6" ipv6 "$KDP_ADDR6" "$2" "$3" &&
		ln -s "$subsys" "$nvmet/ports/$v4/subsystems/" &&
		ln -s "$subsys" "$nvmet/ports/$v6/subsystems/" ||
		complain "target_up: cannot listen on $KDP_ADDR and $KDP_ADDR6, $3 port $2 (is the RDMA device up?)"
}

# target_tcp NQN [ADDRESS]: a subsystem that is up can be reached over TCP as well, port 4420.
target_tcp() {
	modprobe nvmet-tcp && target_port 4421 ipv4 "${2:-$KDP_ADDR}" 4420 tcp &&
		ln -s "$nvmet/subsystems/$1" "$nvmet/ports/4421/subsystems/" ||
		complain "target_tcp: cannot listen on ${2:-$KDP_ADDR}, port 4420"
}

# target_leaves, target_returns: the subsystem $nqn leaves its port, and comes back. The target
# hangs up on its hosts then, and the listener goes with the port's last subsystem.
target_leaves() {
	rm "$nvmet/ports/4420/subsystems/$nqn"
}

target_returns() {
	ln -s "$nvmet/subsystems/$nqn" "$nvmet/ports/4420/subsystems/"
}

# target_down [NQN]: that subsystem, or all; its backends; ports that serve nothing.
target_down() {
	local subsys port ns dir nqn=${1:-*} rc=0
	[[ -d $nvmet ]] || return 0
	shopt -s nullglob
	# shellcheck disable=SC2231 # the pattern is meant
	for subsys in $nvmet/subsystems/$nqn; do
		[[ ${subsys##*/} != "$target_keeper" ]] || continue
		for port in "$nvmet"/ports/*/subsystems/"${subsys##*/}"; do rm "$port" || rc=1; done
		for ns in "$subsys"/namespaces/*; do
			echo 0 >"$ns/enable"
			rmdir "$ns" || rc=1
		done
		for dir in "$subsys"/allowed_hosts/*; do rm "$dir" || rc=1; done
		rmdir "$subsys" || rc=1
		dir=${subsys##*/}
		for dir in "$nullb/$(target_backend_name "$dir" '')"*; do
			echo 0 >"$dir/power"
			rmdir "$dir" || rc=1
		done
	done
	for port in "$nvmet"/ports/*; do
		dir=("$port"/subsystems/*)
		((${#dir[@]})) || rmdir "$port" || rc=1
	done
	rdma_there || target_forget_ports
	[[ $nqn != '*' ]] || for dir in "$nvmet"/hosts/*; do rmdir "$dir" || rc=1; done
	shopt -u nullglob
	((rc == 0)) || complain "target_down: something of $nqn would not go"
}
