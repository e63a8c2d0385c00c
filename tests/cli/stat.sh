# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata stat with the kernel's own events, which any machine has: known counts, targets,
# intervals, repeats, formats, ends, and what it says where it may not count.
. tests/cli/lib.sh

STRATA_METRICS=$root/metrics
STRATA_MACHINES=$root/machines
TMPDIR=$work
export STRATA_METRICS STRATA_MACHINES TMPDIR
unset STRATA_VALGRIND
is() { [ "$2" = "$3" ] || { echo "# $1: $2, wanted $3"; false; }; }
said() { grep -q -e "$1" "$work/err" || { cat "$work/err"; false; }; }
stat_json() { run stat --json -o r.json "$@"; }
count() { jq -r --arg e "$1" '.counters[] | select(.event == $e) | .count' "$work/r.json"; }
why() { jq -r --arg e "$1" '.counters[] | select(.event == $e) | .why' "$work/r.json"; }

# Bad input
fails 2 'what is to be counted' stat
fails 2 'no-such-program: no such program' stat --source perf -e page-faults no-such-program
fails 2 'three targets' stat -a -p 1 true
fails 2 'pid 0: it must be' stat -p 0
fails 2 'pid 1073741823: there is no such process' stat -e page-faults -p 1073741823
fails 2 'pid 1073741823: there is no such process' stat -p 1073741823
fails 2 'the control group no/such' stat -e page-faults --cgroup no/such --duration 1
fails 2 'interval 1: it must be' stat -I 1 true
fails 2 'repeat 0: it must be' stat -r 0 true
fails 2 'repeat is for a program' stat -r 3 -a
fails 2 'do not go together' stat -r 3 -I 100 true
fails 2 'cannot write to the folder' stat -o /no/such/folder/x true
fails 2 "nosuch: .*'strata events PATTERN' searches them" stat -e nosuch true
fails 2 'no PMU nosuch is known' stat -e nosuch::X true
fails 2 'the name of an event is missing' stat -e page-faults,, true
fails 2 'a { without its }' stat -e '{page-faults' true
fails 2 'a } without its {' stat -e 'page-faults}' true
fails 2 'machine is for --source sim' stat --source perf --machine generic true
fails 2 'runs a program of its own' stat --source sim -a
fails 2 'are for --source perf' stat --source sim --user true
STRATA_METRICS=/no/such
fails 3 'set STRATA_METRICS' stat true
mkdir "$work/metrics"
cp "$root"/metrics/* "$work/metrics"
echo 'nonsense' >>"$work/metrics/cpus.table"
STRATA_METRICS=$work/metrics
fails 2 'cpus.table:[0-9]*: nonsense: neither' stat true
STRATA_METRICS=$root/metrics

# May anything be counted here?
stat_json -e page-faults true
if [ "$status" -ne 0 ]; then
    echo "skip: the kernel's events cannot be counted: $(cat "$work/err")"
    finish
fi

# The program's own input, output and end
(cd "$work" && printf 'in\n' | "$strata" stat -e page-faults cat) >"$work/out" 2>"$work/err"
check 'standard input and output are its own' is output "$(cat "$work/out")" in
check 'the report is on standard error' said 'page-faults  *[1-9]'
check 'narrow' narrow "$work/err"
run stat -e page-faults -- sh -c 'printf "%s|" "$@"; exit 77' sh -- 'a b' '' --json
check 'arguments are left alone' is arguments "$(cat "$work/out")" '--|a b||--json|'
check 'exit status' is status "$status" 77
run stat -e page-faults -- sh -c 'kill -TERM $$'
check 'a signal' is status "$status" 143
check 'and a report' said 'page-faults  *[1-9]'
run stat -e page-faults -- ./no-such
check 'no such program' is status "$status" 2
: >"$work/text" && chmod +x "$work/text"
run stat -e page-faults -- ./text
check 'no program' is status "$status" 2

# begin ARGUMENT...: starts strata stat and waits until the program runs
begin() {
    rm -f "$work/running"
    (cd "$work" && exec "$strata" stat "$@") >"$work/out" 2>"$work/err" </dev/null &
    pid=$!
    until [ -e "$work/running" ]; do
        kill -0 $pid 2>/dev/null || break
        sleep 0.02
    done
}
begin -e page-faults -- sh -c 'trap "echo caught; exit 5" TERM; : >running; while :; do sleep 0.05; done'
kill -TERM $pid
wait $pid
status=$?
check 'SIGTERM reaches the program' is output "$(cat "$work/out")" caught
check 'whose exit status counts' is status "$status" 5
check 'and a report is left' said 'page-faults  *[1-9]'
run stat --duration 0.5 -e page-faults -- sleep 60
check '--duration ends the program: exit status 0' is status "$status" 0
check 'and a report' said 'page-faults  *[1-9]'

# Formats
run stat -e task-clock true
check 'a clock has its unit' grep -q '^  task-clock .* ns$' "$work/err"
stat_json -e page-faults,task-clock true
check 'nothing is said besides' [ ! -s "$work/err" ]
check 'JSON' holds "$work/r.json" '.schema == "strata.stat/1" and .source == "perf" and
    .runs == 1 and .seconds > 0 and (.counters | length) == 2 and .metrics == [] and
    all(.counters[]; .count > 0 and .why == null and .enabled_ns == .running_ns and
        .enabled_ns > 0 and .scaled == false)'
run stat --json -e page-faults true
check 'JSON on standard error' holds "$work/err" '.counters[0].event == "page-faults"'
run stat --csv -e page-faults true
check 'CSV' is lines "$(wc -l <"$work/err")" 2
check 'CSV: heading' said '^from,to,kind,name,pmu,value,deviation,enabled_ns,running_ns,why$'
check 'CSV: a line' said '^0,[0-9.]*,event,page-faults,,[0-9]*,,[0-9]*,[0-9]*,$'
stat_json -r 3 -e page-faults true
check 'repeats' holds "$work/r.json" '.runs == 3 and .counters[0].deviation >= 0 and
    .counters[0].count > 0'
run stat -r 3 -e page-faults true
check 'repeats as text' said 'mean of 3 runs'
stat_json -e '{task-clock,page-faults}' true
check 'a group is counted at the same times' holds "$work/r.json" \
    '.counters[0].enabled_ns == .counters[1].enabled_ns'
run stat -I 50 --json -e page-faults -- sleep 1
check 'intervals' holds "$work/err" -s 'length >= 3 and (.[:-1] | all(.interval[1] > .interval[0])) and
    (last | .interval == null) and
    ([.[:-1][].counters[0].count // 0] | add) == last.counters[0].count and
    last.counters[0].count > 10'
run stat -I 50 -e page-faults -o times.txt -- sleep 0.2
# under load the first one may end late, but not early
check 'intervals to a file' awk 'NR == 1 { exit !($1 == "0.000" && $3 == "to" && $4 >= 0.05) }' \
    "$work/times.txt"

# What was not counted has a reason and no number
stat_json -e page-faults,nopmu/event=1/,no:such true
check 'a PMU that is not there' is count "$(count nopmu/event=1/)" null
check 'why' is why "$(why nopmu/event=1/)" \
    'unknown here: there is no PMU nopmu in /sys/bus/event_source/devices'
check 'a tracepoint that is not there' is count "$(count no:such)" null
check 'why' [ "$(why no:such | grep -c 'unknown here: .*tracepoint no:such')" -eq 1 ]
fails 3 'nothing can be counted: nopmu/event=1/: unknown here' stat -e nopmu/event=1/ true
run stat --source perf -e nopmu/event=1/,page-faults,nopmu/event=1/ true
check 'as text' said 'nopmu/event=1/  *not counted: unknown here'
check 'the same reason is given once' said 'nopmu/event=1/  *not counted: as for nopmu'
stat_json --source perf true
check 'all events of the table: counted, or why not' holds "$work/r.json" \
    '(.counters | length) >= 14 and all(.counters[]; (.count == null) == (.why != null)) and
     all(.metrics[]; (.value == null) == (.why != null)) and
     (.metrics | map(.name) | index("l1d_mpki")) != null'

# Counts that are known, by a program that is known to the last instruction
program() { # program LINES PAGES WRITES
    gcc -nostdlib -static -DLINES="$1" -DPAGES="$2" -DWRITES="$3" \
        "$root/tests/programs/exact.S" -o "$work/exact"
}
faults() { # in user space: the kernel touches the stack, whose place is random
    stat_json -e page-faults:u ./exact
    count page-faults:u
}
if [ "$(uname -m)" != x86_64 ]; then
    echo 'skip: the known program is written for x86-64'
elif [ "$(getconf PAGESIZE)" != 4096 ]; then
    echo 'skip: the known program is written for pages of 4096 bytes'
else
    program 1 50 1 && few=$(faults)
    program 1 250 1 && more=$(faults)
    program 1 450 1 && most=$(faults)
    check 'page faults: slope 1' is faults "$((more - few)) $((most - more))" '200 200'
    program 1 1 1000
    address=0x$(nm "$work/exact" | awk '$3 == "watched" { print $1 }')
    stat_json -e "mem:$address/8:w" ./exact
    if [ "$status" -ne 5 ]; then
        echo "skip: breakpoints cannot be counted: $(cat "$work/err")"
    else
        check 'writes to one address' is count "$(count "mem:$address/8:w")" 1000
        stat_json -e "mem:$address/8:w,page-faults" -r 2 ./exact
        check 'twice' holds "$work/r.json" '.counters[0].count == 1000'
    fi
fi

# Other targets
sleep 60 &
target=$!
stat_json -e page-faults,context-switches -p $target --duration 0.2
check 'a process' is status "$status" 0
(cd "$work" && exec "$strata" stat -e task-clock -p $target) >"$work/out" 2>"$work/err" &
pid=$!
until readlink /proc/$pid/fd/* 2>/dev/null | grep -q perf_event || ! kill -0 $pid 2>/dev/null; do
    sleep 0.02
done
kill $target
wait $pid
check 'until the process ends' is status $? 0
wait $target 2>/dev/null
stat_json -e page-faults,cpu-clock -a --duration 0.2
if [ "$status" -eq 3 ]; then
    echo "skip: other programs cannot be counted: $(cat "$work/err")"
else
    check 'all processors' holds "$work/r.json" '.target == "all processors" and
        .counters[1].count > 1e8 * 0.5'
    stat_json -e page-faults -a -- sh -c 'exit 4'
    check 'all processors while a program runs' is status "$status" 4
    rm -f "$work/times.txt"
    (cd "$work" && exec "$strata" stat -I 50 -o times.txt -e cpu-clock -a) 2>"$work/err" &
    pid=$!
    until [ -s "$work/times.txt" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
    kill -INT $pid
    wait $pid
    check 'Ctrl-C leaves a report' is status $? 0
    check 'with the sum' grep -q '^all processors: perf on' "$work/times.txt"
fi

# Without the right to count the kernel
limited="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all"
as_nobody() { (cd / && $limited "$@") >"$work/out" 2>"$work/err" </dev/null; }
level=$(cat /proc/sys/kernel/perf_event_paranoid)
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null ||
    ! as_nobody sh -c "test -x '$strata' && test -r '$root/metrics/cpus.table'"; then
    echo 'skip: not root, or another user cannot run this strata'
elif [ "$level" -ne 2 ]; then
    echo "skip: perf_event_paranoid is $level, and this is about 2"
else
    as_nobody "$strata" stat --json -e page-faults,context-switches true
    check 'as another user: exit status' is status $? 0
    check 'as another user: user space only' holds "$work/err" \
        '.counters[0] | .count > 0 and .user_only'
    check 'as another user: the kernel is denied' holds "$work/err" \
        '.counters[1] | .count == null and .state == "denied" and
         (.why | test("perf_event_paranoid is 2, so users may count only their own"))'
    as_nobody "$strata" stat -a -e page-faults --duration 0.1
    check 'as another user: all processors: exit status' is status $? 3
    check 'as another user: what to do' said 'sudo sysctl kernel.perf_event_paranoid=0'
fi

# In a container that forbids the system call
gcc "$root/tests/programs/no_perf.c" -o "$work/no_perf"
"$work/no_perf" 1 /bin/true
if [ $? -eq 77 ]; then
    echo 'skip: seccomp filters are not allowed here'
else
    for number in 1 38; do # EPERM, ENOSYS
        (cd "$work" && ./no_perf $number "$strata" stat -e page-faults true) \
            >"$work/out" 2>"$work/err"
        check "without the system call ($number): exit status" is status $? 3
        check 'and why' said 'nothing can be counted: page-faults: .*seccomp'
    done
fi
finish
