# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata probe as a command: what it refuses, what it prints and writes, and how it ends.
# Whether it finds the truth is for other tests; a small simulated machine is enough here.
. tests/cli/lib.sh

cat >"$work/small.machine" <<'END'
[machine]
name = small
page = 4K
frequency = 1000M
[cache L1d]
level = 1
kind = data
size = 16K
line = 64
ways = 4
latency = 3
index = virtual
[cache L2]
level = 2
kind = unified
size = 192K
line = 64
ways = 8
latency = 12
index = physical
[tlb L1d]
level = 1
kind = data
entries = 32
ways = full
latency = 0
[walk]
latency = 20
[memory]
latency = 100
END

# Refused before anything is measured
fails 3 '--source perf' probe --source perf
fails 3 '--method counters' probe --method counters
fails 2 '--machine FILE' probe --source sim
fails 2 'leave one of them out' probe --source timing --machine small.machine
fails 2 '--cpu' probe --machine small.machine --cpu 0
fails 2 '--quick' probe --quick --budget 3
fails 2 '--budget 0: it must be a number from' probe --budget 0
fails 2 '--budget ten' probe --budget ten
fails 2 '--cpu -1: it must be a whole number from 0' probe --cpu=-1
fails 2 '--seed 0' probe --seed 0
fails 2 'no.machine' probe --machine no.machine
fails 2 '--plot curve.gif: .*\.svg or \.png' probe --plot curve.gif
fails 2 '--data all.xml: .*\.json or \.csv' probe --data all.xml
fails 2 'no/such: ' probe --save no/such/this.machine
fails 2 'a folder' probe --save .
fails 2 'same file' probe --save one --header one
fails 2 'would replace the machine' probe --machine small.machine --save small.machine
sed 's/^ways = 4/ways = 7/' "$work/small.machine" >"$work/odd.machine"
fails 2 'odd.machine:[0-9]*: .*ways = 7' probe --machine odd.machine
head -n 12 "$work/small.machine" >"$work/cut.machine"
fails 2 'cut.machine:.* no ' probe --machine cut.machine
mkdir "$work/folder.machine"
fails 2 'folder.machine' probe --machine folder.machine
check 'nothing was written' [ -z "$(find "$work" -name this.machine -o -name one \
    -o -name 'curve.*' -o -name 'all.*')" ]

# Everything that it writes, in one run
run probe --machine small.machine --budget 1 --save saved.machine --header caches.h \
    --plot curve.svg --data all.json
check 'files: exit status 0' [ $status -eq 0 ]
[ $status -eq 0 ] || cat "$work/out" "$work/err"
check 'files: nothing on standard error' [ ! -s "$work/err" ]
check 'table: 80 columns' narrow "$work/out"
check 'table: it has the first cache' grep -q '^ *L1 data ' "$work/out"
check 'table: it has memory' grep -q '^ *memory ' "$work/out"
for file in saved.machine caches.h curve.svg all.json; do
    check "table: it says that $file was saved" grep -q "^saved .*$file" "$work/out"
    check "$file is there" [ -s "$work/$file" ]
done
check 'table: it ends with the next step' \
    sh -c "tail -n 1 '$work/out' | grep -q '^next .*--machine saved.machine'"
check 'the plot is an SVG' grep -q '</svg>' "$work/curve.svg"
check 'the data is JSON' jq -e .series "$work/all.json" >"$work/jq"
printf '#include "caches.h"\n#include "caches.h"\nint unused;\n' >"$work/use.c"
check 'the header compiles' "${CC:-cc}" -std=c99 -Wall -Wextra -Werror -fsyntax-only \
    "$work/use.c"
check 'no temporary file is left' [ "$(find "$work" -type f | wc -l)" -eq 10 ]

# JSON, of the machine that was saved
run probe --machine saved.machine --budget 1 --json --data all.csv
check 'JSON: exit status 0' [ $status -eq 0 ]
[ $status -eq 0 ] || cat "$work/out" "$work/err"
check 'JSON: the schema' jq -e '.schema == "strata.machine/1" and .source == "sim" and
    .method == "timing" and .page == 4096' "$work/out" >"$work/jq"
check 'JSON: caches' jq -e '(.caches | length > 0) and (.caches | all(
    (.level | type == "number") and has("kind") and has("line") and has("effective_line") and
    has("ways") and has("size") and has("effective") and has("effective_range") and
    has("latency_cycles") and has("latency_ns") and has("confidence")))' "$work/out" >"$work/jq"
check 'JSON: TLBs' jq -e '.tlbs | all(has("level") and has("kind") and has("entries") and
    has("ways") and .page > 0 and has("penalty_cycles"))' "$work/out" >"$work/jq"
check 'JSON: memory' jq -e '.memory | has("latency_cycles") and has("latency_ns")' \
    "$work/out" >"$work/jq"
check 'the data is CSV' sh -c "grep -v '^#' '$work/all.csv' | head -n 1 | grep -q ,"

# This machine, for a moment: whatever it is, and however busy
run probe --budget 0.5 --json
check 'this machine: exit status 0' [ $status -eq 0 ]
[ $status -eq 0 ] || cat "$work/out" "$work/err"
check 'this machine: JSON' jq -e '.schema == "strata.machine/1" and .source == "timing" and
    (.caches | type == "array")' "$work/out" >"$work/jq"

# Little memory: an answer or a reason, never a crash
limited() { (ulimit -v "$1" && shift && cd "$work" && exec "$strata" "$@"); }
if limited 40000 version >/dev/null 2>&1; then
    for kilobytes in 24000 32000 40000; do
        limited $kilobytes version >/dev/null 2>&1 || continue
        limited $kilobytes probe --budget 0.5 >"$work/out" 2>"$work/err"
        status=$?
        check "${kilobytes}K of address space: exit status 0 or 3" [ $((status % 3)) -eq 0 ]
    done
else
    echo 'skip: this build does not even start with 40 MB of address space'
fi

# Ctrl-C: what is known is kept
ln -s "$root/machines" "$work/machines"
(cd "$work" && exec "$strata" probe --machine machines/amd-zen-4.machine) \
    >"$work/out" 2>"$work/err" &
pid=$!
catches() {
    mask=$(sed -n 's/^SigCgt:[^0-9a-f]*//p' "/proc/$pid/status" 2>/dev/null)
    [ -n "$mask" ] && [ $((0x$mask & 2)) -ne 0 ]
}
until catches || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
kill -INT $pid
wait $pid
status=$?
check 'Ctrl-C: exit status 1' [ $status -eq 1 ]
check 'Ctrl-C: it says so' grep -q '^strata: interrupted' "$work/err"
check 'Ctrl-C: the table is printed' grep -q 'memory' "$work/out"
finish
