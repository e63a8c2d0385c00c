# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# The edge of the library: what it exports and needs, and that a program may call its own
# functions as it likes. It prints both lists; src/libstrata.exports and
# tests/data/libstrata.needed say what they have to be.
. tests/cli/lib.sh
plain_only 'a library with sanitizers is not for others'

build=$(dirname "$strata")
usr=$work/root/usr
make -s BUILD="$build" DESTDIR="$work/root" PREFIX=/usr install >"$work/log" 2>&1 ||
    { cat "$work/log"; echo 'not ok - make install'; exit 1; }
pc() {
    PKG_CONFIG_SYSROOT_DIR=$work/root PKG_CONFIG_LIBDIR=$usr/lib/pkgconfig \
        pkg-config "$@" strata
}

# same FILE DESCRIPTION: standard input is what the file has
same() { if sort | diff "$root/$1" -; then ok "$2"; else not_ok "$2"; fi; }

echo 'exports of libstrata.so:'
nm -D --defined-only "$usr/lib/libstrata.so" | awk '{ print $3 }' | tee "$work/exports" |
    sed 's/^/    /'
echo 'libraries that it needs:'
readelf -d "$usr/lib/libstrata.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    tee "$work/needed" | sed 's/^/    /'
same src/libstrata.exports 'libstrata.so exports the list, and nothing else' <"$work/exports"
nm -g --defined-only "$usr/lib/libstrata.a" | awk 'NF == 3 { print $3 }' |
    same src/libstrata.exports 'libstrata.a does, too'
grep -h '^STRATA_API' "$usr"/include/strata/*.h | sed 's/^STRATA_API [a-z ]*\(strata_[a-z_]*\).*/\1/' |
    same src/libstrata.exports 'the headers declare the list as exported, and nothing else'
same tests/data/libstrata.needed 'libstrata.so needs no more libraries than listed' \
    <"$work/needed"

# pkg-config says no flag of anybody else's.
words() { pc "$@" | xargs; }
check '--cflags' [ "$(words --cflags)" = "-I$usr/include" ]
check '--libs' [ "$(words --libs)" = "-L$usr/lib -lstrata" ]
check '--static --libs' [ "$(words --static --libs)" = "-L$usr/lib -lstrata -linih -lm" ]

# Every name of a function inside strata, as a function that ends the program.
nm -g --defined-only "$build/internal.a" |
    awk '$2 == "T" && $3 !~ /^strata_/ { print $3 }' | sort -u >"$work/names"
{
    echo '#include <stdlib.h>'
    sed 's/.*/void &(void);\nvoid &(void) { abort(); }/' "$work/names"
} >"$work/names.c"
check 'there are many such names' [ "$(wc -l <"$work/names")" -gt 300 ]
check 'clock_ns() is one of them' grep -qx clock_ns "$work/names"
"${CC:-cc}" -w -c "$work/names.c" -o "$work/names.o" || not_ok 'functions of these names'

# built DESCRIPTION PROGRAM COMPILER...: builds it with these functions
built() {
    description=$1 program=$work/$2
    shift 2
    check "it builds: $description" "$@" "$work/names.o" -o "$program"
}
# probes PROGRAM METHOD: finds the caches that the machine file has
probes() {
    printf 'sim %s L1 4096 2\nsim %s L2 65536 4\n' "$2" "$2" >"$work/wanted"
    LD_LIBRARY_PATH=$usr/lib "$work/$1" tests/machines/two-level.machine "$2" >"$work/out" &&
        diff "$work/wanted" "$work/out"
}
source=tests/programs/probing.c
# shellcheck disable=SC2046 # lists of flags
{
    built 'C99, shared' shared "${CC:-cc}" -std=c99 -pedantic -Wall -Wextra -Werror \
        $(pc --cflags) $source $(pc --libs)
    built 'C++, shared' cplus g++ -std=c++11 -pedantic -Wall -Wextra -Werror \
        -Wno-missing-field-initializers $(pc --cflags) -x c++ $source -x none $(pc --libs)
    built 'C99, static' static "${CC:-cc}" -std=c99 $(pc --cflags) $source \
        "$usr/lib/libstrata.a" -linih -lm
}
check 'the static one needs no libstrata.so' \
    sh -c "! readelf -d '$work/static' | grep -q libstrata"
for program in shared cplus static; do
    for method in timing counters; do
        check "$program: $method" probes $program $method
    done
done

# By counts on this machine: the tables are found from the library, or by the variable. What
# else may be missing is a PMU.
counts_here() {
    LD_LIBRARY_PATH=$usr/lib "$@" here counters >"$work/out" 2>"$work/err"
    status=$?
    [ "$status" -eq 0 ] || { [ "$status" -eq 3 ] && grep -q 'no event for misses' "$work/err"; }
}
check 'counters of this machine, shared' counts_here "$work/shared"
check 'counters of this machine, static' counts_here env STRATA_METRICS="$root/metrics" \
    "$work/static"
check 'the static one does not know the folder' sh -c \
    "'$work/static' here counters 2>&1 | grep -q 'set STRATA_METRICS'"
finish
