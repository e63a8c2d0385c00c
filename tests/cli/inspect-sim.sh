# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata inspect in words, as a composite, as a check of the tables; and the same answers from
# kernels that other compilers made.
. tests/programs/inspect.sh
plain_only 'the kernels run on the plain build'

simulation_or_finish
run inspect --source sim --machine "$machine" --kernels branch conditional_executed
check 'in words' said \
    '^conditional_executed counts conditional branches executed, also' out
check 'why' said 'executed speculatively and thrown away' out
check 'narrow' narrow "$work/out"
run inspect --source sim --machine "$machine" --kernels branch --csv --plot branch.svg
# a bar for each of five categories and thirteen kernels
check 'slopes are drawn' test "$(grep -c 'fill-rule\|<rect' "$work/branch.svg")" -gt 65
run inspect --source sim --machine "$machine" l2_load_misses
check 'an event of a cache in words' said \
    '^l2_load_misses counts loads that miss L2, without prefetches (L2.miss.load)' out
run inspect --source sim --machine "$machine"
check 'that it is simulated' said '^small for inspect, simulated: [0-9]* events' out
check 'events for tests are not listed' eval '! said "^  test_" out >/dev/null'
check 'all by category' said '^CR: conditional branches retired$' out
check 'three codes' said 'a random condition, then more work  *2.0[01] *2.00 *0.[45]' out
check 'one in K' said '^ *2 *2\.\(4[6-9]\|5[0-4]\)[0-9] *2.500$' out
check 'narrow' narrow "$work/out"
run inspect --source sim --machine "$machine" --kernels branch \
    -e conditional,conditional_taken,calls --compose NT
check 'a composite' said '^  conditional - conditional_taken  *goodness' out
run inspect --source sim --machine "$machine" --verify
check 'the tables count what they claim' test "$status" -eq 0
check 'in one table' said '^l1d_misses  *L1.miss  *L1.miss  *as it claims$' out

# Other compilers
variants='gcc-O0 clang-O3'
[ "${STRATA_FULL:-}" != 1 ] || variants='gcc-O0 gcc-O1 gcc-O2 gcc-O3 clang-O0 clang-O1 clang-O2 clang-O3'
for variant in $variants; do
    if ! command -v "${variant%-*}" >/dev/null 2>&1; then
        echo "skip: ${variant%-*} is not installed"
        continue
    fi
    program=$(dirname "$strata")/kernels/$variant
    check "$variant has the branches of the matrix" make -s BUILD="$(dirname "$strata")" "$program"
    STRATA_KERNELS=$program
    export STRATA_KERNELS
    run inspect --source sim --machine "$machine" -e "$events" --csv
    check "$variant: the same answers" as_known
    unset STRATA_KERNELS
done
finish
