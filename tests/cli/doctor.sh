# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata doctor on whatever machine this is: what it says differs, its form does not.
# tests/test_facts.c looks at what it says of other machines.
. tests/cli/lib.sh

run doctor
check 'exit status 0, whatever it finds' [ $status -eq 0 ]
check 'nothing on standard error' [ ! -s "$work/err" ]
check 'it fits 80 columns' narrow "$work/out"
for fact in 'hardware counters' 'perf event paranoid' 'transparent huge pages' \
    'huge page pool' clock cores load 'memory limit' valgrind; do
    check "it speaks of $fact" grep -Eq "^  (ok|so-so|no|\?) +$fact  +[^ ]" "$work/out"
done
check 'it ends with the next step' \
    sh -c "tail -n 1 '$work/out' | grep -q '^next .*strata probe'"

for columns in 60 120; do
    COLUMNS=$columns run doctor
    check "it fits $columns columns" narrow "$work/out" $columns
    check "it ends with the next step at $columns columns" \
        grep -q '^next .*strata probe  *[a-z]' "$work/out"
done
check '120 columns are used' sh -c "awk 'length > 80' '$work/out' | grep -q ."

run doctor --json
check 'JSON: exit status 0' [ $status -eq 0 ]
check 'JSON: every fact has its parts' holds "$work/out" '
    .schema == "strata.doctor/1" and (.facts | length) >= 8 and
    (.facts | all((.name | test("^[a-z_]+$")) and (.found | length > 0) and
     (.state | IN("good", "limited", "missing", "unknown")) and
     (.advice == null or (.advice | length > 0))))'
check 'JSON: no counters are no good state' holds "$work/out" '
    .facts[] | select(.name == "hardware_counters") |
    .state == "good" or (.advice | length > 0)'

# coloured ENVIRONMENT...: on a terminal
escape=$(printf '\033')
coloured() { env "$@" script -qec "$strata doctor" /dev/null </dev/null 2>&1 | grep -q "$escape"; }
plain() { ! coloured "$@"; }
check 'no colour in a file' sh -c "! grep -q '$escape' '$work/out'"
if has_terminal; then
    check 'colour on a terminal' coloured TERM=xterm
    check 'none with NO_COLOR' plain TERM=xterm NO_COLOR=1
    check 'none on a dumb terminal' plain TERM=dumb
else
    echo 'skip: there is no terminal to be had here'
fi
finish
