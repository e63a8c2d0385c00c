# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# The virtual PMU (include/strata/vpmu.h): counts of loops that are known to the last
# instruction, samples, and what it answers where it cannot count.
. tests/programs/lib.sh

compile vpmu
cd "$work" || exit 1

# lines_are DESCRIPTION: standard output of the last run must be standard input
lines_are() {
    cat >"$work/wanted"
    if diff "$work/wanted" "$work/out" >"$work/diff"; then
        ok "$1"
    else
        not_ok "$1 (<: wanted, >: printed)"
        cat "$work/diff"
    fi
}
on() {
    file=$root/tests/machines/$1.machine
    shift
    record --machine "$file" "$@"
}

# Outside
./vpmu >"$work/out"
is 'outside, nothing is available' "$(sed 's/.*: //' "$work/out" | sort | uniq -c |
    awk '{ print $1, $2 }')" '13 -1'
is 'and the program runs' "$(./vpmu caches | grep -c 'no such event')" 13

on direct ./vpmu wrong
lines_are 'what cannot be' <<'END'
counter 32: -2
event 99: -2
level 0: -2
read of none: -2
close of none: -2
sample of none: -2
open: 0
sample without a period: -2
open anew: 0
no sample yet: -3
close: 0
closed: -2
flush: 0
END

# 1000 turns of each loop. An instruction takes a cycle, and all of these hit.
if [ "$processor" = amd64 ]; then
    on direct --branches ./vpmu loops
    # what is not named here is 0
    awk -F ': ' '$2 != 0' "$work/out" >"$work/some" && mv "$work/some" "$work/out"
    lines_are 'loops of known length' <<'END'
simple instructions: 5000
simple cycles: 5000
simple loads: 1000
simple stores: 1000
simple conditional: 1000
simple taken: 1000
modify instructions: 3000
modify cycles: 3000
modify loads: 1000
modify conditional: 1000
modify taken: 1000
locked instructions: 4000
locked cycles: 4000
locked loads: 2000
locked conditional: 1000
locked taken: 1000
calls instructions: 4000
calls cycles: 4000
calls loads: 1000
calls stores: 1000
calls conditional: 1000
calls taken: 1000
calls calls: 1000
calls returns: 1000
jumps instructions: 5000
jumps cycles: 5000
jumps conditional: 1000
jumps taken: 1000
jumps jumps: 1000
jumps indirect: 1000
alternate instructions: 4500
alternate cycles: 4500
alternate conditional: 2000
alternate taken: 1500
alternate mispredicted: 1000
END
    # The same without counting branches: then VEX may unroll loops.
    on direct ./vpmu loops
    is 'without --branches there are none' "$(grep -c 'no such event' "$work/out")" 42
    is 'and instructions are the same' "$(sed -n 's/^\(.*\) instructions: /\1 /p' \
        "$work/out" | tr '\n' ' ')" \
        'simple 5000 modify 3000 locked 4000 calls 4000 jumps 5000 alternate 4500 '
else
    echo 'skip: loops of known length are written for x86-64'
fi

# 256 lines more, 4 pages; each waits for 97 cycles more than a hit, and a walk takes 30.
on direct ./vpmu caches
lines_are 'one cache' <<'END'
misses 1: 256
misses 2: no such event
misses 3: no such event
evictions 1: 256
prefetches 1: 0
tlb misses 1: no such event
tlb hits 1: no such event
walks: 0
loads: 256
fetches: no such event
cycles of waiting: 24832
again 1: 1024
again 2: no such event
again hits 2: no such event
END
on two-level ./vpmu caches
lines_are 'two caches and a TLB' <<'END'
misses 1: 256
misses 2: 256
misses 3: no such event
evictions 1: 256
prefetches 1: 0
tlb misses 1: 4
tlb hits 1: 252
walks: 4
loads: 256
fetches: no such event
cycles of waiting: 24952
again 1: 1024
again 2: 0
again hits 2: 1024
END
on direct --fetches ./vpmu caches
is 'with --fetches they are counted' "$(grep -c 'fetches: [1-9]' "$work/out")" 1

# Samples. Of a period of 1, every line of two laps, in order; a line displaces the one 4K
# before it, but the first 64 find the cache empty. Stack and requests miss too.
on direct ./vpmu samples
awk -F '[ ,:]+' '
    $1 == "period" && $2 == 1 {
        good += $3 - 2048 <= 10 && $5 == 2048 && $7 <= 10 && $11 == 0 && $13 == 0 &&
                $15 == 64 && $0 ~ / 0 not in order/ }
    $1 == "period" && $2 == 100 {
        good += $3 - 10240 <= 10 && $5 >= 85 && $5 <= 120 && $7 <= 3 && $11 == 0 &&
                $13 == 0 && $15 <= 1 }
    $1 == "loads" { good += near($2, 1000, $4) }
    $1 == "instructions" { good += near($2, 2000, $4) }
    $1 == "cycles" { good += near($2, 50000, $4) }
    function near(events, period, n) { return n > 0.85 * events / period &&
                                              n < 1.15 * events / period }
    END { exit good != 5 }' "$work/out"
check 'samples' [ $? -eq 0 ]
cat "$work/out"
is 'samples are in the profile too' "$(query 'SELECT samples > 2048 FROM process')" 1

# Finding an object does not take longer when there are many.
gcc -O2 -I"$root/include" -I"$root/src" "$root/tests/programs/many_blocks.c" \
    "$root/src/attrib/blocks.c" -o many_blocks || not_ok 'compiling many_blocks.c'
on direct ./many_blocks
cat "$work/out"
check '1.3 million blocks: no more instructions than a thousand' awk '
    { good += $2 > 0 && $3 < 1.2 * $2 } END { exit good != 2 }' "$work/out"
finish
