# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What is around the host machine, and answers it: the target machine, its disks, the wire.
# Sourced by tests/vm/run-two, whose variables these functions use.
#
# The guest writes a request into DIR/ask/NAME.ask (tests/vm/guest/outside.sh); the answer
# comes into NAME.done: a status, and then words.
#
#   kill            the target machine, at once and without a word to anybody (SIGKILL)
#   start [UUID]    it, again, with the same disks; its namespaces are UUID
#   cut, mend       the wire: nothing arrives any more, nobody is told; as before
#   digest          of what stands on the disks

# shellcheck disable=SC2154 # out, vm_dir, ... are set by tests/vm/run-two

# The target's namespaces have the same names, whichever machine they are in.
outside_uuid=77000000-0000-4000-8000-0000000000a0
target_number=0

# outside_disks DIR MB...: empty ones.
outside_disks() {
	local dir=$1 mb n=0
	shift
	disks=()
	for mb; do
		rm -f "$dir/disk$((++n)).img"
		truncate -s "${mb}M" "$dir/disk$n.img"
		disks+=(--disk "$dir/disk$n.img")
	done
}

target_dir() {
	echo "$out/target-$target_number"
}

target_lives() {
	[[ -n $target_pid ]] && kill -0 "$target_pid" 2>/dev/null
}

outside_start() {
	local dir end=$((SECONDS + 120))
	! target_lives || { echo "it runs already"; return 1; }
	((++target_number))
	dir=$(target_dir)
	rm -rf "$dir"
	mkdir "$dir"
	"$vm_dir/run" --machine stock --kernel 6.12 --smp 1 --mem 1024 --timeout $((limit + 60)) \
		--link "$target_wire:$host_wire" "${disks[@]}" --out "$dir" -- \
		"$vm_dir/guest/target-machine.sh" "${1:-$outside_uuid}" >"$dir/log" 2>&1 &
	target_pid=$!
	until [[ -e $dir/ready ]]; do
		target_lives && ((SECONDS < end)) || { echo "not ready: $(tail -n 3 "$dir/log")"; return 1; }
		sleep 0.2
	done
}

outside_kill() {
	target_lives || { echo "no target runs"; return 1; }
	kill -KILL "$(<"$(target_dir)/pid")" || return
	wait "$target_pid" || true
	target_pid=''
	echo killed >"$(target_dir)/verdict"
}

# outside_stop: in order. A target that was killed is not there any more.
outside_stop() {
	local status=0
	target_lives || { [[ $(cat "$(target_dir)/verdict" 2>/dev/null) == killed ]]; return; }
	: >"$(target_dir)/stop"
	wait "$target_pid" || status=$?
	target_pid=''
	((status == 0))
}

# outside_qmp COMMAND ARGUMENTS: to the host's QEMU; 0 if it agrees. A greeting and the
# handshake come first, once.
outside_qmp() {
	local line
	if [[ -z ${qmp_in:-} ]]; then
		exec {qmp_in}<>"$out/qmp.in" {qmp_out}<>"$out/qmp.out"
		echo '{"execute":"qmp_capabilities"}' >&"$qmp_in"
		outside_qmp_answer || return
	fi
	printf '{"execute":"%s","arguments":%s}\n' "$1" "$2" >&"$qmp_in"
	outside_qmp_answer
}

outside_qmp_answer() {
	local line
	while IFS= read -r -t 10 -u "$qmp_out" line; do
		case $line in
		*'"return"'*) return 0 ;;
		*'"error"'*) echo "$line"; return 1 ;;
		esac
	done
	echo "QEMU does not answer"
	return 1
}

outside_cut() {
	outside_qmp qom-set "{\"path\":\"/objects/cut\",\"property\":\"status\",\"value\":\"$1\"}"
}

# outside_serve: what has been asked since.
outside_serve() {
	local file name word arg status
	for file in "$out"/ask/*.ask; do
		[[ -e $file ]] || continue
		name=${file%.ask} status=0
		read -r word arg <"$file" || true
		rm "$file"
		case $word in
		kill) outside_kill ;;
		start) outside_start "$arg" ;;
		cut) outside_cut on ;;
		mend) outside_cut off ;;
		digest) cat "$out"/disk*.img | sha256sum ;;
		*) echo "cannot '$word'"; false ;;
		esac >"$name.words" 2>&1 || status=$?
		{ echo "$status"; cat "$name.words"; } >"$name.tmp"
		mv "$name.tmp" "$name.done"
	done
}
