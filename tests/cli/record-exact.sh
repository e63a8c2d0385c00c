# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata record, exact: tests/programs/known.c on two small machines, every miss by
# object, function and line against numbers that were worked out by hand. No other object
# may have an event while the loops run, except the stack.
#
# A line is 64 bytes, a page 4K, an array begins with a page. Misses of a loop that visits
# each line once are its lines: 64K are 1024. Where lines are visited again:
#
# direct.machine (64 sets of one way)
#   nearly    80 lines: 16 sets have two, which throw each other out in each of 10 laps,
#             48 have one: 32 * 10 + 48 = 368
#   large     128 lines, two in each set: 1280
#   columns   a column is 64 rows of 512 bytes, in 8 sets: all of 64 * 64 miss
#   left, right  the same set at each step: all of 512 miss
# two-level.machine (32 sets of two ways; 256 of four; 16 pages)
#   nearly    16 sets have three lines, which LRU misses in each lap, 16 have two:
#             48 * 10 + 32 = 512; the second level holds 80
#   columns   4 sets: all miss; the second level holds the 512 lines
#   left, right  two ways hold both
#   paged     a line in each of 64 pages fits, 64 pages do not: 640 translations
#   make_list  7 rounds of 32 pages
#   make_longs  256K that begin 16 bytes into a page: a line and a page more
#   straddled  twice from the start: 100 accesses 64 bytes apart bring in one more line
#             each, 50 that are 128 apart two; an access is one event. Each has two pages.
# Latency: 100 cycles from memory, 10 from the second level, 3 from the first, and 30 more
# for a page walk.
. tests/programs/lib.sh

source=$root/tests/programs/known.c
compile known
"$work/known" >"$work/native"

# with_lines: puts the line number in the place of a line's name (the third column)
with_lines() {
    awk -F '|' -v OFS='|' '
        NR == FNR { if (match($0, "/\\* line: [a-z]+ ")) {
                        name = substr($0, RSTART + 9, RLENGTH - 10)
                        line[name] = line[name] ? line[name] : FNR }
                    next }
        { $3 = line[$3] } 1' "$source" -
}

record --paused --machine "$root/tests/machines/direct.machine" ./known
is 'the output is its own' "$(cat "$work/out")" "$(cat "$work/native")"
with_lines >"$work/table" <<'END'
bytes|sequential|sequential|1024|0|102400|1024
strided|stride|stride|256|0|25600|256
fits|again|again|64|0|6400|64
nearly|again|again|368|0|36800|368
large|again|again|1280|0|128000|1280
rows|by_rows|rows|512|0|51200|512
columns|by_columns|columns|4096|0|409600|4096
left|conflict|left|512|0|51200|512
right|conflict|right|512|0|51200|512
make_list-main|walk|walk|1000|0|100000|1000
filled|fill|fill|1024|1024|102400|1024
added|add|add|1024|0|102400|1024
wide|keys_of_wide|wide|500|0|50000|500
narrow|keys_of_narrow|narrow|384|0|38400|384
straddled|straddle|straddle|150|0|15000|150
paged|pages|pages|64|0|6400|64
local|pages|pages|12|0|1200|12
make_longs-main|heap_longs|heap|4097|0|409700|4097
END
rows_are 'one direct-mapped cache' "SELECT object, function, line, events, stores, latency,
    l1_misses FROM cells WHERE object <> '<STACK>'" <"$work/table"

record --paused --machine "$root/tests/machines/two-level.machine" ./known
with_lines >"$work/table" <<'END'
bytes|sequential|sequential|1024|0|102880|1024|1024|16
strided|stride|stride|256|0|26080|256|256|16
fits|again|again|64|0|6430|64|64|1
nearly|again|again|512|0|12380|512|80|2
large|again|again|1280|0|24380|1280|128|2
rows|by_rows|rows|512|0|51440|512|512|8
columns|by_columns|columns|4096|0|87280|4096|512|8
left|conflict|left|64|0|6430|64|64|1
right|conflict|right|64|0|6430|64|64|1
make_list-main|walk|walk|1000|0|106720|1000|1000|224
filled|fill|fill|1024|1024|102880|1024|1024|16
added|add|add|1024|0|102880|1024|1024|16
wide|keys_of_wide|wide|500|0|50720|500|500|24
narrow|keys_of_narrow|narrow|384|0|38580|384|384|6
straddled|straddle|straddle|150|0|15120|150|150|4
paged|pages|pages|640|0|27328|64|64|640
local|pages|pages|12|0|1560|12|12|12
make_longs-main|heap_longs|heap|4097|0|411650|4097|4097|65
END
rows_are 'two levels and a TLB' "SELECT object, function, line, events, stores, latency,
    l1_misses, l2_misses, tlb1_misses FROM cells WHERE object <> '<STACK>'" <"$work/table"
rows_are 'sizes' "SELECT o.name, a.objects, a.bytes, a.smallest, a.largest
    FROM allocation a JOIN object o ON o.id = a.object
    WHERE o.kind = 'global' AND o.name IN ('bytes', 'rows', 'wide') OR
          o.name LIKE 'make%'" <<'END'
bytes|1|65536|65536|65536
rows|1|32768|32768|32768
wide|1|96000|96000|96000
make_list-main|1|128000|128000|128000
make_longs-main|1|262144|262144|262144
END

# The doubles of rows and columns do not ask the first level, and the second holds them.
record --paused --machine "$root/tests/machines/integers.machine" ./known
rows_are 'a cache for integers only' "SELECT object, events, latency, l1_misses, l2_misses
    FROM cells WHERE object IN ('rows', 'columns', 'left', 'large')" <<'END'
rows|512|51200|0|512
columns|512|51200|0|512
left|64|6400|64|64
large|1280|24320|1280|128
END

# Lines of another size. And a prefetcher that learns from hits: of the 64 lines of a page the
# first two are missed, and then every other one, because the prefetcher brings in the next.
sed 's/^line .*/line = 128/' "$root/tests/machines/direct.machine" >"$work/wide.machine"
record --paused --machine "$work/wide.machine" ./known
rows_are 'lines of 128 bytes' "SELECT object, events, stores, latency FROM cells
    WHERE object IN ('bytes', 'filled')" <<'END'
bytes|512|0|51200
filled|512|512|51200
END
{
    cat "$root/tests/machines/direct.machine"
    printf '[prefetch L1d]\nkind = stream\ndegree = 1\n'
} >"$work/stream.machine"
record --paused --machine "$work/stream.machine" ./known
rows_are 'a prefetcher that learns from hits' "SELECT object, events, stores, latency
    FROM cells WHERE object IN ('bytes', 'filled')" <<'END'
bytes|528|0|52800
filled|528|528|52800
END

# What the machine counted is all in some cell: nothing is lost, nothing counted twice.
# A level's caches are summed.
adds_up() {
    is "$1: cells add up to what the machine counted" "$(query "SELECT $2 FROM cell")" \
        "$(query "SELECT group_concat(misses, '|') FROM (SELECT SUM(misses) AS misses
                  FROM level GROUP BY kind, level ORDER BY kind, level)")"
}
record --machine "$root/tests/machines/two-level.machine" ls -l "$root/tests"
adds_up 'two levels' 'SUM(l1_misses), SUM(l2_misses), SUM(tlb1_misses)'
record --machine "$root/tests/machines/integers.machine" --fetches ls -l "$root/tests"
adds_up 'a cache for integers only' 'SUM(l1_misses), SUM(l2_misses)'
record --machine generic --fetches ls -l "$root/tests"
adds_up 'with fetches' 'SUM(l1_misses), SUM(l2_misses), SUM(l3_misses), SUM(tlb1_misses),
    SUM(tlb2_misses)'
is 'instruction fetches are an object of their own' \
    "$(query "SELECT SUM(events) > 100 FROM cells WHERE kind = 'code'")" 1

# The same run twice is the same profile; sampling in the same run changes the machine, but
# each of its samples is in a cell.
cells="SELECT object, function, line, sum(events), sum(latency) FROM cells GROUP BY 1, 2, 3"
record --machine "$root/tests/machines/two-level.machine" ./known
query "$cells" | sort >"$work/first"
record --machine "$root/tests/machines/two-level.machine" ./known
query "$cells" | sort >"$work/second"
check 'a second run gives the same' cmp "$work/first" "$work/second"
record --exact --period 50 --machine "$root/tests/machines/two-level.machine" ./known
is 'every sample is in a cell' "$(query 'SELECT SUM(events) FROM cell WHERE sampled')" \
    "$(query 'SELECT samples FROM process')"
finish
