# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata symbols, which collectors call: many files, files that are no programs, and the
# cache.
. tests/cli/lib.sh

check 'a program' "${CC:-cc}" -g -O1 tests/programs/variables.c -o "$work/prog"
same() { cmp "$work/$1" "$work/$2"; }
has() { grep -q -e "$1" "$work/out"; }

run symbols "$work/prog"
check 'exit status 0' [ "$status" -eq 0 ]
check 'the file is named' [ "$(head -n 1 "$work/out")" = "= $work/prog" ]
check 'its variables' has '^[0-9a-f]* 190 numbers$'
check 'those of functions' has '^[0-9a-f]* 24 first::cache$'
cp "$work/out" "$work/plain"

run symbols "$work/none" "$work/prog" "$work/plain"
check 'files that are no programs: exit status 0' [ "$status" -eq 0 ]
check 'and no word about them' [ ! -s "$work/err" ]
{ echo "= $work/none" && cat "$work/plain" && echo "= $work/plain"; } >"$work/wanted"
check 'in the order of the arguments' same wanted out
run symbols
check 'no files: nothing' [ "$status$(cat "$work/out")" = 0 ]

mkdir "$work/cache"
for time in first second; do
    run symbols --cache "$work/cache" "$work/prog" "$work/none"
    { cat "$work/plain" && echo "= $work/none"; } >"$work/wanted"
    check "the same with a cache, the $time time" same wanted out
done
cached=$(find "$work/cache" -type f)
check 'one file is kept' [ "$(echo "$cached" | wc -l)" -eq 1 ]
echo '1 1 from_the_cache' >"$cached"
run symbols --cache "$work/cache" "$work/prog"
check 'and used' has from_the_cache
"${CC:-cc}" -g -O1 -Dtable=figures tests/programs/variables.c -o "$work/prog"
touch -d 2001-01-01 "$work/prog"
run symbols --cache "$work/cache" "$work/prog"
check 'but not for another program of that name' has '40 figures$'
run symbols --cache /no/such/folder "$work/prog"
check 'no cache is no failure' has '40 figures$'

run help
check 'it is not in the help' sh -c '! grep -q symbols "$1"' sh "$work/out"
"$strata" symbols "$work/prog" >/dev/full 2>"$work/err"
status=$?
check 'a full disk is exit status 1' [ "$status" -eq 1 ]
finish
