# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata record: what objects are called, how many there are, and how large. The programs
# read each object in a function touch(), one byte of each 64, while the caches are empty,
# so that a block of n bytes has n / 64 events, rounded up, wherever it begins.
. tests/programs/lib.sh

machine=$root/tests/machines/direct.machine
touched="SELECT object, kind, SUM(events) FROM cells WHERE function = 'touch' AND
         kind <> 'stack' GROUP BY 1, 2"
sizes="SELECT o.name, a.objects, a.bytes, a.live, a.smallest, a.largest
       FROM allocation a JOIN object o ON o.id = a.object WHERE o.name IN
       (SELECT object FROM cells WHERE function = 'touch' AND kind <> 'stack')
       AND a.objects > 0"

compile names -ldl
for buffer in buffer other_buffer; do
    gcc -O1 -g -shared -fPIC -DBUFFER=$buffer "$root/tests/programs/library.c" \
        -o "$work/$buffer.so" || not_ok 'compiling library.c'
done
record --paused --machine "$machine" ./names ./buffer.so ./other_buffer.so
is 'C: the program ran' "$status $(cat "$work/out")" '0 done'
rows_are 'C: the name of each object' "$touched" <<'END'
counters|global|63
hidden|global|94
head of hidden|named|10
constant|global|32
with_static::table|global|79
make-first_caller-callers|heap|16
make-second_caller-callers|heap|64
one_user-callers-main|heap|13
other_user-callers-main|heap|11
by_calloc-functions-main|heap|19
by_posix_memalign-functions-main|heap|24
by_aligned_alloc-functions-main|heap|25
by_memalign-functions-main|heap|27
by_reallocarray-functions-main|heap|29
by_realloc-functions-main|heap|4800
by_mmap-functions-main|heap|512
by_mremap-functions-main|heap|768
<UNKNOWN>|unknown|256
node pool|named|64
names-main|heap|191
one line|named|1
buffer|global|110
other_buffer|global|110
library_block-library-main|heap|250
END
# realloc and mremap make a new block of the old one: each counts.
rows_are 'C: objects, bytes, still there, smallest, largest' "$sizes" <<'END'
counters|1|4000|1|4000|4000
hidden|1|3000|1|3000|3000
head of hidden|1|640|0|640|640
constant|1|2000|1|2000|2000
with_static::table|1|5000|1|5000|5000
make-first_caller-callers|1|1000|0|1000|1000
make-second_caller-callers|2|4000|0|2000|2000
one_user-callers-main|2|800|0|300|500
other_user-callers-main|1|700|0|700|700
by_calloc-functions-main|1|1200|1|1200|1200
by_posix_memalign-functions-main|1|1500|1|1500|1500
by_aligned_alloc-functions-main|1|1600|1|1600|1600
by_memalign-functions-main|1|1700|1|1700|1700
by_reallocarray-functions-main|1|1800|1|1800|1800
by_realloc-functions-main|3|317300|1|100|307200
by_mmap-functions-main|1|32768|1|32768|32768
by_mremap-functions-main|2|53248|1|4096|49152
node pool|1|4096|0|4096|4096
names-main|3|12288|0|4096|4096
one line|1|64|0|64|64
buffer|1|7000|0|7000|7000
other_buffer|1|7000|1|7000|7000
library_block-library-main|2|16000|2|8000|8000
END
is 'the library is the module of its variable' \
    "$(query "SELECT m.path LIKE '%/buffer.so' FROM object o
              JOIN module m ON m.id = o.module WHERE o.name = 'buffer'")" 1
line=$(grep -n 'void \*block = malloc(8000)' "$root/tests/programs/library.c")
is 'where the first was allocated' \
    "$(query "SELECT place FROM object WHERE name LIKE 'library_block%'")" \
    "library.c:${line%%:*}"
compile own_malloc -fno-builtin
record --paused --machine "$machine" ./own_malloc
rows_are 'an allocator of the program' "$touched" <<'END'
make_first-main|heap|100
make_second-main|heap|200
END
record --paused --machine "$machine" ./names
is 'the records of the allocator are its own' \
    "$(query "SELECT SUM(events) > 100 FROM cells WHERE object = '<ALLOCATOR>'")" 1
is 'and nobody else reads them' \
    "$(query "SELECT COUNT(*) FROM cells WHERE object = '<ALLOCATOR>' AND
              function IN ('touch', 'visit', 'main')")" 0
# the array of 96 lines, and a line or two for the frame of touch() each time it was called
is 'the stack' "$(query "SELECT SUM(events) BETWEEN 96 AND 150 FROM cells
    WHERE object = '<STACK>' AND function = 'touch'")" 1

record --paused --stack-frames --machine "$machine" ./names
rows_are 'the stack by function' "SELECT DISTINCT object FROM cells WHERE function = 'touch'
    AND kind = 'stack'" <<'END'
<STACK> deep
<STACK> touch
END
is 'the frame of deep' "$(query "SELECT SUM(events) FROM cells WHERE function = 'touch' AND
    object = '<STACK> deep'")" 96

# What is there without debug information, and without symbols at all
compile names -ldl -g0
record --paused --machine "$machine" ./names
rows_are 'without debug information' "SELECT object, SUM(events) FROM cells
    WHERE function = 'touch' AND (object LIKE 'hid%' OR object LIKE 'make-%') GROUP BY 1" \
    <<'END'
hidden|94
make-first_caller-callers|16
make-second_caller-callers|64
END
strip "$work/names"
record --paused --machine "$machine" ./names
is 'without symbols it runs and has objects' "$status $(query "SELECT COUNT(*) > 3 FROM
    objects")" '0 1'

if command -v g++ >/dev/null 2>&1; then
    g++ -O1 -g -I"$root/include" "$root/tests/programs/names.cc" -o "$work/names++" ||
        not_ok 'compiling names.cc'
    record --paused --machine "$machine" ./names++
    is 'C++: the program ran' "$status $(cat "$work/out")" '0 done'
    rows_are 'C++: the name of each object' "$touched" <<'END'
geometry::grid|global|64
geometry::table<int, 900>::grow-main|heap|57
geometry::table<int, 900>::values|global|57
geometry::mesh::mesh-main|heap|113
geometry::mesh::shade::palette|global|44
single-main|heap|76
until_it_works-main|heap|141
after_exception-main|heap|193
END
    rows_are 'C++: objects, bytes, still there, smallest, largest' "$sizes" <<'END'
geometry::grid|1|4096|1|4096|4096
geometry::table<int, 900>::grow-main|1|3600|0|3600|3600
geometry::table<int, 900>::values|1|3600|1|3600|3600
geometry::mesh::mesh-main|1|7200|0|7200|7200
geometry::mesh::shade::palette|1|2800|1|2800|2800
single-main|2|4824|0|24|4800
until_it_works-main|1|9000|0|9000|9000
after_exception-main|1|12345|0|12345|12345
END
    is 'C++: the nodes of a map' "$(query "SELECT objects, live, smallest, largest FROM
        allocation JOIN object ON id = object WHERE name = 'main'")" '100|0|48|48'
else
    echo 'skip: g++ is not installed'
fi

if command -v gfortran >/dev/null 2>&1; then
    gfortran -O1 -g "$root/tests/programs/names.f90" -o "$work/fortran" ||
        not_ok 'compiling names.f90'
    "$work/fortran" >"$work/native"
    record --machine "$machine" ./fortran
    is 'Fortran: the output is its own' "$(cat "$work/out")" "$(cat "$work/native")"
    rows_are 'Fortran: names and sizes' "SELECT o.name, a.bytes FROM allocation a
        JOIN object o ON o.id = a.object WHERE o.id IN (SELECT c.object FROM cell c
        JOIN site s ON s.id = c.site JOIN function f ON f.id = s.function
        WHERE f.name = 'sweep_' AND c.events > 100)" <<'END'
/physics/heat|65536
//loose|16384
fields::pressure|32768
MAIN__-main|131072
END
else
    echo 'skip: gfortran is not installed'
fi
finish
