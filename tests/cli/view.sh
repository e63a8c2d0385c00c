# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata view: what it prints for the sample profile, as text, CSV and JSON, what it says
# to bad input, and the prompt.
. tests/cli/lib.sh

maker=$(dirname "$strata")/tests/test_profile
if [ ! -x "$maker" ]; then
    echo "skip: tests/test_profile, which writes the sample, is not built"
    exit 77
fi
for kind in exact sampled both; do
    "$maker" --write $kind "$work/$kind.strata" || exit 1
done

matches view exact.strata
matches view exact.strata objects
matches view exact.strata objects --top 2 --sort misses
matches view exact.strata functions --object mem_init-main
matches view exact.strata objects --function smvp
matches view exact.strata lines
matches view exact.strata lines --process 4001
matches view exact.strata sizes --object mem
matches view both.strata objects
matches view sampled.strata objects
matches view exact.strata objects --csv
matches view sampled.strata functions --csv --top 1

run view exact.strata objects
check '80 columns' narrow "$work/out"
check 'no colours in a pipe' [ "$(tr -d -c '\033' <"$work/out" | wc -c)" -eq 0 ]
run view exact.strata objects --object '*_init-*'
check 'a pattern finds its object' grep -q '^  mem_init-main .* 100.0 ' "$work/out"

# JSON
run view exact.strata objects --json
check 'JSON: object rows' holds "$work/out" '.view == "objects" and (.rows | length) == 5 and
    (.rows[0] | .object == "mem_init-main" and .kind == "heap" and .misses == 650000 and
        .latency == 41000000 and .events == 650000 and
        .misses_by_level == [650000, 315000] and .tlb_misses_by_level == [1500, 1500] and
        (.latency_per_event - 63.0769 | fabs) < 0.001)'
check 'JSON: shares sum up' holds "$work/out" \
    '([.rows[].latency_pct] | add | . > 99.999 and . < 100.001) and .totals.misses == 1005000'
check 'JSON: provenance' holds "$work/out" \
    '.provenance.machine_name == "Tiny" and .provenance.command != null and .notes == []'
check 'JSON: what was not counted is null' holds "$work/out" \
    '.run.fetches == null and .run.samples == null and .run.loads == 12050000'
for view in totals functions lines sizes; do
    run view exact.strata $view --json
    check "JSON: $view" holds "$work/out" --arg v $view '.view == $v and (.rows | length) > 0'
done
run view exact.strata --json
check 'JSON: objects, where no view is named' holds "$work/out" '.view == "objects"'
run view exact.strata functions --json --top 1
check 'JSON: the rest stands beside the rows' holds "$work/out" \
    '(.rows | length) == 1 and .rest.rows == 3 and (.rest | has("function") | not)'
run view sampled.strata objects --json
check 'JSON: estimates' holds "$work/out" \
    '.rows[0].misses == 651000 and .rows[0].samples == 651 and
     .rows[0].tlb_misses_by_level == [null, null] and (.notes | length) == 1'
run view both.strata objects --json
check 'JSON: estimate, truth and error' holds "$work/out" \
    '.rows[0] | .misses == 650000 and .estimated_misses == 651000 and
     .true_misses_pct == 65 and (.misses_error_pp - 0.1 | fabs) < 0.000001'

# Bad input
fails 2 'needs a profile' view
fails 2 'no.strata: cannot open: No such file' view no.strata
fails 2 'is a folder' view .
: >"$work/empty.strata"
fails 2 'is empty' view empty.strata objects
echo 'once upon a time there was a profile' >"$work/text.strata"
fails 2 'is no profile' view text.strata objects
head -c 5000 "$work/exact.strata" >"$work/cut.strata"
fails 2 'cut.strata: the profile is damaged' view cut.strata objects
fails 2 'one of totals|objects|.*did you mean objects' view exact.strata objcts
fails 2 'two operands only' view exact.strata objects lines
fails 2 'no such object in this profile (did you mean mem_init-main?)' \
    view exact.strata functions --object mem_int
fails 2 '2 names begin so or match: <STACK>, <UNKNOWN>; give more' \
    view exact.strata functions --object '<'
fails 2 'no such function' view exact.strata objects --function nonsense
fails 2 'no process 1 ' view exact.strata objects --process 1
for view in evictions fields callers matrix kinds sharing threads ranks; do
    fails 2 "this profile has no $view: .*; there are totals|" view exact.strata $view
done
run help view
check 'what nothing fills is not offered' [ "$(grep -c 'evictions\|fields' "$work/out")" = 0 ]
run completion bash
check 'nor completed' [ "$(grep -c evictions "$work/out")" = 0 ]
fails 2 'leave --function out' view exact.strata totals --function smvp
fails 2 '--top x: it must be a whole number' view exact.strata objects --top x
fails 2 'must be one of latency|misses|events' view exact.strata objects --sort size
run view exact.strata objects --csv --json
check 'JSON and CSV at once are refused' holds "$work/out" \
    '.error.message | test("leave one of them out")'
run view empty.strata objects --json
check 'JSON: an error is JSON' holds "$work/out" '.error.status == 2'
"$strata" view "$work/exact.strata" objects --json >/dev/full 2>"$work/err"
check 'a full disk is exit status 1' [ $? -eq 1 ]

# The prompt
if has_terminal; then
    printf '%s\n' 'functions --object mem_init-main' 'bogus' 'lines --top 1' 'quit' |
        TERM=xterm XDG_STATE_HOME="$work/state" \
            script -qec "$strata view $work/exact.strata" /dev/null >"$work/out" 2>&1
    check 'the prompt ends well' [ $? -eq 0 ]
    check 'the prompt begins with objects' grep -q 'objects, by latency' "$work/out"
    check 'the prompt shows functions' grep -q 'functions of mem_init-main' "$work/out"
    check 'the prompt goes on after an error' grep -q 'lines, by latency' "$work/out"
    check 'the prompt keeps a history' grep -q 'lines' "$work/state/strata/history"
else
    echo "skip: there is no terminal for the prompt"
fi
finish
