# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata serve, for real: the kernel's events of this machine and of a process that ends,
# asked for by curl, checked by promtool where it is installed; requests that are malformed,
# huge or slow; privileges; and the end.
. tests/cli/lib.sh

STRATA_METRICS=$root/metrics
export STRATA_METRICS
# A process that has changed its user cannot be looked into by the leak sanitizer.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
is() { [ "$2" = "$3" ] || { echo "# $1: $2, wanted $3"; false; }; }
command -v curl >/dev/null || { echo 'skip: curl is not installed'; exit 77; }

# Bad input
fails 2 'three targets' serve -a -p 1
fails 2 'pid 1073741823: there is no such process' serve --listen 0 -p 1073741823
fails 2 'the control group no/such' serve --listen 0 --cgroup no/such
fails 2 'interval 1: it must be' serve -I 1
fails 2 'wanted is ADDRESS:PORT' serve --listen nonsense
fails 2 'no address' serve --listen example.org:80
fails 2 'a number from 0 to 65535' serve --listen 127.0.0.1:99999
fails 2 'connections 0: it must be' serve --connections 0
fails 2 'timeout 0: it must be' serve --timeout 0
fails 2 "nosuch: .*'strata events PATTERN' searches them" serve -e nosuch --listen 0
fails 2 'a simulated machine runs one program' serve --source sim
fails 3 'nothing can be counted: nopmu/event=1/: unknown here' serve --listen 0 -e nopmu/event=1/

# begin ARGUMENT...: starts strata serve at a free port; leaves $pid and $url, or $pid empty
begin() {
    : >"$work/said" # what the one before said is not the answer
    (cd "$work" && exec "$strata" serve --listen 0 "$@") >"$work/said" 2>"$work/log" </dev/null &
    pid=$!
    until grep -q Ctrl-C "$work/said"; do
        kill -0 $pid 2>/dev/null || break
        sleep 0.02
    done
    url=$(sed -n 's/^strata: serving .* at \(http[^ ]*\)\/ .*/\1/p' "$work/said")
    grep -q Ctrl-C "$work/said" || { wait $pid; status=$? pid=; }
}
# end SIGNAL: ends it; leaves $status
end() {
    kill "-$1" "$pid"
    wait "$pid"
    status=$?
    pid=
}
stop() {
    for one in $pid $target; do kill "$one"; done 2>/dev/null
    [ -z "$group" ] || rmdir "$group" 2>/dev/null
    rm -rf "$work"
}
pid='' target='' group=''
trap stop EXIT
get() { curl -s --max-time 60 -o "$work/got" -w '%{http_code}' "$@"; }
# sees TEXT: waits until a line that begins with TEXT is in what /metrics says
sees() {
    tries=0
    until [ "$(get "$url/metrics")" = 200 ] && grep -q "^$1" "$work/got"; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || { cat "$work/got" "$work/log"; return 1; }
        sleep 0.1
    done
}
# number FAMILY-AND-LABELS: its value in what was got last
number() { awk -v n="$1" 'substr($0, 1, length(n)) == n { print $NF }' "$work/got"; }
well_formed() {
    if command -v promtool >/dev/null; then
        promtool check metrics <"$work/got" || { cat "$work/got"; false; }
    else
        echo 'skip: promtool is not installed (Debian: prometheus)'
        awk '/^# (HELP|TYPE) [a-z_]+ ./ || /^[a-z_]+(\{[a-z]+=".*"\})? [0-9.e+-]+$/ { next }
            { print; bad = 1 } END { exit bad }' "$work/got"
    fi
}

# A process, as any user can count it
sh -c 'while :; do :; done' &
target=$!
begin -p $target -I 50 -e task-clock:u,page-faults:u,l1d_misses --timeout 1
if [ -z "$pid" ]; then
    kill $target
    echo "skip: the kernel's events cannot be counted: $(cat "$work/log")"
    finish
fi
check 'a process: rates' sees 'strata_event_rate{event="task-clock:u"} [0-9]'
before=$(number 'strata_events_total{event="task-clock:u"}')
check 'well formed' well_formed
check 'no number for what is not counted' sh -c "! grep -q '^strata_event.*l1d_misses.* 0\$' '$work/got'"
if grep -q '^strata_event_not_counted{event="l1d_misses"' "$work/got"; then
    check 'but a reason' grep -q 'l1d_misses",state="[a-z ]*",reason="[a-z]' "$work/got"
fi
wait_more() {
    tries=0
    until get "$url/metrics" >"$work/code" &&
        [ "$(number 'strata_events_total{event="task-clock:u"}')" -gt "$before" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || return 1
        sleep 0.05
    done
}
check 'counts grow' wait_more
check 'the page' is status "$(get "$url/")" 200
check 'is whole' grep -q '</html>' "$work/got"
check 'its script' is status "$(get "$url/page.js")" 200
check 'its style' is status "$(get "$url/page.css")" 200
check 'its data' is status "$(get "$url/data.json")" 200
check 'are JSON' holds "$work/got" '.schema == "strata.serve/1" and .up and .interval == 0.05 and
    (.samples | length) > 0 and (.samples | map(.number) | . == sort) and
    all(.samples[]; (.rates | length) == 3)'
last=$(jq '.samples[-1].number' "$work/got")
get "$url/data.json?after=$last" >/dev/null
check 'only new samples' holds "$work/got" --argjson last "$last" 'all(.samples[]; .number > $last)'

# Requests that are no good
check 'another page' is status "$(get "$url/nosuch")" 404
check 'POST' is status "$(get -d x "$url/metrics")" 405
check 'another host name' is status "$(get -H 'Host: example.org' "$url/")" 421
check 'a body' is status "$(get -X GET -d x "$url/")" 413
head -c 100000 /dev/zero | tr '\0' a >"$work/long"
code=$(get -H "X: $(cat "$work/long")" "$url/")
check "a huge header (status $code)" [ "$code" -ge 400 ]
code=$(get "$url/$(cat "$work/long")")
check "a huge path (status $code)" [ "$code" -ge 400 ]
# a byte now and then, without end: strata ends it, before curl would (its status 28)
slow_request() {
    { printf 'GET / HTTP/1.1\r\nX: ' && while sleep 0.1; do printf a || exit; done; } |
        curl -s --max-time 120 "telnet://${url#http://}" >"$work/got"
    [ $? -ne 28 ]
}
check 'a slow one is ended' slow_request
check 'and it answers still' is status "$(get "$url/metrics")" 200

# The process ends
kill $target
wait $target 2>/dev/null
check 'the process ends: it is said' sees 'strata_target_up{reason="process [0-9]* has ended"} 0'
check 'its counts stay' grep -q '^strata_events_total{event="task-clock:u"} [1-9]' "$work/got"
check 'its rates are gone' sees 'strata_event_not_counted{event="task-clock:u",state="never scheduled"'
check 'none is left' sh -c "! grep -q '^strata_event_rate{' '$work/got'"
get "$url/data.json" >/dev/null
check 'the page knows' holds "$work/got" '.up == false and (.why | test("has ended"))'

# The end
port=${url##*:}
fails 1 'cannot listen on 127.0.0.1:[0-9]*: .*choose another port' serve --listen "$port" -p $$
end TERM
check 'SIGTERM: exit status 0' is status $status 0
check 'nothing to complain about' [ ! -s "$work/log" ]
begin -p $$ -e page-faults:u
end INT
check 'Ctrl-C: exit status 0' is status $status 0

# All processors
begin -I 100 -e page-faults,cpu-clock
if [ -z "$pid" ]; then
    check 'all processors: not allowed' is status $status 3
    echo "skip: all processors cannot be counted: $(cat "$work/log")"
else
    check 'all processors' sees 'strata_events_total{event="cpu-clock",cpu="[0-9]*"} [1-9]'
    check 'each is up' sees 'strata_cpu_up{cpu="[0-9]*"} 1'
    check 'well formed' well_formed
    privileges() { awk '/^(CapInh|CapPrm|CapEff|CapAmb):/ && $2 !~ /^0*$/ { print; bad = 1 }
        /^Uid:/ && ($2 == 0 || $3 == 0 || $4 == 0) { print; bad = 1 }
        /^NoNewPrivs:/ && $2 != 1 { print; bad = 1 } END { exit bad }' "/proc/$pid/status"; }
    check 'privileges are gone' privileges
    if [ "$(id -u)" -eq 0 ]; then
        check 'and that is said' grep -q '^strata: runs as nobody without capabilities' "$work/said"
    fi
    end TERM
    check 'all processors: exit status 0' is status $status 0
fi
if [ "$(id -u)" -eq 0 ]; then
    fails 2 'no such user' serve --listen 0 -e page-faults --user no-such-user
    fails 2 'that is root' serve --listen 0 -e page-faults --user root
fi

# A control group that is removed
make_group() {
    for group in /sys/fs/cgroup /sys/fs/cgroup/unified; do
        group=$group/strata-test-$$
        [ -e "${group%/*}/cgroup.procs" ] && mkdir "$group" 2>/dev/null && return
    done
    false
}
if ! make_group; then
    echo 'skip: a control group cannot be made here'
else
    sh -c 'while :; do sleep 0.01; done' &
    target=$!
    begin -I 50 -e task-clock,page-faults --cgroup "$group"
    if [ -z "$pid" ] || ! echo $target >"$group/cgroup.procs"; then
        echo "skip: a control group cannot be counted: $(cat "$work/log")"
    else
        check 'a control group' sees 'strata_events_total{event="task-clock"} [1-9]'
    fi
    kill $target
    wait $target 2>/dev/null
    until rmdir "$group" 2>/dev/null; do sleep 0.05; done
    if [ -n "$pid" ]; then
        check 'is removed: it is said' sees 'strata_target_up{reason="/sys/fs/cgroup.* was removed"} 0'
        check 'well formed' well_formed
        end TERM
        check 'exit status 0' is status $status 0
    fi
fi

# As another user, from the start
limited="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all"
level=$(cat /proc/sys/kernel/perf_event_paranoid)
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null ||
    ! (cd / && $limited sh -c "test -x '$strata' && test -r '$root/metrics/cpus.table'"); then
    echo 'skip: not root, or another user cannot run this strata'
elif [ "$level" -lt 1 ]; then
    echo "skip: perf_event_paranoid is $level, which allows all to all"
else
    (cd / && $limited "$strata" serve --listen 0 -e page-faults) >"$work/out" 2>"$work/err"
    check 'as another user: exit status' is status $? 3
    check 'and what to do' grep -q "^strata: nothing can be counted: .*sudo sysctl kernel.perf_event" "$work/err"
fi

# Without the system call
gcc "$root/tests/programs/no_perf.c" -o "$work/no_perf"
"$work/no_perf" 1 /bin/true
if [ $? -eq 77 ]; then
    echo 'skip: seccomp filters are not allowed here'
else
    (cd "$work" && ./no_perf 1 "$strata" serve --listen 0 -e page-faults) >"$work/out" 2>"$work/err"
    check 'without the system call: exit status' is status $? 3
    check 'and why' grep -q 'nothing can be counted: page-faults: .*seccomp' "$work/err"
fi
finish
