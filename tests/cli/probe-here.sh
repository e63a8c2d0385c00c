# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata probe on the machine that runs the tests, which may be busy: not what it finds,
# but that it ends, says something that makes sense, and keeps what is there. Little
# memory, one processor, an interruption, a terminal.
. tests/cli/lib.sh

is() { [ "$(jq "$1" "$2" 2>&1)" = true ]; }

# sensible WHAT: an answer, or a reason on standard error
# shellcheck disable=SC2016 # jq has variables, too
sensible() {
    if [ $status -eq 0 ]; then
        check "$1: an answer" is '.schema == "strata.machine/1" and .source == "timing"
            and ([.caches[], .tlbs[], .memory | . as $o | to_entries[]
            | select(.value == null and .key != "confidence")
            | $o.why[.key | sub("_range$"; "")] | strings | length > 0] | all)' "$work/out"
    elif [ $status -eq 1 ] || [ $status -eq 3 ]; then
        check "$1: a reason" grep '^strata: ' "$work/err"
    else
        not_ok "$1: exit status $status"
        cat "$work/err"
    fi
}

run probe --json --budget 1
sensible 'a budget of a second'
check 'it is an answer' [ $status -eq 0 ]

# limited KILOBYTES: with so little address space
limited() {
    # shellcheck disable=SC3045 # dash has it
    (ulimit -v "$1" && cd "$work" && exec "$strata" probe --json --budget 1) \
        >"$work/out" 2>"$work/err" </dev/null
    status=$?
}
# shellcheck disable=SC2016 # it is for the shell within, which says how strata died
if sh -c 'ulimit -v 300000; "$1" version; exit $?' sh "$strata" >/dev/null 2>&1; then
    for kilobytes in 300000 150000 80000; do
        limited $kilobytes
        sensible "$kilobytes KB of memory"
    done
else
    echo 'skip: this build needs more address space than the limit'
fi

if command -v taskset >/dev/null; then
    first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
    (cd "$work" && exec taskset -c "$first" "$strata" probe --json --budget 1) \
        >"$work/out" 2>"$work/err" </dev/null
    status=$?
    sensible 'one processor'
    check 'it ran there' is ".cpu == $first" "$work/out"
fi

# Ctrl-C: what is there is printed and written, and the exit status is 1. The signal is
# sent when the program is ready to catch it.
cp "$root/machines/amd-zen-4.machine" "$work/m.machine"
(cd "$work" && exec "$strata" probe --machine m.machine --data d.json) \
    >"$work/out" 2>"$work/err" </dev/null &
pid=$!
while kill -0 $pid 2>/dev/null; do
    # the last digit of the mask has a bit for SIGINT
    case $(sed -n 's/^SigCgt:.*\(.\)$/\1/p' /proc/$pid/status) in
    [2367abef]) break ;;
    esac
done
kill -INT $pid
wait $pid
status=$?
check 'interrupted: exit status 1' [ $status -eq 1 ]
check 'interrupted: it is said' grep -q '^strata: interrupted' "$work/err"
check 'interrupted: what is there is printed' grep -q 'simulated, ' "$work/out"
check 'interrupted: what is there is written' is '.schema == "strata.dataset/1"' \
    "$work/d.json"

# On a terminal there is a picture, and a narrow one gets narrow lines. A busy machine may
# leave no time for a curve; a simulated one has one.
on_terminal() {
    (cd "$work" && TERM=xterm NO_COLOR=1 script -qec \
        "stty cols 60; PATH=$(dirname "$strata"):\$PATH exec strata probe $* --no-progress" \
        typescript) \
        </dev/null >"$work/out" 2>"$work/err"
    tr -d '\r' <"$work/out" >"$work/screen"
    check "no wider than it is: $*" awk 'length > 60 { print; bad = 1 } END { exit bad }' \
        "$work/screen"
}
if has_terminal; then
    on_terminal --budget 1
    check 'what comes next' grep -q '^next    strata probe --save' "$work/screen"
    printf '%s\n' '[machine]' 'name = small' 'page = 64K' 'frequency = 1000M' \
        '[cache L1d]' 'level = 1' 'kind = data' 'size = 12K' 'line = 64' \
        'ways = 3' 'latency = 2' '[tlb L1d]' 'level = 1' 'kind = data' 'entries = 24' \
        'ways = full' '[walk]' 'latency = 25' '[memory]' 'latency = 120' >"$work/small.machine"
    on_terminal --machine small.machine
    check 'a terminal gets a picture' grep -q '^cycles' "$work/screen"
    on_terminal --machine small.machine --save this.machine --plot p.svg
    check 'a saved machine is for a program of your own' grep -q \
        '^ *strata record --machine this.machine -- ./your-program' "$work/screen"
    check 'the plot has a date' grep -q ">$(date +%Y).*strata [0-9].*</text>" "$work/p.svg"
fi
finish
