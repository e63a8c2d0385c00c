# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata stat on simulated machines: counts of a program that is known to the last
# instruction, metrics as they are defined, and the choice of the source.
. tests/programs/lib.sh

STRATA_METRICS=$root/metrics
export STRATA_METRICS
said() { grep -q -e "$1" "$work/err" || { cat "$work/err"; false; }; }
on() { # on MACHINE EVENTS PROGRAM...
    machine=$root/tests/machines/$1.machine events=$2
    shift 2
    run stat --source sim --machine "$machine" ${events:+-e "$events"} --json -o r.json -- "$@"
}
counts() { jq -r '.counters | map("\(.event)=\(.count)") | join(" ")' "$work/r.json"; }

# Without hardware counters, auto simulates
run stat -e l1d_misses -- sh -c 'echo out; exit 3'
is 'standard output is its own' "$(cat "$work/out")" out
is 'exit status' "$status" 3
check 'a count' said 'l1d misses  *[1-9]'
if "$strata" doctor --json | jq -e '.facts[] | select(.name == "hardware_counters") |
    .state == "missing"' >/dev/null; then
    check 'auto says what it takes and why' said \
        '^strata: .*hardware counters.* here.*; simulating generic.machine under valgrind$'
    run stat --json -- true
    check 'JSON alone on standard error, with the reason inside' holds "$work/err" \
        '.source == "sim" and (.note | test("hardware counters.* here.*; simulating generic"))'
    fails 3 'hardware counters.* here.*; --source perf counts' stat -a
    fails 3 'hardware counters.* here.*; --source perf counts' stat -p $$
    fails 3 'nothing can be counted: cycles: ' stat --source perf -e cycles true
else
    echo 'skip: this machine has hardware counters, so auto does not simulate'
fi
run stat --machine amd-zen-4 -- true
check 'a machine that is named is simulated' said '^strata: simulating .*amd-zen-4.machine'
check 'narrow' narrow "$work/err"
check 'a verdict' said 'typical ([0-9.]*-[0-9.]*)$'
run stat --source sim -o t.txt -- true
check 'to a file' grep -q 'true: simulated on ' "$work/t.txt"

# Intervals: each later than the last, none without instructions before the program runs,
# and together all that was counted
loop='i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done'
run stat --source sim -I 20 --json -e instructions,l1d_misses,loads -- sh -c "$loop"
is 'intervals: exit status' "$status" 0
check 'intervals' holds "$work/err" -s 'length >= 2 and (last | .interval == null) and
    .[0].interval[0] == 0 and .[0].counters[0].count > 0 and
    (.[:-1] | all(.interval[1] >= .interval[0])) and
    all(range(3) as $i | ([.[:-1][].counters[$i].count] | add) == last.counters[$i].count; .)'
run stat --source sim -I 20 --csv -o i.csv -e instructions -- sh -c "$loop"
check 'intervals as CSV' grep -q '^0.000000,[0-9.]*,event,instructions,,[1-9]' "$work/i.csv"

if [ "$(uname -m)" != x86_64 ]; then
    echo 'skip: the known program is written for x86-64'
    finish
fi

# 1000 lines are read, 100 pages written, one word 10 times: 8 instructions more
gcc -nostdlib -static -DLINES=1000 -DPAGES=100 -DWRITES=10 \
    "$root/tests/programs/exact.S" -o "$work/exact" || not_ok 'compiling exact.S'
instructions=$((4 * 1000 + 4 * 100 + 3 * 10 + 8))
all=instructions,l1d_accesses,loads,stores,l1d_misses,l2_misses,llc_misses
all=$all,dtlb_misses,dtlb_walks,walks,branches,conditional,conditional_taken
on two-level "$all" ./exact
is 'exit status' "$status" 5
# a line of a page is new as often as a page is; of 16 + 100 + 1 pages, all are new
is 'two caches and a TLB' "$(counts)" "instructions=$instructions l1d_accesses=1110 \
loads=1000 stores=110 l1d_misses=1101 l2_misses=1101 llc_misses=1101 dtlb_misses=117 \
dtlb_walks=117 walks=117 branches=1110 conditional=1110 conditional_taken=1107"
on two-level instructions,l1d_misses,l2_misses,dtlb_walks,l1d_accesses ./exact
check 'metrics are what they are defined to be' holds "$work/r.json" '
    (.counters | map({(.event): .count}) | add) as $c |
    (.metrics | map({(.name): .value}) | add) as $m |
    def same(a; b): (a - b) | fabs < 1e-9;
    same($m.l1d_mpki; 1000 * $c.l1d_misses / $c.instructions) and
    same($m.l2_mpki; 1000 * $c.l2_misses / $c.instructions) and
    same($m.dtlb_walks_pki; 1000 * $c.dtlb_walks / $c.instructions) and
    same($m.l1d_miss_ratio; 100 * $c.l1d_misses / $c.l1d_accesses) and
    same($m.l2_miss_ratio; 100 * $c.l2_misses / $c.l1d_misses) and
    ($m | has("ipc") | not)'
check 'and a verdict' holds "$work/r.json" '.metrics[] | select(.name == "l1d_mpki") |
    .verdict == "well above typical" and .typical == [2, 5]'
on two-level '' ./exact
check 'what the machine has not' holds "$work/r.json" '
    (.counters[] | select(.event == "l3_misses") | .count == null and
     .why == "unknown here: two levels has no cache of level 3") and
    (.metrics[] | select(.name == "l3_mpki") | .value == null and
     (.why | startswith("l3_misses: unknown here")))'
on direct l1d_misses,dtlb_walks,branch_misses,page-faults,itlb_misses,itlb_walks ./exact
check 'what a smaller one has not' holds "$work/r.json" '.counters |
    map(.count) == [1101, null, null, null, null, null] and
    all(.[1:][]; .why | startswith("unknown here: "))'
on two-level l1d_misses,l1d_misses ./exact
is 'twice the same event' "$(counts)" 'l1d_misses=1101 l1d_misses=1101'
check 'virtual time is cycles by the frequency, the rest is told apart' holds "$work/r.json" '
    .seconds > .virtual_seconds and .virtual_seconds > 0 and
    (.counters[0].enabled_ns - 1e9 * .virtual_seconds | fabs) < 2'
run stat --machine generic --json -o r.json -- ./exact
check 'by default: the five rates, of data and of instructions' holds "$work/r.json" '
    [.metrics[] | select(.value != null) | .name] | contains(["l1d_mpki", "l2_mpki",
    "l3_mpki", "dtlb_walks_pki", "itlb_walks_pki"])'
on ../../machines/generic walks,itlb_walks,dtlb_walks ./exact
check 'walks are of the one or of the other' holds "$work/r.json" '.counters | map(.count) |
    .[0] == .[1] + .[2] and .[1] > 0 and .[2] == 117'
run stat --machine generic -- ./exact
check 'the time is named' said 'simulated on .*, [0-9.]* us virtual (simulating'
on two-level fetches,instructions,l1i_misses ./exact
check 'fetches, if they are asked for' holds "$work/r.json" '.counters[0].count > 0'
run stat -r 2 --source sim --machine "$root/tests/machines/two-level.machine" \
    --json -o r.json -e l1d_misses ./exact
check 'repeats: the same again' holds "$work/r.json" \
    '.runs == 2 and .counters[0].count == 1101 and .counters[0].deviation == 0'

# Everything that it starts
on two-level instructions,l1d_misses sh -c './exact; ./exact; exit 0'
both=$(jq '.counters[0].count' "$work/r.json")
on two-level instructions,l1d_misses sh -c './exact; ./exact; ./exact; exit 0'
three=$(jq '.counters[0].count' "$work/r.json")
check 'programs that it starts count too' [ $((three - both)) -gt "$instructions" ]
check 'no folder is left' [ -z "$(find "$work" -maxdepth 1 -name 'strata-*')" ]
finish
