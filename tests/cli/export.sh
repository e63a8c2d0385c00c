# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata export: callgrind's own tool must read the file and find the same totals as the
# profile has, by object and by function.
. tests/cli/lib.sh

maker=$(dirname "$strata")/tests/test_profile
if [ ! -x "$maker" ]; then
    echo "skip: tests/test_profile, which writes the sample, is not built"
    exit 77
fi
for kind in exact sampled; do
    "$maker" --write $kind "$work/$kind.strata" || exit 1
done

fails 2 'needs a profile' export
fails 2 'no.strata: cannot open' export no.strata
fails 2 '--format pprof: there is callgrind only' export exact.strata --format pprof
fails 2 'cannot write' export exact.strata -o nowhere/x
: >"$work/empty.strata"
fails 2 'is empty' export empty.strata -o x
check 'nothing is left after an error' [ ! -e "$work/x" ]

run export exact.strata
check 'to standard output' [ $status -eq 0 ]
cp "$work/out" "$work/one"
run export exact.strata --format callgrind -o callgrind.out
check 'to a file' [ $status -eq 0 ]
check 'both are the same' cmp -s "$work/one" "$work/callgrind.out"
check 'callgrind format' grep -qx 'events: Latency Events Stores L1m L2m T1m T2m' "$work/one"
run export sampled.strata
check 'samples: what was not counted is no event' \
    grep -qx 'events: Latency Events Stores L1m L2m' "$work/out"
cp "$work/out" "$work/sampled.out"

if ! command -v callgrind_annotate >/dev/null 2>&1; then
    echo "skip: callgrind_annotate is not installed"
    finish
fi

# annotated FILE OPTION...: what callgrind_annotate makes of it, digits without commas
annotated() {
    file=$1
    shift
    (cd "$work" && callgrind_annotate --threshold=100 --show-percs=no --auto=no "$@" "$file") \
        2>"$work/err" | tr -d ,
}
annotated callgrind.out >"$work/own"
check 'it is read without a complaint' [ ! -s "$work/err" ]
# shellcheck disable=SC2046
set -- $(grep 'PROGRAM TOTALS' "$work/own")
run view exact.strata totals --json
wanted=$(jq -r '.totals | [.latency, .events, .stores, .misses_by_level[],
    .tlb_misses_by_level[]] | join(" ")' "$work/out")
check 'the totals are the same' [ "$1 $2 $3 $4 $5 $6 $7" = "$wanted" ]

# names VIEW KEY: latency and name of each row, where it has a name
names() {
    run view exact.strata "$1" --json
    jq -r --arg k "$2" '.rows[] | select(.[$k]) | "\(.latency) \(.[$k] | gsub(","; ""))"' \
        "$work/out" | sort
}
if has_terminal; then
    script -qec "$strata export $work/exact.strata" /dev/null >"$work/tty" 2>&1 </dev/null
    check 'a terminal is refused' [ $? -eq 2 ]
    check 'and told what to do' grep -q 'give -o FILE, or redirect it' "$work/tty"
else
    echo 'skip: there is no terminal'
fi
names objects object >"$work/wanted"
sed -n 's/^ *\([0-9]*\) .*(data):\(.*\) \[(data)\]$/\1 \2/p' "$work/own" | sort >"$work/found"
check 'own costs are those of the objects' cmp "$work/wanted" "$work/found"
names functions function >"$work/wanted"
annotated callgrind.out --inclusive=yes |
    sed -n '/(data)/d; /(no symbol)/d; s/^ *\([0-9]*\) .*:\(.*\) \[.*\]$/\1 \2/p' |
    sort >"$work/found"
check 'inclusive costs are those of the functions' cmp "$work/wanted" "$work/found"
annotated sampled.out >"$work/own"
check 'samples are read too' grep -q '^50000000 .*PROGRAM TOTALS' "$work/own"
finish
