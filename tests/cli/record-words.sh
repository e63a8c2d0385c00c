# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# What strata record says on a terminal: its progress, and hints at what would make the next
# recording say more. Into a pipe it says neither. Every line fits.
# shellcheck disable=SC2016,SC2089 # the shell on the terminal expands what is in quotes
. tests/programs/lib.sh
plain_only 'the tool that runs these programs has no sanitizers'
has_terminal || skip_all 'there is no terminal to be had here'

machine=$root/tests/machines/direct.machine
export strata machine
unset OMP_WAIT_POLICY OMP_NUM_THREADS GOMP_SPINCOUNT KMP_BLOCKTIME
# on_terminal COLUMNS COMMAND: in $work, as a shell command; $work/out has what was shown,
# one line for what was drawn over itself each time
on_terminal() {
    (cd "$work" && TERM=xterm timeout 60 script -qec "stty cols $1; $2" /dev/null </dev/null) |
        tr '\r' '\n' | sed 's/.\[K//' | grep . >"$work/out"
}
shows() { grep -q -e "$1" "$work/out" || { cat "$work/out"; false; }; }
silent() { ! grep -e "$1" "$work/out"; }

pace='^strata: [0-9]* s, [0-9.]*[ KM]* accesses'
busy='--machine "$machine" --duration 3 -- sh -c "while :; do :; done"'
on_terminal 80 "\$strata record $busy >file"
check 'progress on a terminal, where the output goes elsewhere' shows "$pace"
check 'with the slow-down' shows "$pace, [0-9.]*x slower than the simulated machine$"
check 'it fits 80 columns' narrow "$work/out"
on_terminal 80 "\$strata record --no-progress $busy >file"
check 'none with --no-progress' silent "$pace"
run record --source sim --machine "$machine" --duration 3 -- sh -c 'while :; do :; done'
check 'none in a file' sh -c '! grep slower "$1"' sh "$work/err"

# A name that takes the room of the size, and one that needs a line of its own
name=$(printf '%016d' 0).strata
run record --source sim --machine "$machine" -o "$name" true
check 'the summary fits 80 columns with a longer name' narrow "$work/err"
name=$(printf '%060d' 0).strata
run record --source sim --machine "$machine" -o "$name" true
check 'and with a very long one' narrow "$work/err"
check 'every line is known by its beginning' sh -c '! grep -v "^strata: " "$1"' sh "$work/err"

compile known
cp "$work/known" "$work/bare"
strip "$work/bare"
on_terminal 80 '$strata record --machine "$machine" -- ./known'
check 'debug information: no hint' silent 'no line numbers'
on_terminal 80 '$strata record --machine "$machine" -- ./bare'
check 'stripped: a hint with the share' shows '^strata: [0-9]*% of the waiting is in .*/bare'
check 'and the summary' shows '^strata: .* accesses, .* above 1%: bare.strata'
check 'stripped: what to do' shows 'compile it with -g'
check 'it fits 80 columns' narrow "$work/out"
run record --source sim --machine "$machine" ./bare
check 'no hint in a pipe' sh -c '! grep "line numbers" "$1"' sh "$work/err"

cat >"$work/team.c" <<'END_OF_C'
#include <stdio.h>
int main(void)
{
    int n = 0;
#pragma omp parallel num_threads(2) reduction(+ : n)
    n++;
    return printf("%d\n", n) < 0;
}
END_OF_C
if gcc -O1 -g -fopenmp "$work/team.c" -o "$work/team" 2>/dev/null; then
    on_terminal 60 '$strata record --machine "$machine" -- ./team'
    check 'OpenMP: a hint' shows 'OMP_WAIT_POLICY=passive'
    check 'it fits 60 columns' narrow "$work/out" 60
    on_terminal 80 'OMP_WAIT_POLICY=passive $strata record --machine "$machine" -- ./team'
    check 'OpenMP: none where it was followed' silent 'OMP_WAIT_POLICY'
else
    echo 'skip: gcc has no OpenMP here'
fi
on_terminal 80 '$strata record --fetches --machine "$machine" -- true'
check 'the cost of --fetches' shows '^strata: --fetches .*slower'
finish
