# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the selftests recovery_* and those of tests/faults: loads that notice when data is lost,
# and what is done to the connection meanwhile. Sourced after common.sh.
#
#   load_begin DISK [--errors]     fio, checksums verified, and a ledger, on one disk
#   files_begin DISK [ext4|xfs]    a filesystem, fsync after fsync
#   survives NAME BREAK MEND       a fault that nobody but the state may notice
#   files_end, load_end            all that was acknowledged is there
#
# With FAULTS_HOST=stock the in-tree driver is the host, for comparison: what holds for
# both is asked of it as well.

FAULTS_HOST=${FAULTS_HOST:-kdp}

# How long nothing may happen before we think that nothing will: the longest step is
# noticing that the other end is gone, by the keep-alive or by retries of the provider.
faults_patience=$((2 * patience))

# A test that breaks off leaves no load running.
fio_pid='' ledger_pid='' files_pid=''
loads_kill() {
	local pid
	for pid in $fio_pid $ledger_pid $files_pid; do
		pkill -KILL -P "$pid" 2>/dev/null
	done
}
trap 'loads_kill; rm -rf "$tmp"' EXIT

# fio's part of a disk and the ledger's.
load_bytes=$((8 << 20)) ledger_at=$((12 << 20))

# host_connected ADDRESS NQN [OPTION of kdp connect...]: sets ctrl, disk, disk2.
host_connected() {
	local -a options=()
	disk2=''
	if [[ $FAULTS_HOST == kdp ]]; then
		connected "$@"
		disk2=${disk%n1}n2
		return
	fi
	local address=$1 nqn=$2
	shift 2
	while (($#)); do
		case $1 in
		--ctrl-loss-tmo) options+=(-l "$2") ;;
		--reconnect-delay) options+=(-c "$2") ;;
		--fast-io-fail-tmo) options+=("--fast_io_fail_tmo=$2") ;;
		-k) options+=(-k $((($2 + 999) / 1000))) ;;
		esac
		shift 2
	done
	disk=$(nvme_connect_stock "$nqn" "$address" 4420 "${options[@]}" 2>"$tmp/connect") || {
		ktap_not_ok "nvme connect to $nqn" "$(<"$tmp/connect")"
		world_end
	}
	ctrl=$(compgen -G '/sys/class/nvme/nvme*/state' | cut -d / -f 5)
	# shellcheck disable=SC2034 # for the tests
	! wait_until 2 nvme_has_namespace "$nqn" 2 || disk2=$(nvme_namespace "$nqn" 2)
}

# kdp_only: what follows asks for what the in-tree driver has not.
kdp_only() {
	[[ $FAULTS_HOST != kdp ]] || return 0
	ktap_skip "what follows" "it is about kdp's own states and commands"
	world_end
}

host_disconnect() {
	if [[ $FAULTS_HOST == kdp ]]; then
		disconnect "$ctrl"
	else
		timeout -k 5 "$patience" nvme disconnect -d "$ctrl"
	fi
}

host_reset() {
	if [[ $FAULTS_HOST == kdp ]]; then
		timeout -k 5 "$faults_patience" kdp reset "$ctrl" "$@"
	else
		timeout -k 5 "$faults_patience" nvme reset "/dev/$ctrl"
	fi
}

host_state() {
	if [[ $FAULTS_HOST == kdp ]]; then json state; else cat "/sys/class/nvme/$ctrl/state"; fi
}

state_is() {
	local state
	state=$(host_state)
	[[ $state == "$1" ]] || complain "the controller is ${state:-gone}, not $1"
}

state_is_not() {
	! state_is "$1" 2>/dev/null || complain "the controller is $1"
}

# becomes STATE, becomes_not STATE: within our patience.
becomes() {
	wait_until "$faults_patience" state_is "$1" 2>/dev/null || state_is "$1"
}

becomes_not() {
	wait_until "$faults_patience" state_is_not "$1" 2>/dev/null || state_is_not "$1"
}

ios_of() {
	local reads writes rest
	read -r reads _ _ _ writes rest <"/sys/block/${1#/dev/}/stat" && echo $((reads + writes))
}

ios_exceed() {
	(($(ios_of "$1") > $2))
}

# goes_on DISK...: I/O completes there that was not even begun now: no load has 60 in flight.
goes_on() {
	local one
	local -A from=()
	for one; do from[$one]=$(ios_of "$one"); done
	for one; do
		wait_until "$faults_patience" ios_exceed "$one" $((from[$one] + 60)) ||
			complain "$one: no more than $(($(ios_of "$one") - from[$one])) I/Os"$'\n'"$(loads_said)" || return
	done
}

# --- the loads ---------------------------------------------------------------------

loads_said() {
	tail -n 5 "$tmp"/{fio,ledger,files}.said 2>/dev/null
}

# fio_begin DISK [--errors]: reads and writes on its part until fio_end, 32 at once. Each byte
# read back is compared. With --errors by 8 threads, one each: of a disk that has gone a read
# comes back empty, which fio knows for an error only when it is synchronous.
fio_begin() {
	local depth=(--ioengine=libaio --iodepth=32 --size="$load_bytes" --verify_backlog=64)
	[[ ${2:-} != --errors ]] ||
		depth=(--ioengine=psync --numjobs=8 --size=$((load_bytes / 8)) --offset_increment=$((load_bytes / 8)) --verify_backlog=16)
	# not to make a file under the name of a disk that has gone
	timeout -k 5 $((20 * patience)) fio --name=t --thread --filename="$1" --allow_file_create=0 --rw=randrw --bs=4k --direct=1 \
		--time_based --runtime=3600 --verify=crc32c --verify_fatal=1 --verify_state_save=0 --minimal "${depth[@]}" \
		>"$tmp/fio.said" 2>&1 &
	fio_pid=$! fio_self=''
}

# It knows what to do when it is asked to end: it catches SIGTERM.
fio_listens() {
	local key value mask=0
	[[ -n $fio_self ]] || fio_self=$(pgrep -P "$fio_pid" -x fio) || return
	while read -r key value; do
		[[ $key != SigCgt: ]] || mask=$((0x$value))
	done 2>/dev/null <"/proc/$fio_self/status"
	((mask >> 14 & 1))
}

fio_starts() {
	wait_until "$patience" fio_listens || complain "fio does not start:"$'\n'"$(loads_said)"
}

# What is to hold later has been promised by then.
io_runs() {
	[[ -z $fio_pid ]] || fio_starts || return
	goes_on "$1" && wait_until "$faults_patience" ledger_promised || complain "$(loads_said)"
}

ledger_promised() {
	local writes rest
	read -r writes rest < <(ledger count "$tmp/ledger.book") && ((writes))
}

# gone PID: ended, whether somebody has waited for it or not.
gone() {
	local state
	read -r _ _ state _ 2>/dev/null <"/proc/$1/stat" || return 0
	[[ $state == Z ]]
}

# ends PID: sets `ended_with`.
ends() {
	wait_until "$faults_patience" gone "$1" || return
	ended_with=0
	wait "$1" || ended_with=$?
}

# Of fio's statuses 128 says that it was asked to end and has met no error.
fio_end() {
	kill -TERM "$fio_self"
	ends "$fio_pid" || complain "fio does not end" || return
	fio_pid=''
	((ended_with == 128)) || complain "fio's status is $ended_with:"$'\n'"$(cut -c 1-300 "$tmp/fio.said")"
}

# fio_fails: by itself, by an I/O error, never by a wrong byte.
fio_fails() {
	ends "$fio_pid" || complain "fio does not end" || return
	fio_pid=''
	((ended_with != 0 && ended_with < 124)) && ! grep 'verify:' "$tmp/fio.said" ||
		complain "fio's status is $ended_with:"$'\n'"$(cut -c 1-300 "$tmp/fio.said")"
}

# ledger_begin DISK [--errors]
ledger_begin() {
	local target=$1
	shift
	rm -f "$tmp/ledger.stop"
	timeout -k 5 $((20 * patience)) ledger write "$target" "$ledger_at" "$tmp/ledger.book" "$tmp/ledger.stop" "$@" \
		>"$tmp/ledger.said" 2>&1 &
	ledger_pid=$!
}

# ledger_end: the writers have seen nothing wrong.
ledger_end() {
	: >"$tmp/ledger.stop"
	ends "$ledger_pid" || complain "ledger does not end" || return
	ledger_pid=''
	((ended_with == 0)) || complain "ledger's status is $ended_with:"$'\n'"$(<"$tmp/ledger.said")"
}

# ledger_holds [DISK]: what was acknowledged is on the disk.
ledger_holds() {
	bounded ledger check "${1:-$disk}" "$ledger_at" "$tmp/ledger.book"
}

# load_begin DISK [--errors]: both; with --errors their I/O may fail, but not lie. fio starts
# alone: beside other loads it takes several times as long.
load_begin() {
	fio_begin "$@"
	fio_starts
	ledger_begin "$@"
	ktap_check "I/O runs" io_runs "$1"
}

# short_load_begin DISK [--errors]: the same, but without fio, which takes seconds to start,
# unless FULL=1.
short_load_begin() {
	if ((${FULL:-0})); then
		load_begin "$@"
	else
		ledger_begin "$@"
		ktap_check "I/O runs" io_runs "$1"
	fi
}

# point_of NAME FUNCTION...: a ktap_check of what must not run in a subshell.
point_of() {
	local name=$1
	shift
	if "$@" >"$tmp/point" 2>&1; then ktap_ok "$name"; else ktap_not_ok "$name" "$(<"$tmp/point")"; fi
}

load_end() {
	[[ -z $fio_pid ]] || point_of "fio has met no error and no wrong byte" fio_end
	point_of "no write was acknowledged that is not there" ledger_end
	ktap_check "nor is one now" ledger_holds
}

ledger_has_failures() {
	local acked failed
	read -r acked failed < <(ledger count "$tmp/ledger.book") && ((failed > 0)) || complain "$acked writes, $failed failed"
}

io_fails() {
	wait_until "$faults_patience" ledger_has_failures 2>/dev/null || ledger_has_failures
}

# load_fails: what a load begun with --errors comes to when the disk fails.
load_fails() {
	[[ -z $fio_pid ]] || point_of "fio ends with an error and no wrong byte" fio_fails
	ktap_check "I/O fails" io_fails
	point_of "no write was acknowledged that was not there" ledger_end
}

files_mount() {
	mkdir -p "$tmp/files" && bounded mount -t "$files_fs" "$files_disk" "$tmp/files"
}

files_begin() {
	files_disk=$1 files_fs=${2:-ext4}
	case $files_fs in
	ext4) ktap_check "$files_fs: mkfs" bounded mkfs.ext4 -q -F "$files_disk" || return ;;
	xfs) ktap_check "$files_fs: mkfs" bounded mkfs.xfs -q -f "$files_disk" || return ;;
	esac
	ktap_check "$files_fs: mount" files_mount || return
	rm -f "$tmp/files.stop"
	timeout -k 5 $((20 * patience)) fsync_files write "$tmp/files" "$tmp/files.book" "$tmp/files.stop" \
		>"$tmp/files.said" 2>&1 &
	files_pid=$!
}

files_stop() {
	: >"$tmp/files.stop"
	ends "$files_pid" || complain "fsync_files does not end" || return
	files_pid=''
	((ended_with == 0)) || complain "fsync_files's status is $ended_with:"$'\n'"$(<"$tmp/files.said")"
}

files_fsck() {
	case $files_fs in
	ext4) bounded e2fsck -fn "$files_disk" ;;
	xfs) bounded xfs_repair -n "$files_disk" ;;
	esac
}

files_end() {
	[[ -n $files_pid ]] || return	# it has not begun, as a point says
	point_of "$files_fs: no operation has failed" files_stop
	ktap_check "$files_fs: unmount" bounded umount "$tmp/files"
	ktap_check "$files_fs: fsck finds nothing" files_fsck
	ktap_check "$files_fs: mount" files_mount
	ktap_check "$files_fs: every file is as it was left" bounded fsync_files check "$tmp/files" "$tmp/files.book"
	ktap_check "$files_fs: unmount" bounded umount "$tmp/files"
}

# --- the faults --------------------------------------------------------------------

# survives NAME BREAK MEND [SECONDS]: it breaks, the host notices, after so many seconds more
# it is mended, and I/O goes on. BREAK and MEND are one word each.
survives() {
	local name=$1 break=$2 mend=$3
	ktap_check "$name" "$break" || return
	ktap_check "$name: the host notices" becomes_not live
	sleep "${4:-0}"
	ktap_check "$name: mended" "$mend" || return
	ktap_check "$name: live again" becomes live
	ktap_check "$name: I/O goes on" goes_on "$disk" ${files_pid:+"$files_disk"}
}

# refuses_rmmod N: so many times; "in use" each time.
refuses_rmmod() {
	local i text
	for ((i = 0; i < $1; i++)); do
		! text=$(bounded rmmod kdp_host 2>&1) || complain "kdp_host went in round $i" || return
		[[ $text == *"in use"* || $text == *busy* ]] || complain "$text" || return
	done
}
