# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata probe on a small simulated machine without noise, whose large pages make it quick:
# what it prints, every file that it writes, and that the same seed gives the same
# measurements.
. tests/cli/lib.sh

cat >"$work/t.machine" <<'END'
[machine]
name      = Test machine
page      = 64K
frequency = 1000M
mapping   = contiguous
[cache L1d]
level     = 1
kind      = data
size      = 24K
line      = 64
ways      = 6
latency   = 3
[cache L2]
level     = 2
kind      = unified
size      = 160K
line      = 64
ways      = 5
latency   = 12
[tlb L1d]
level     = 1
kind      = data
entries   = 48
ways      = full
[walk]
latency   = 20
[memory]
latency   = 100
END

# is FILTER FILE: jq's filter must be true for the JSON in the file
is() { [ "$(jq "$1" "$2" 2>&1)" = true ]; }

run probe --machine t.machine --seed 7 --json --compare --header m.h --save s.machine \
    --plot p.svg --data d.json
check 'exit status 0' [ $status -eq 0 ]
check 'quiet on standard error' [ ! -s "$work/err" ]
cat "$work/err"
cp "$work/out" "$work/found.json"
found=$work/found.json
check 'standard output is one JSON document' [ "$(jq -s length "$found")" = 1 ]
check 'schema and provenance' is '.schema == "strata.machine/1" and .name == "Test machine"
    and .source == "sim" and .method == "timing" and .seed == 7 and .cpu == null
    and .page == 65536' "$found"
check 'the first cache, exactly' is '.caches[0] | .level == 1 and .kind == "data"
    and .size == 24576 and .effective == 24576 and .line == 64 and .ways == 6
    and .latency_cycles == 3 and .latency_ns == 3' "$found"
check 'two caches' is '[.caches[].level] == [1, 2]' "$found"
check 'intervals hold their values' is '[.caches[] | select(.effective != null)
    | .effective_range[0] <= .effective and .effective <= .effective_range[1]] | all' "$found"
check 'confidence is a share' is '[.. | .confidence? | numbers | . >= 0 and . <= 1] | all' \
    "$found"
# shellcheck disable=SC2016 # jq has variables, too
check 'every null has a reason' is '[.caches[], .tlbs[], .memory | . as $o | to_entries[]
    | select(.value == null and .key != "confidence")
    | $o.why[.key | sub("_range$"; "")] | strings | length > 0] | all' "$found"
check 'the first TLB, exactly' is '.tlbs[0] | .level == 1 and .page == 65536
    and .entries == 48 and .ways == 48' "$found"
check 'claims are those of the file' is '.claims | length == 1 and .[0].by == "file"
    and .[0].caches[1].size == 163840 and .[0].tlbs[0].entries == 48' "$found"

check 'the header defines the first cache' grep -qx '#define STRATA_L1D_EFFECTIVE 24576' \
    "$work/m.h"
check 'the header names the version' grep -q 'measured by strata [0-9]' "$work/m.h"
check 'the plot is SVG' grep -q '</svg>' "$work/p.svg"
check 'its text is text' grep -q '<text .*>Test machine</text>' "$work/p.svg"
if command -v xmllint >/dev/null; then
    check 'the plot is well-formed' xmllint --noout "$work/p.svg"
fi
check 'the data has its provenance' is '.schema == "strata.dataset/1" and .seed == 7
    and (.command | startswith("strata probe --machine t.machine"))
    and .version != "" and .machine == "Test machine"' "$work/d.json"
check 'the data has the curve and its steps' is '.series[] | select(.name == "cache")
    | (.points | length) > 20 and (.steps | length) == 3 and (.density | length) > 100
    and .x_unit == "bytes" and .y_unit == "cycles"' "$work/d.json"

check 'the machine file says how it was made' grep -q '^# *Measured by strata' \
    "$work/s.machine"
# The table as text; nothing but the table where standard output is no terminal. A file
# that cannot be written is said, and the others are written all the same.
ln -s /dev/full "$work/full.csv"
run probe --machine s.machine --seed 7 --plot p.png --data full.csv
check 'a full disk is exit status 1' [ $status -eq 1 ]
check 'and is said' grep -q '^strata: full.csv: cannot write: No space left' "$work/err"
check 'the saved machine has the same first cache' grep -q \
    '^  L1 data  *24K  .* 64  *6  *3 cycles  *3.0 ns$' "$work/out"
check 'what was found is printed' grep -q '^  memory  .* cycles .* ns$' "$work/out"
check 'what was written is said' grep -qx 'saved   p.png' "$work/out"
check 'no picture in a file' [ "$(grep -c '^ *cycles' "$work/out")" -eq 0 ]
check 'no colours in a file' [ "$(tr -d -c '\033' <"$work/out" | wc -c)" -eq 0 ]
check '80 columns' narrow "$work/out"
check 'reasons are one line' [ "$(grep -c -- '--why$' "$work/out")" -le 1 ]
check 'and no more' [ "$(grep -c 'not known: \|% sure' "$work/out")" -eq 0 ]
check 'PNG' [ "$(head -c 4 "$work/p.png" | tail -c 3)" = PNG ]

# Widths, and reasons in full: in a second, some are left without an answer.
for columns in 60 80 120; do
    COLUMNS=$columns run probe --machine "$root/machines/amd-zen-4.machine" --budget 1 --why
    check "$columns columns: it fits" narrow "$work/out" $columns
    check "$columns columns: one table of caches" [ "$(grep -c '^  memory' "$work/out")" -eq 1 ]
    check "$columns columns: --why has reasons" grep -q 'not known: ' "$work/out"
done

# The same again: every observation is the same.
mv "$work/d.json" "$work/before.json"
run probe --machine t.machine --seed 7 --data d.json
check 'exit status 0 again' [ $status -eq 0 ]
check 'what comes next is only for a terminal' [ "$(grep -c '^next' "$work/out")" -eq 0 ]
jq .series "$work/before.json" >"$work/one"
jq .series "$work/d.json" >"$work/other"
check 'there are measurements' [ -s "$work/one" ]
check 'the same seed, the same measurements' cmp -s "$work/one" "$work/other"
check 'nothing else was left behind' [ "$(cd "$work" && echo *.tmp)" = '*.tmp' ]

# The example chooses a block from the same answers.
tile=$(dirname "$strata")/examples/tile
if [ -x "$tile" ]; then
    "$tile" --machine "$work/t.machine" --seconds 600 >"$work/out" 2>"$work/err"
    check 'examples/tile chooses a block' grep -qx '  block        24' "$work/out"
    "$tile" --machine "$work/none" >"$work/out" 2>"$work/err"
    check 'examples/tile says what is wrong' grep -q '^tile: .*none: cannot open' "$work/err"
fi
finish
