# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the selftests share. Each begins with
#
#   . "$(dirname "$0")/common.sh"
#   world_begin
#
# and ends with `world_end`. $tmp is a directory of its own, $programs holds what
# the Makefile here builds.

# shellcheck source=tests/vm/guest/lib.sh
. "${KDP_REPO:?run it in the VM: tests/vm/run -- tests/vm/guest/run-selftests.sh NAME}/tests/vm/guest/lib.sh"

programs=$KDP_REPO/build/selftests
tmp=$(mktemp -d /tmp/kdp-selftest.XXXXXX) || exit 4
trap 'rm -rf "$tmp"' EXIT

# No single operation may take longer, on the slowest machine.
patience=$((60 * (kdp_slowness + 1) / 2))

# world_begin: RDMA device and modules. What is left behind and what the kernel says
# meanwhile, run-selftests.sh watches.
world_begin() {
	[[ -x $programs/ioctl_abi ]] || {
		ktap_not_ok "the helper programs are built" "missing in $programs; build them: make -C tests/selftests"
		ktap_done
	}
	{ { rdma_there || rdma_up; } && kdp_load; } 2>"$tmp/world" || {
		ktap_not_ok "the modules load" "$(<"$tmp/world")"
		ktap_done
	}
}

world_empty() {
	if [[ -d /sys/module/kdp_host ]]; then timeout "$patience" kdp disconnect --all || return; fi
	if [[ -e /dev/nvme0 ]]; then timeout "$patience" nvme disconnect-all || return; fi
	kdp_unload && target_down
}

# world_end: everything goes, and the test ends.
world_end() {
	ktap_check "everything disconnects, the modules unload" world_empty
	ktap_done
}

# connect ADDRESS NQN [OPTION...]: prints the controller's name.
connect() {
	local address=$1 nqn=$2
	shift 2
	timeout -k 5 $((patience + 30)) kdp connect -a "$address" -s 4420 -n "$nqn" \
		-q "$kdp_hostnqn" -I "$kdp_hostid" "$@"
}

# connected ADDRESS NQN [OPTION...]: connects for what follows, or ends the test.
connected() {
	local text
	text=$(connect "$@" 2>&1) || {
		ktap_not_ok "connect to $2" "$text"
		world_end
	}
	# shellcheck disable=SC2034 # for the tests
	ctrl=$text disk=/dev/${text}n1 char=/dev/kdpg${text#kdp}n1
}

disconnect() {
	timeout -k 5 "$patience" kdp disconnect "$@"
}

# state_is STATE: of the one controller there is.
state_is() {
	local state
	state=$(json state)
	[[ $state == "$1" ]] || complain "the controller is ${state:-gone}, not $1"
}

# becomes STATE: in time.
becomes() {
	wait_until "$patience" state_is "$1" 2>/dev/null || state_is "$1"
}

# bounded COMMAND...: with an end to our patience (status 124). A function is called as
# it is; what it calls should be bounded.
bounded() {
	if declare -F "$1" >/dev/null; then "$@"; else timeout -k 5 "$patience" "$@"; fi
}

# fails_with ERRNO COMMAND...: it ends in time with status 1 and names that errno
# (or one of A|B|C).
fails_with() {
	local want=$1 text rc=0
	shift
	text=$(bounded "$@" 2>&1) || rc=$?
	echo "$text"
	[[ $rc == 1 && $text =~ \(($want)[,\)] ]]
}

# fails COMMAND...: with any status but those of a command that hung or is missing.
fails() {
	local rc=0
	bounded "$@" || rc=$?
	((rc != 0 && rc < 124))
}

# nodes_of CONTROLLER NSID...: all the nodes are there.
nodes_of() {
	local name=$1 id
	shift
	[[ -c /dev/$name ]] || complain "/dev/$name is no char device" || return
	for id; do
		[[ -b /dev/${name}n$id ]] || complain "/dev/${name}n$id is no block device" || return
		[[ -c /dev/kdpg${name#kdp}n$id ]] || complain "/dev/kdpg${name#kdp}n$id is no char device" || return
	done
}

# rdma_objects: fill `objects` with the number of each kind. The CQs that ib_core keeps
# for the in-tree drivers stay until the device goes; the others count.
rdma_objects() {
	local word kind='' line
	objects=([qp]=0 [cq]=0 [mr]=0 [pd]=0 [cm_id]=0 [ctx]=0 [srq]=0)
	for word in $(rdma resource show); do
		case $word in
		*:) ;;
		*[!0-9]*) kind=$word ;;
		*) [[ $kind == cq || -z $kind ]] || ((objects[$kind] += word)) ;;
		esac
	done
	while read -r line; do
		[[ -z $line || $line == *'[ib_core]'* ]] || ((++objects[cq]))
	done <<<"$(rdma resource show cq)"
}
declare -A objects calm_objects

# calm: the target is up (its listeners are RDMA objects too), and nobody is connected.
calm() {
	local kind
	rdma_objects
	for kind in "${!objects[@]}"; do calm_objects[$kind]=${objects[$kind]}; done
}

is_calm() {
	local kind
	rdma_objects
	for kind in "${!objects[@]}"; do
		((objects[$kind] <= ${calm_objects[$kind]:-0})) || return
	done
}

# no_nodes: no device of ours is there.
no_nodes() {
	local left
	left=$(compgen -G '/dev/kdp*[0-9]*' | grep -v '^/dev/kdpt_')
	[[ -z $left ]] || complain "left:" "$left"
}

# nothing_left: no device of ours, no RDMA object beyond what there was at `calm`.
nothing_left() {
	wait_until 5 no_nodes 2>/dev/null || no_nodes || return
	wait_until 20 is_calm || complain "left:"$'\n'"$(rdma resource show; watch_resources)"
}

# json KEY: the first value of that name in `kdp list --json`.
json() {
	local text pattern="\"$1\": \"?([^\",]*)"
	text=$(bounded kdp list --json)
	[[ $text =~ $pattern ]] || return
	text=${BASH_REMATCH[1]}
	echo "${text%%$'\n'*}"
}

# points_from COMMAND...: run a helper program; its points become ours.
points_from() {
	local line rc=0 seen=0 failed=0
	while IFS= read -r line; do
		case $line in
		'ok - '*) ktap_ok "${line#ok - }"; seen=1 ;;
		'not ok - '*) ktap_not_ok "${line#not ok - }"; seen=1 failed=1 ;;
		status=*) rc=${line#status=} ;;
		*) echo "# ${line#\# }" ;;
		esac
	done < <(timeout -k 5 "${points_time:-$((2 * patience))}" "$@" 2>&1; echo "status=$?")
	((seen && (rc == 0 || (rc <= 2 && failed)))) || ktap_not_ok "${1##*/} runs to its end" "status $rc"
}

# random_file FILE BYTES
random_file() {
	head -c "$2" /dev/urandom >"$1"
}

# same_bytes A B: and say where they differ.
same_bytes() {
	cmp "$1" "$2"
}

# drop_caches: clean pages out, so that the next read is one.
drop_caches() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
}
