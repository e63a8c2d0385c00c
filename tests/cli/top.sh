# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata top: frames for pipes with the kernel's own events, which any machine has; the live
# view on a terminal, its keys, and that it leaves the terminal as it was.
. tests/cli/lib.sh

STRATA_METRICS=$root/metrics
export STRATA_METRICS
is() { [ "$2" = "$3" ] || { echo "# $1: $2, wanted $3"; false; }; }
frames() { run top --json "$@"; }
frame() { holds "$work/out" -s "$@" || { cat "$work/out" "$work/err"; false; }; }
children=
leave() {
    # shellcheck disable=SC2086 # a list of numbers
    [ -z "$children" ] || kill $children 2>/dev/null
    rm -rf "$work"
}
trap leave EXIT

# Bad input
fails 2 "nosuch: .*'strata events PATTERN' searches them" top -e nosuch
fails 2 'must be the numbers of processes' top -p 1,x
fails 2 'none of these processes is there' top -p 1073741823
fails 2 'delay 0: it must be' top -d 0
fails 2 'frames 0: it must be' top -n 0
fails 2 'leave one of them out' top -p 1 --by cpu
run top --json --csv
check 'two formats' is status "$status" 2

# May anything be counted here?
run top --csv -n 1 -d 0.1 -e page-faults -p $$
if [ "$status" -ne 0 ]; then
    check 'a reason' grep -q '^strata: nothing can be counted' "$work/err"
    echo "skip: the kernel's events cannot be counted: $(cat "$work/err")"
    finish
fi
fails 2 'no such column (did you mean page-faults?)' top -e page-faults -p $$ --sort page-fault

# A process that sleeps, and one that faults
gcc -O1 "$root/tests/programs/faulting.c" -o "$work/faulting"
sleep 600 &
idle=$!
"$work/faulting" &
busy=$!
children="$idle $busy"
until grep -q '^State:.S' /proc/$idle/status && grep -qx sleep /proc/$idle/comm; do
    sleep 0.05 # it has not begun to sleep
done
frames -n 20 -d 0.1 -e page-faults,context-switches -p $idle,$busy
check 'exit status' is status "$status" 0
check 'a line for each frame' is lines "$(wc -l <"$work/out")" 20
check 'who it is' frame --arg i $idle --arg b $busy 'all(.[]; .schema == "strata.top/1" and
    .by == "process" and .all == 2 and .not_watched == 0 and .refused == 0 and
    ([.rows[] | .pid | tostring] | sort) == ([$i, $b] | sort) and
    all(.rows[]; .state == "counted" and .seconds > 0) and .interval[1] > .interval[0])'
check 'one that sleeps has 0, not null' frame --argjson i $idle \
    'all(.[1:][]; .rows[] | select(.pid == $i) | .values["page-faults"] == 0)'
check 'one that faults has more' frame --argjson b $busy \
    'any(.[]; .rows[] | select(.pid == $b) | .values["page-faults"] > 0)'
frames -n 5 -d 0.1 -e page-faults -p $idle,$busy --sort page-faults
check 'sorted' frame 'length == 5 and all(.[]; .rows[0].values["page-faults"] >= .rows[1].values["page-faults"])'
frames -n 1 -d 0.1 -e page-faults -p $idle,$busy --filter FAULT
check 'filtered' frame --argjson b $busy '.[0].rows | length == 1 and .[0].pid == $b'
run top -n 2 -d 0.1 -e page-faults,context-switches,cpu-migrations -p $idle,$busy
check 'as text' [ "$(grep -c 'faults/s  switch/s    migr/s  COMMAND$' "$work/out")" -eq 2 ]
check 'narrow' narrow "$work/out"
run top --csv -n 2 -d 0.1 -e page-faults -p $idle,$busy
check 'CSV: heading' is heading "$(head -n 1 "$work/out")" \
    'from,to,pid,user,command,state,cpu_pct,page-faults'
check 'CSV: lines' is lines "$(wc -l <"$work/out")" 5

# What is not counted has a reason, and no number
frames -n 1 -d 0.1 -p $busy
check 'every column is counted, or has a reason' frame '.[0].columns | length >= 10 and
    all(.[]; .counted or .why != null or .unit != "per second")'
check 'no number without a count' frame '.[0] | [.columns[] | select(.counted | not) | .name]
    as $missing | all(.rows[].values | to_entries[]; (.key | IN($missing[]) | not) or
    .value == null)'
frames -n 1 -d 0.1 -e nopmu/event=1/,page-faults -p $busy
check 'a PMU that is not there' frame '.[0] | .columns[0].why ==
    "unknown here: there is no PMU nopmu in /sys/bus/event_source/devices" and
    .rows[0].values["nopmu/event=1/"] == null and (.notes | length) == 1'
run top -n 1 -d 0.1 -e nopmu/event=1/,page-faults -p $busy
check 'the same as text' grep -q '^not counted: nopmu/event=1/: unknown here' "$work/out"
fails 3 'nothing can be counted: nopmu/event=1/: unknown here' top -e nopmu/event=1/ -p $busy

# Fewer descriptors than processes need
pids=
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
    sleep 600 &
    pids=$pids,$!
    children="$children $!"
done
# shellcheck disable=SC3045 # dash has it
(ulimit -n 40 && cd "$work" && exec "$strata" top --json -n 2 -d 0.1 \
    -e page-faults,context-switches -p "${pids#,}") >"$work/out" 2>"$work/err" </dev/null
check 'few descriptors: exit status' is status $? 0
check 'few descriptors: it is said' frame 'all(.[]; .all == 12 and .not_watched == 2 and
    ([.rows[] | select(.state == "not watched")] | length) == 2 and
    (.notes[0] | test("^2 processes are not watched")))'

# started PID: waits until it has printed something
started() {
    until [ -s "$work/out" ] || ! kill -0 "$1" 2>/dev/null; do sleep 0.05; done
}

# One that ends is shown once more, and then there is nobody
rm "$work/out"
(cd "$work" && exec "$strata" top --json -d 0.2 -e page-faults -p $busy) \
    >"$work/out" 2>"$work/err" </dev/null &
pid=$!
started $pid
kill $busy
wait $pid
check 'it ends with its process' is status $? 0
check 'which is shown as ended' frame '[.[].rows[].state] | index("ended") != null'

# Ctrl-C and its like end a batch
rm "$work/out"
(cd "$work" && exec "$strata" top --csv -d 0.2 -e page-faults) >"$work/out" 2>"$work/err" \
    </dev/null &
pid=$!
started $pid
kill -TERM $pid
wait $pid
check 'a signal ends it' is status $? 0

# All processors
run top --by cpu --json -n 1 -d 0.2 -e page-faults
if [ "$status" -eq 3 ]; then
    echo "skip: processors cannot be watched: $(cat "$work/err")"
else
    check 'processors' frame '.[0] | .by == "cpu" and (.rows | length) == .all and
        all(.rows[]; .values["page-faults"] >= 0)'
fi

# The live view
if ! has_terminal; then
    echo 'skip: there are no terminals here'
    finish
fi
# terminal ROWS COLUMNS ARGUMENT...: starts it; what is typed goes to descriptor 3, what it
# draws to $work/screen
terminal() {
    size="stty rows $1 cols $2"
    shift 2
    rm -f "$work/typed" "$work/screen" "$work/after"
    mkfifo "$work/typed"
    (cd "$work" && TERM=xterm NO_COLOR=1 exec script -qefc "$size; stty -a >before
        '$strata' top -d 0.2 -e page-faults,context-switches $*; echo \$? >status
        stty -a >after" screen) <"$work/typed" >/dev/null 2>&1 &
    session=$!
    exec 3>"$work/typed"
    shows 'PID'
}
# shows TEXT: waits until it was drawn
shows() {
    tries=0
    until grep -q -e "$1" "$work/screen" 2>/dev/null; do
        tries=$((tries + 1))
        if [ -e "$work/after" ] || [ $tries -gt 600 ]; then break; fi
        sleep 0.1
    done
}
draws() { grep -q -e "$1" "$work/screen"; }
pid_of() { pgrep -P "$(pgrep -P $session | head -n 1)" -x strata | head -n 1; }
# ended DESCRIPTION STATUS: it has ended so, and left the terminal as it was
ended() {
    until [ -e "$work/after" ] || ! kill -0 $session 2>/dev/null; do sleep 0.05; done
    exec 3>&-
    wait $session
    check "$1: exit status" is status "$(cat "$work/status")" "$2"
    check "$1: settings of the terminal" cmp "$work/before" "$work/after"
    check "$1: the screen is given back" draws "$(printf '\033')\[?1049l"
}
terminal 24 80
printf '?' >&3
shows 'look twice as often'
printf 'q' >&3
printf 'f' >&3
shows 'columns: arrows to move'
printf ' qq' >&3
ended 'q' 0
check 'the table' draws 'faults/s.*COMMAND'
check 'the help' draws 'reverse the order'
terminal 24 80
printf '/nobody-is-called-so' >&3
shows ', 0 shown'
printf '\033' >&3
sleep 0.2
printf 'c' >&3
shows 'busy%\|denied'
printf '\003' >&3
ended 'Ctrl-C' 0
check 'a filter' draws ', 0 shown'
terminal 5 20
printf '>>r<P+- \t\t' >&3
printf 'q' >&3
ended 'a small terminal' 0
terminal 24 80 -n 2
ended 'two frames' 0
for signal in TERM HUP SEGV ABRT; do
    terminal 24 80
    kill -$signal "$(pid_of)"
    case $signal in SEGV) wanted=139 ;; ABRT) wanted=134 ;; *) wanted=0 ;; esac
    ended "SIG$signal" $wanted
done
finish
