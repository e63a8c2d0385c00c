# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata events: listing and searching, for this processor and others; and which processor
# it takes this one for, under processors that qemu pretends to be.
. tests/cli/lib.sh

STRATA_METRICS=$root/metrics
export STRATA_METRICS
said() { grep -q -e "$1" "$work/out" || { cat "$work/out" "$work/err"; false; }; }

run events
check 'a list' [ "$status" -eq 0 ]
check 'names of this processor' said '^  l1d_misses '
check 'of the kernel' said '^  page-faults  *page faults$'
check 'of the simulated machine' said 'of the simulated machine'
check 'narrow' narrow "$work/out"
run events --json
check 'JSON' holds "$work/out" '.schema == "strata.events/1" and (.processor | length) > 0 and
    (.events | length) > 40 and all(.events[]; .name and .pmu and .about) and
    any(.events[]; .name == "l1d_misses" and .pmu != "sim")'
run events walk --pmu skylake
check 'a search in a table' said '^  dtlb_store_walks'
check 'with codes' said 'event=0x49,umask=0x0e'
check 'and nothing else' [ "$(grep -c l1d_misses "$work/out")" -eq 0 ]
run events --pmu kaby-lake --csv l1d_misses
check 'a table that is like another, as CSV' said \
    '^"kaby-lake","l1d_misses","MEM_LOAD_RETIRED:L1_MISS or event=0xd1,umask=0x08",'
run events --pmu skl --json 'MEM_LOAD_RETIRED:L*_MISS'
check 'a PMU of libpfm4 that is not here' holds "$work/out" '.events |
    map({(.name): .code}) | add | .["MEM_LOAD_RETIRED:L1_MISS"] == "type 4, config 0x8d1" and
    .["MEM_LOAD_RETIRED:L3_MISS"] == "type 4, config 0x20d1" and length == 3'
run events --pmus
check 'PMUs' said '^  skl  *84  Intel Skylake'
run events --pmus --json
check 'PMUs as JSON' holds "$work/out" '(.pmus | length) > 300'
run events --pmu sim
check 'the simulated machine' said '^  dtlb_walks '
fails 2 'no-such-thing: no event has that' events no-such-thing
fails 2 'pmu nosuch: no such PMU' events --pmu nosuch

# Processors that qemu pretends to be
if ! command -v qemu-x86_64-static >/dev/null 2>&1; then
    echo 'skip: qemu-x86_64-static is not installed'
    finish
elif [ "$(uname -m)" != x86_64 ]; then
    echo 'skip: this strata is for another processor than x86-64'
    finish
elif grep -q __asan_init "$strata"; then
    echo 'skip: under qemu, a strata with sanitizers takes minutes'
    finish
elif ! qemu-x86_64-static "$strata" version >/dev/null 2>&1; then
    echo 'skip: this strata does not run under qemu-user'
    finish
fi
is_taken_for() {
    qemu-x86_64-static -cpu "$1" "$strata" events --json --pmu sim >"$work/out" 2>"$work/err"
    found=$(jq -r .microarchitecture "$work/out")
    if [ "$found" = "$2" ]; then
        ok "$1 is $2"
    else
        not_ok "$1 is taken for $found, not for $2"
        cat "$work/err"
    fi
}
is_taken_for Skylake-Client-v4 skylake
is_taken_for Skylake-Server-v4 skylake-sp
is_taken_for Cascadelake-Server-v4 cascade-lake
is_taken_for Icelake-Server-v6 ice-lake-sp
is_taken_for Haswell-v4 haswell
is_taken_for Broadwell-v4 broadwell
is_taken_for SandyBridge-v2 sandy-bridge
is_taken_for IvyBridge-v2 ivy-bridge
is_taken_for Nehalem-v2 nehalem
is_taken_for Westmere-v2 westmere
is_taken_for EPYC-v3 zen-1
is_taken_for EPYC-Rome-v1 zen-2
is_taken_for EPYC-Milan-v1 zen-3
is_taken_for Dhyana-v1 zen-1
is_taken_for Conroe-v1 unknown
is_taken_for Opteron_G5-v1 unknown
finish
