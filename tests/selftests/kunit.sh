#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The modules' unit tests (KUnit), which run while their modules load. Each case is a
# point here, and each set of parameters of a case.
# timeout: 200

. "$(dirname "$0")/common.sh"

results=/sys/kernel/debug/kunit

test_modules_load() {
	modprobe -a ib_core rdma_cm kunit || return
	kdp_insmod kdp_core && kdp_insmod kdp_core_test && kdp_insmod kdp_host_test
}

# suite_points SUITE: its KTAP's points become ours. A case that has parameters is known
# by them; what a failed one said stands before its line.
suite_points() {
	local suite=$1 line text said='' case='' points=0 plan='' cases=0
	while IFS= read -r line; do
		text=${line#"${line%%[! ]*}"}
		case $line in
		'        # Subtest: '*) case=${line#*# Subtest: } ;;
		'        ok '* | '        not ok '*)
			kunit_point "$suite: $case" "$text" "$said"
			((++points))
			said=''
			;;
		'    1..'*) plan=${text#1..} ;;
		'    ok '* | '    not ok '*)
			((++cases))
			if ((!points)); then kunit_point "$suite" "$text" "$said"; fi
			case='' points=0 said=''
			;;
		*'# '*': pass:'* | *'# Subtest: '* | *'KTAP version'* | *'1..'*) ;;
		*) said+=${said:+$'\n'}${text#\# } ;;
		esac
	done <"$results/$suite/results"
	[[ -n $plan && $plan == "$cases" ]] ||
		ktap_not_ok "$suite: runs to its end" "planned ${plan:-nothing}, ran $cases cases"
}

# kunit_point NAME LINE SAID: LINE is "ok N TEXT" or "not ok N TEXT".
kunit_point() {
	local name=$1 line=$2 said=$3 ok=1
	[[ $line != 'not '* ]] || ok=0
	line=${line#not } line=${line#ok }
	line="$name: ${line#* }"
	line=${line#: }
	case $line in
	*'# SKIP'*) ktap_skip "${line%%# SKIP*}" "${line##*# SKIP}" ;;
	*) if ((ok)); then ktap_ok "$line"; else ktap_not_ok "$line" "$said"; fi ;;
	esac
}

if ! modinfo kunit >/dev/null 2>&1 && [[ ! -d $results ]]; then
	ktap_skip "unit tests" "needs a kernel with CONFIG_KUNIT: MACHINE=debug|uml|uml-debug"
	ktap_done
fi
ktap_check "the test modules load" test_modules_load || ktap_done
# every suite that the sources have
mapfile -t suites < <(sed -n 's/^\t\.name[[:space:]]*= "\(kdp_.*\)",$/\1/p' "$KDP_REPO"/kernel/*/*_test.c | sort)
ktap_check "the sources have suites" test "${#suites[@]}" -gt 0
for suite in "${suites[@]}"; do
	if [[ -f $results/$suite/results ]]; then
		suite_points "$suite"
	else
		ktap_not_ok "$suite: it ran" "no $results/$suite/results"
	fi
done
ktap_check "the test modules unload" kdp_unload
ktap_done
