# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata probe --method counters: what it prints of a simulated machine, what told each
# answer, the plot, both methods side by side, and what it says where nothing can be counted.
. tests/cli/lib.sh

is() { [ "$(jq "$1" "$2" 2>&1)" = true ]; }
machine=$PWD/machines/intel-itanium-2-900-16k.machine

run probe --machine "$machine" --method counters --json --plot p.svg --data d.json
check 'counters: exit status 0' [ $status -eq 0 ]
check 'counters: quiet on standard error' [ ! -s "$work/err" ]
cp "$work/out" "$work/found.json"
check 'counters: method, source, accesses' is '.method == "counters" and .source == "sim"
    and .accesses > 1000' "$work/found.json"
check 'counters: the caches, exactly' is '[.caches[] | [.level, .size, .line, .ways]]
    == [[1, 16384, 64, 4], [2, 262144, 128, 8], [3, 1572864, 128, 12]]' "$work/found.json"
check 'counters: the TLBs, exactly' is '[.tlbs[] | [.level, .page, .entries, .ways]]
    == [[1, 4096, 32, 32], [2, 16384, 128, 128]]' "$work/found.json"
check 'counters: each answer says what told it' is '.caches[1].by.size
    == "l2_misses, standard"' "$work/found.json"
check 'counters: a plot' grep -q '<svg' "$work/p.svg"
check 'counters: the series of both kernels' is '[.series[].name]
    | contains(["size-l1", "size-time", "block-l3", "block-tlb2"])' "$work/d.json"

run probe --machine "$machine" --method counters --type double
check 'doubles: exit status 0' [ $status -eq 0 ]
check 'doubles: the first cache is bypassed' [ "$(grep -c '^  L1 data' "$work/out")" = 0 ]
check 'doubles: the second is not' grep -q '^  L2 *256K' "$work/out"

run probe --machine "$machine" --type double
check 'a type without counts: exit status 2' [ $status -eq 2 ]
run probe --source perf
check 'perf without counts: exit status 2' [ $status -eq 2 ]
check 'perf without counts: says what to do' grep -q 'method counters' "$work/err"

# Here there may be counters, or none: then it says which event is missing.
run probe --method counters --quick --no-progress
answered() { [ "$status" -eq 0 ] || [ "$status" -eq 3 ]; }
check 'this machine: answers, or exit status 3' answered
[ $status -eq 3 ] && check 'this machine: the event and why' \
    grep -q 'l1d_misses: .*method timing needs none' "$work/err"
finish
