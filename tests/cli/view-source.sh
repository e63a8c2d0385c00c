# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata view of a program whose source is at hand: the text of its lines, parts that sum up
# to the whole, one answer to how many blocks a line holds, noise that is cut off, and words
# that are explained.
. tests/programs/lib.sh

said() { grep -q -e "$1" "$work/out" || { cat "$work/out"; false; }; }
silent() { ! grep -q -e "$1" "$work/out"; }
mkdir "$work/src"
# a list of blocks of 32 bytes, walked; the loop's line has a control character in it
printf '%s\n' '#include <stdlib.h>' 'struct node { struct node *next; long value[3]; };' \
    'int main(void) {' '    struct node *head = NULL;' '    long sum = 0;' \
    '    for (int i = 0; i < 4000; i++) {' \
    '        struct node *new = malloc(sizeof *new);' \
    '        new->next = head, new->value[0] = i, head = new;' '    }' \
    '    for (struct node *at = head; at; at = at->next)' \
    "	    sum += at->value[0]; /*$(printf '\033')*/" \
    '    return sum == 42;' '}' >"$work/src/list.c"
gcc -O1 -g "$work/src/list.c" -o "$work/list" || not_ok 'compiling list.c'
run record --machine generic --exact --period 100 --branches -o l.strata -- ./list
is 'recorded' "$status" 0

# The whole and its parts
run view l.strata totals --json
check 'cycles are the sum of their parts' holds "$work/out" '.run |
    .cycles == .instruction_cycles + .memory_cycles + .branch_cycles + .sampling_cycles and
    .branch_cycles > 0 and .sampling_cycles > 0 and .memory_cycles > 0'
run view l.strata totals
check 'and are shown so' said '^    waiting for memory '

# How many blocks fit a line: malloc makes 48 bytes of 32
run view l.strata sizes --json
check 'a line holds one' holds "$work/out" \
    '.rows[] | select(.object == "main") | .smallest == 32 and .per_line == 1'
run view l.strata sizes --object main
check 'and the note says the same' said 'makes 48: a 64-byte line'
check 'one' said '1; in an array it would hold 2'

# Source
run view l.strata lines
check 'the text of a line' said 'list.c:11 .* sum += at->value\[0\]; /\* \*/'
check 'without control characters' [ "$(tr -d -c '\033\t' <"$work/out" | wc -c)" -eq 0 ]
check '80 columns' narrow "$work/out"
check 'a bar' said '^  .* [0-9.]* ##* '
mv "$work/src" "$work/away"
run view l.strata lines
check 'no text without the file' silent 'sum +='
mkdir -p "$work/down/src" && cp -p "$work/away/list.c" "$work/down/src/list.c"
(cd "$work/down" && "$strata" view ../l.strata lines) >"$work/out" 2>&1
check 'the file below the current folder' said 'sum +='
touch -d '+1 hour' "$work/down/src/list.c"
(cd "$work/down" && "$strata" view ../l.strata lines) >"$work/out" 2>&1
check 'no text of a file that was changed since' silent 'sum +='

# Noise and words
run view l.strata objects
check 'noise is in the rest' said '^  (.* others)'
shown=$(sed -n '/^  object /,/^[^ ]/p' "$work/out" | sed 1d | grep -c '^  [^ (]')
check 'what an event is' said '^event: an access that missed'
check 'what <ALLOCATOR> is' said '^<ALLOCATOR>: what malloc'
run view l.strata objects --top 0
check 'all rows, if asked for' silent 'others'
run view l.strata objects --json
check 'rows from 0.1% on are shown, JSON has all' holds "$work/out" --argjson n "$shown" \
    '(.rows | length) > 20 and ([.rows[] | select(.latency_pct >= 0.1)] | [length, 20] | min) == $n'
run view l.strata
is 'a word is explained once' "$(grep -c '^event: ' "$work/out")" 1
finish
