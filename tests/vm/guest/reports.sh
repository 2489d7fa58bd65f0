# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What the kernel complains of. Sourced by watch.sh.
#
# A report is what stands in the kernel's log from a line that begins one to the next
# such line. Reports of stock drivers that we know are listed in tests/vm/known-reports;
# what a test brings about on purpose it announces, see reports_announce.

# A report begins here.
reports_begin='BUG:|WARNING:|kernel BUG at|Oops|general protection|[Uu]nable to handle|INFO: (task|rcu|trying|possible|lockdep)|UBSAN:|KCSAN:|ODEBUG:|DMA-API: .*(device driver|leak|overlap|sync|mapping)|DMA-API: exceeded|refcount_t:|[Bb]ad page|watchdog:|unreferenced object|page allocation failure|vmalloc error|list_(add|del) corruption|scheduling while atomic|sleeping function'
# A line like this is always part of one.
reports_bad="$reports_begin"'|Call Trace:|stall|lockup|KASAN|[Ll]eak|use-after-free|deadlock|still (held|in use|has)|workqueue lockup'

reports_known=$KDP_REPO/tests/vm/known-reports

# reports_split: from the log on stdin to one report a line, its lines joined by \x1f.
reports_split() {
	awk -v begin="$reports_begin" -v bad="$reports_bad" '
	function flush() { if (text != "") print text; text = "" }
	{
		line = $0
		sub(/^\[ *[0-9.]+\](\[[^]]*\])? */, "", line)
		if (line ~ /^kdp-(announce|selftest|watch)/) next
		if (line ~ begin || (line ~ bad && (text == "" || since > 100))) {
			flush(); text = line; since = 0
		} else if (text != "" && since < 200) {
			text = text "\x1f" line
			since = line ~ bad ? 0 : since + 1
		} else {
			flush()
		}
	}
	END { flush() }'
}

# reports_announce REGEX: until watch_end, reports whose first line matches are wanted.
reports_announce() {
	echo "kdp-announce: $1" >/dev/kmsg
}

# reports_expected REPORT: is it a known one of this machine? Notes that it was seen.
reports_expected() {
	local machines selftest pattern reason n=0
	while IFS=$'\t' read -r machines selftest pattern reason; do
		((++n))
		[[ -n $machines && $machines != '#'* ]] || continue
		[[ ",$machines," == *",$MACHINE,"* ]] || continue
		if grep -qE -- "$pattern" <<<"${1//$'\x1f'/ }"; then
			echo "$n" >>"${KDP_OUT:-/tmp}/known-reports.seen"
			return 0
		fi
	done <"$reports_known"
	return 1
}

# reports_unexpected: those of the log on stdin that nobody expects, the head of each.
reports_unexpected() {
	local log report announced
	log=$(cat)
	announced=$(sed -n 's/^.*kdp-announce: //p' <<<"$log" | paste -sd '|')
	while IFS= read -r report; do
		[[ -n $announced ]] && grep -qE -- "$announced" <<<"${report%%$'\x1f'*}" && continue
		reports_expected "$report" || tr '\037' '\n' <<<"$report" | head -n 60
	done < <(reports_split <<<"$log")
}

# reports_unseen SELFTEST...: those of them that have known reports on this machine of which
# not one came, one a line.
reports_unseen() {
	local machines selftest pattern reason n=0
	local -A came=()
	while IFS=$'\t' read -r machines selftest pattern reason; do
		((++n))
		[[ -n $machines && $machines != '#'* ]] || continue
		[[ ",$machines," == *",$MACHINE,"* && " $* " == *" $selftest "* ]] || continue
		: "${came[$selftest]:=0}"
		! grep -qsx "$n" "${KDP_OUT:-/tmp}/known-reports.seen" || came[$selftest]=1
	done <"$reports_known"
	for selftest in "${!came[@]}"; do
		((came[$selftest])) || echo "$selftest"
	done
}
