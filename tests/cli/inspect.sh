# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata inspect: every event of the virtual PMU in its true category or in none
# (tests/data/inspect-truth.csv), clean and dirty; sizes read back from the counts; events of
# this machine's kernel; bad input.
. tests/programs/inspect.sh

# What cannot be counted on a machine is said before anything runs
fails 3 'branch_misses is not counted: .* has no branch predictor; add a \[branch\]' \
    inspect --machine "$root/machines/intel-xeon-e5420-harpertown.machine" branch_misses

# Bad input
fails 2 'no event nonsense on a simulated machine' inspect --source sim -e nonsense
fails 2 "no event conditionl on a simulated machine (did you mean conditional?)" \
    inspect --source sim conditionl
fails 2 'an EVENT and --events' inspect --source sim -e loads loads
fails 2 '--machine is for --source sim' inspect --source perf --machine generic
fails 2 '--compose ZZ: no such category' inspect --source sim --compose ZZ
fails 2 '--noise and --drift are for simulated' inspect --source perf --noise 0.1
fails 2 '--kernels system asks' inspect --source sim --kernels system
fails 2 '--plan is for --source perf' inspect --source sim --plan
fails 2 'plot' inspect --source sim --plot /nowhere/x.svg
fails 2 'neither a \[section\]' inspect --source sim --machine "$root/README.md"
fails 2 'needs a value\|noise' inspect --source sim --noise 7
cp -r "$root/metrics" "$work/tables"
printf '[category Z]\nslopes = 1 2\n' >>"$work/tables/branches.matrix"
STRATA_METRICS=$work/tables
fails 2 'branches.matrix:[0-9]*: category Z has 2 slopes, and there are 13' inspect --source sim
echo 'conditional = ' >>"$work/tables/generic.events"
cp "$root/metrics/branches.matrix" "$work/tables"
for table in "$work"/tables/*.events; do echo '= broken' >>"$table"; done
fails 2 'events:[0-9]*: ' inspect --source sim
STRATA_METRICS=$root/metrics

# This machine's kernel
run inspect --source perf --kernels system --csv
if grep -q '^page-faults,not counted' "$work/out"; then
    echo 'skip: the kernel does not let its own events be counted here'
else
    check 'page faults' said '^page-faults,known,page-faults,' out
    check 'minor faults are page faults' said '^minor-faults,known,page-faults,' out
    check 'context switches' said '^context-switches,\(known,switches\|not counted\),' out
    check 'a breakpoint' said '^mem:0x[0-9a-f]*/8:w,\(known,watched\|not counted\),' out
    check 'what never moves' said '^alignment-faults,does not count here,,' out
    check 'time is in no category' said '^task-clock,none,,' out
    check 'a tracepoint, or why not' said \
        '^raw_syscalls:sys_enter,\(known,syscalls\|not counted\)' out
    run inspect --source perf --plan --kernels system
    check 'the plan' said '^[0-9]* events, of which [0-9]* can be opened, in [0-9]* groups' out
    run inspect --kernels system page-faults
    check 'one of them in words' said '^page-faults counts page faults (page-faults)' out
fi
# Tracepoints need tracefs; a mount of its own does not change this machine.
if unshare -m true 2>/dev/null && unshare -m sh -c \
    'mount -t tracefs none /sys/kernel/tracing && ls /sys/kernel/tracing/events/raw_syscalls' \
    >/dev/null 2>&1; then
    (cd "$work" && unshare -m sh -c "mount -t tracefs none /sys/kernel/tracing &&
        '$strata' inspect --source perf --kernels system --csv") >"$work/out" 2>"$work/err"
    check 'switches by a tracepoint' said '^sched:sched_switch,known,switches,' out
    check 'system calls by a tracepoint' said '^raw_syscalls:sys_enter,known,syscalls,' out
    check 'one system call' said '^syscalls:sys_enter_getppid,\(known,syscall\|not counted\),' out
else
    echo 'skip: tracefs cannot be mounted'
fi

simulation_or_finish

# The simulated machine
run inspect --source sim --machine "$machine" -e "$events" --csv
check 'every event is known' as_known
if [ "${STRATA_FULL:-}" = 1 ]; then
    run inspect --source sim --machine "$machine" -e "$events" --csv --noise 0.02
    check 'with 2% of noise' as_known
fi
run inspect --source sim --machine "$machine" -e "$events" --csv --noise 0.02 --drift 200 --seed 5
check 'with 2% of noise and a background that drifts' as_known

run inspect --source sim --machine "$machine" --json --plot plot.svg
check 'JSON' holds "$work/out" '.schema == "strata.inspect/1" and (.events | length) > 60'
is 'cache sizes as in the file' "$(jq -c '[.caches[].size]' "$work/out")" '[16384,131072,1048576]'
is 'TLB entries as in the file' "$(jq -c '[.tlbs[].entries]' "$work/out")" '[32,256]'
slopes() { jq -c --arg c "$1" 'first(.events[] | select(.category == $c)) |
    [.slopes[0:7][] * 50 | round | . / 50]' "$work/out"; }
near() { # near NAME SLOPE...: within 0.05 of the table of the source
    category=$1
    shift
    jq -e --arg c "$category" --argjson w "[$(echo "$*" | tr ' ' ,)]" '
        first(.events[] | select(.category == $c)).slopes[0:7] |
        [., $w] | transpose | all((.[0] - .[1]) | fabs < 0.05)' "$work/out" >/dev/null ||
        { slopes "$category"; false; }
}
check 'slopes of CE, 2.5 in kernel e' near CE 2 2 2 2 2.5 2 1
check 'slopes of CR' near CR 2 2 2 2 2 2 1
check 'slopes of T' near T 1.5 1 2 1.5 1.5 1 1
check 'slopes of D' near D 0 0 0 0 0 1 0
check 'slopes of M' near M 0 0 0 0.5 0.5 0 0
check 'a drawing' grep -q '</svg>' "$work/plot.svg"

# Behind a prefetcher that acts on every miss: the first level has none here
beside=$root/tests/machines/beside.machine
run inspect --source sim --machine "$beside" -e "$events" --csv
check 'every event is known behind one that fetches pairs' as_known \
    's/^\(l1d_[fe][^,]*\),.*/\1,L1.miss/; s/^l1d_prefetches,.*/l1d_prefetches,/'
run inspect --source sim --machine "$root/tests/machines/streamer.machine" --kernels cache \
    --json -e l2_prefetches,l2_load_hits
is 'lines that a streamer fetches' \
    "$(jq -r '[.events[].category] | join(" ")' "$work/out")" 'L2.prefetch L2.hit.load'
# Figure 15 of the source, by the last size: hits while all pages of a block are followed
blocks() { jq -e "[.studies.blocks[] | select(.pages $1) | .points[-1][1]] | $2" "$work/out"; }
check 'hits beyond L2 while 32 pages are followed' blocks '<= 32' 'all(. > 0.25 and . < 0.45)'
check 'none with a page more' blocks '> 32' 'length == 2 and all(. < 0.02)'
is 'more lines of a unit, fewer hits' "$(jq -c '[.studies.units[].points[-1][1]] |
    [.[0] > .[1] + 0.1, .[1] > .[2] + 0.2, .[2] < 0.02]' "$work/out")" '[true,true,true]'
check 'time of a visit by offset' holds "$work/out" \
    '.studies.cascade_ns | length == 4 and (.[0].points[-1][1] > .[0].points[0][1])'

finish
