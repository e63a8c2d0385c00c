# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# What commands can and cannot do without privileges: as another user, at each level of
# perf_event_paranoid, as root of a user namespace, and in a container without
# perf_event_open. Each says so, exits with 0 or 3, and prints no number for what was not
# counted.
#
# The levels are really set, and set back, where everything is tested (STRATA_FULL=1) and
# by root; else the one that there is has to do.
. tests/cli/lib.sh

STRATA_METRICS=$root/metrics
STRATA_MACHINES=$root/machines
export STRATA_METRICS STRATA_MACHINES
setting=/proc/sys/kernel/perf_event_paranoid
level=$(cat $setting 2>/dev/null) || level=none
tool=$(dirname "$strata")/valgrind/strata-$(uname -m | sed 's/x86_64/amd64/')-linux
gcc "$root/tests/programs/no_perf.c" -o "$work/no_perf" || not_ok 'compiling no_perf.c'
mkdir "$work/open" && chmod 755 "$work" && chmod 777 "$work/open"
TMPDIR=$work/open
export TMPDIR

# try COMMAND...: strata by $how in a folder that everybody can write to
# shellcheck disable=SC2086,SC2154 # a list of words; lib.sh has the names
try() {
    (cd "$work/open" && exec timeout 100 $how "$strata" "$@") >"$work/out" 2>"$work/err" </dev/null
    status=$?
}
is() {
    [ "$2" = "$3" ] && return
    echo "# $1: $2, wanted $3"
    cat "$work/out" "$work/err"
    false
}
said() { grep -q -e "$1" "$work/err" || { cat "$work/err"; false; }; }
json() { holds "$work/$1" "$2" || { cat "$work/out" "$work/err"; false; }; }

# exits STATUS TEXT COMMAND...: with that status, and TEXT in its message
exits() {
    wanted=$1 text=$2
    shift 2
    try "$@"
    check "$who: $*: exit status $wanted" is status "$status" "$wanted"
    [ -z "$text" ] || check "$who: $*: it says why" said "$text"
}

# honest: what strata stat --json printed has numbers or reasons
honest() {
    json err 'all(.counters[]; (.count == null) == (.why != null) and
        (.state == "counted") == (.count != null)) and
        all(.metrics[]; (.value == null) == (.why != null))'
}

# Whatever is forbidden, these work: they need no counters.
without_counters() {
    exits 0 '' events l1d_misses
    exits 0 '' doctor
    [ -x "$tool" ] || return 0
    rm -f "$work/open/true.strata"
    exits 0 '' record -o true.strata -- true
    exits 0 'simulating' stat -e l1d_misses --machine generic -- true
}

# Nothing at all can be counted, for the reason $1.
nothing() {
    exits 3 "nothing can be counted: page-faults: .*$1" stat --source perf -e page-faults true
    exits 3 "nothing can be counted: page-faults: .*$1" stat -a -e page-faults --duration 0.1
    exits 3 "nothing can be counted: page-faults: .*$1" top -b -n 1 -d 0.1 -e page-faults
    exits 3 "nothing can be counted: page-faults: .*$1" top -b -n 1 --by cpu -e page-faults
    exits 3 "nothing can be counted: page-faults: .*$1" serve -l 127.0.0.1:0 -e page-faults
}

# Own programs may be counted, without the kernel's part; nothing else.
own_programs() {
    try stat --source perf --json -- true
    check "$who: stat: exit status" is status "$status" 0
    check "$who: stat: numbers or reasons" honest
    check "$who: stat: user space alone" json err \
        '.counters[] | select(.event == "page-faults") | .count > 0 and .user_only'
    check "$who: stat: the kernel's part is denied" json err \
        '.counters[] | select(.event == "context-switches") | .count == null and
         .state == "denied" and (.why | test("perf_event_paranoid is"))'
    exits 3 'context-switches: denied' stat --source perf -e context-switches true
    exits 3 'denied.*perf_event_paranoid is' stat -a -e page-faults --duration 0.1
    exits 3 'denied.*perf_event_paranoid is' top -b -n 1 --by cpu -e page-faults
    exits 3 'denied.*perf_event_paranoid is' serve -l 127.0.0.1:0 -e page-faults
    try top --json -n 1 -d 0.1 -e page-faults,context-switches
    check "$who: top: exit status" is status "$status" 0
    check "$who: top: own processes, and it says so" json out '
        (.rows | length) == .all and ([.rows[].user] | unique | length) == 1 and
        any(.rows[]; .values["page-faults"] != null) and
        (.of_others == 0 or (.notes | any(test("^your processes only"))))'
    check "$who: top: no number for what is denied" json out '
        .columns[1].counted == false and (.columns[1].why | test("denied")) and
        all(.rows[]; .values["context-switches"] == null)'
}

# In a container that forbids the system call
"$work/no_perf" 1 /bin/true
if [ $? -eq 77 ]; then
    echo 'skip: seccomp filters are not allowed here'
else
    for number in 1 38; do # EPERM, ENOSYS
        how="$work/no_perf $number" who="without the system call ($number)"
        nothing seccomp
        without_counters
        [ ! -x "$tool" ] || exits 0 'here.*; simulating' stat -e l1d_misses -- true
    done
fi

# As another user, and as root of a namespace
limited="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all"
how=$limited who='another user'
if [ "$(id -u)" -ne 0 ]; then
    how='' who='this user'
fi
reaches() {
    # shellcheck disable=SC2086 # a list of words
    $how sh -c "test -x '$strata' && test -r '$root/metrics/cpus.table'" 2>/dev/null
}
at_level() {
    try stat --source perf -e page-faults true
    if [ "$status" -eq 3 ] && [ "$level" -gt 2 ]; then # kernels of some distributions
        nothing "perf_event_paranoid is $level, so "
        without_counters
    elif [ "$status" -eq 3 ]; then
        echo "skip: the kernel's events cannot be counted: $(cat "$work/err")"
    elif [ "$level" -ge 2 ]; then
        own_programs
        without_counters
    else
        try stat --source perf --json -e page-faults,context-switches true
        check "$who: stat: with the kernel's part" json err \
            'all(.counters[]; .count != null and (.user_only | not))'
    fi
}
if [ "$level" = none ]; then
    echo 'skip: this kernel has no perf events'
elif ! reaches; then
    echo 'skip: another user cannot run this strata'
elif [ "${STRATA_FULL:-}" != 1 ] || [ "$(id -u)" -ne 0 ] || [ ! -w $setting ]; then
    who="$who at perf_event_paranoid $level"
    at_level
else
    before=$level
    trap 'echo "$before" >$setting; rm -rf "$work"' EXIT
    for level in 1 2 3 4; do
        who="another user at perf_event_paranoid $level"
        echo "$level" >$setting || continue
        at_level
    done
    echo "$before" >$setting
    level=$before
    check 'the setting is as it was' [ "$(cat $setting)" = "$before" ]
fi
if [ "$level" != 2 ] || ! unshare -Ur true 2>/dev/null; then
    echo 'skip: no user namespaces here, or another level'
else
    how='unshare -Ur' who='root of a user namespace'
    exits 3 'denied.*perf_event_paranoid is 2' stat -a -e page-faults --duration 0.1
    try stat --source perf --json -- true
    check "$who: stat: numbers or reasons" honest
fi
finish
