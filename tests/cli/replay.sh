# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata probe --log and --replay: a log of a noisy simulated machine and of every captured
# one (tests/data/captures) leads to the same answers again. `make golden` writes the answers
# of the captured ones.
. tests/cli/lib.sh

# What a probe answers, with as many digits as any compiler leaves alike.
answers() {
    jq '{caches, tlbs, memory} | del(.. | .why?) |
        walk(if type == "number" then (. * 1e4 | round) / 1e4 else . end)' "$1"
}

# A simulated machine.
{ cat tests/machines/two-level.machine && echo '[noise]' && echo 'jitter = 0.02' &&
    echo 'spikes = 0.01' && echo 'spike_cycles = 50000' && echo 'timer_ns = 100'; } \
    >"$work/noisy.machine"
run probe --machine noisy.machine --seed 7 --log a.json --data series.json --json
check 'a log is written' [ $status -eq 0 ]
mv "$work/out" "$work/first"
check 'it has every trial, each with the name of its string' holds "$work/a.json" \
    '.trials | (.walks | length > 100) and all(.strings[]; .[0] != "")'
check 'and is the dataset besides' sh -c "cd '$work' && jq -S 'del(.trials)' a.json >1 &&
    jq -S . series.json >2 && cmp 1 2"
run probe --replay a.json --log b.json --json
check 'it is replayed' [ $status -eq 0 ]
same() { jq -S "$1" "$work/$2" >"$work/1" && jq -S "$1" "$work/$3" >"$work/2" &&
    diff "$work/1" "$work/2"; }
check 'the JSON is the same but for the source' same 'del(.source)' first out
check 'the source is the replay' holds "$work/out" '.source == "replay"'
check 'the log of the replay is the log' same .trials a.json b.json
run probe --replay a.json
check 'as a table, too' grep -q '4K' "$work/out"

# A log that ends early: less is known, and why; nothing fails.
jq -c '.trials.walks |= .[:length / 2]' "$work/a.json" >"$work/part.json"
run probe --replay part.json --json
check 'a part of a log is replayed' [ $status -eq 0 ]
check 'it says that trials are missing' holds "$work/out" \
    '[.notes[] | select(contains("not in the log"))] | length == 1'
check 'what is not known is null, with a reason' holds "$work/out" \
    '[.caches[], .tlbs[] | . as $x | ("size", "entries", "ways") as $k |
      select($x | has($k)) | select($x[$k] == null) | $x.why[$k] | length] |
     length > 0 and all(. > 0)'

# Captured machines.
for log in "$root"/tests/data/captures/*.json.gz; do
    capture=$(basename "$log" .json.gz)
    wanted=$root/tests/data/captures/$capture.answers.json
    gzip -dc "$log" >"$work/capture.json"
    run probe --replay capture.json --json
    check "$capture is replayed" [ $status -eq 0 ]
    answers "$work/out" >"$work/answers"
    if [ "${STRATA_GOLDEN:-}" = write ]; then
        cp "$work/answers" "$wanted"
        ok "$capture: answers (written)"
    elif holds "$work/out" 'any(.notes[]; contains("not in the log"))'; then
        echo "$capture was taken by another plan: tests/data/captures/README.md says how to take it anew"
        # What is sure in both is the same.
        check "$capture: what is sure is as it was" holds "$work/answers" \
            --slurpfile was "$wanted" '
            def sure: [(.caches, .tlbs)[] | . as $x | .confidence_of | to_entries[] |
                select(.key | IN("size", "line", "ways", "entries")) | select(.value >= 0.95) |
                {key: "\($x.level) \($x.page) \(.key)", value: $x[.key]}] | from_entries;
            ($was[0] | sure) as $a | sure as $b |
            all($b | keys[]; . as $k | $a[$k] == null or $a[$k] == $b[$k])'
    else
        check "$capture: the answers are as they were" diff "$wanted" "$work/answers"
    fi
done
check 'ice-lake-sp-guest: the first cache and TLB are as its maker says' holds \
    "$root/tests/data/captures/ice-lake-sp-guest.answers.json" \
    '.caches[0].size == 49152 and .caches[0].line == 64 and .caches[0].ways == 12 and
     .tlbs[0].entries == 64 and .tlbs[0].ways == 4'

# What cannot be.
fails 2 '--machine: what is replayed was measured before' probe --replay a.json \
    --machine noisy.machine
fails 2 '--budget: what is replayed was measured before' probe --replay a.json --budget 5
fails 2 'series.json: it has no trials; .strata probe --log FILE. writes them' probe \
    --replay series.json
fails 2 'would replace the log that is replayed' probe --replay a.json --log a.json
fails 2 'the name must end in .json$' probe --machine noisy.machine --log a.csv
fails 2 'counts are not made of trials' probe --machine noisy.machine --log c.json \
    --method counters
sed 's/"walks":\[\[0/"walks":[[-1/' "$work/a.json" >"$work/bad.json"
fails 2 'bad.json: trials: walks\[0\] must be' probe --replay bad.json
finish
