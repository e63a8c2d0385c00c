# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# For the tests of strata inspect: the machine, and the truth about its events.
. tests/cli/lib.sh

machine=$root/tests/machines/inspect.machine
STRATA_METRICS=$root/metrics
export STRATA_METRICS

said() { grep -q -e "$1" "$work/$2" || { cat "$work/$2"; false; }; }

# is NAME FOUND WANTED
is() {
    if [ "$2" = "$3" ]; then
        ok "$1"
    else
        not_ok "$1: $2 and not $3"
    fi
}

# The events whose category is known; some of them are for tests, and not listed otherwise.
# shellcheck disable=SC2034 # for the tests
events=$(sed 1d "$root/tests/data/inspect-truth.csv" | cut -d, -f1 | paste -sd, -)

# as_known [SED]: what was found is the truth, as SED changes it for another machine; an event
# may not be in another category
as_known() {
    cut -d, -f1,3 "$work/out" | sort >"$work/found"
    sed "${1:-}" "$root/tests/data/inspect-truth.csv" | sort |
        join -t, -a 1 - "$work/found" >"$work/joined"
    awk -F, '{ n++ } $2 != $3 { print $1 ": " $3 " and not " $2; bad = 1 }
        END { exit bad || n < 60 }' "$work/joined"
}

# simulation_or_finish: ends the test where nothing can be simulated. A program with a
# sanitizer does not run under Valgrind; its kernels are none the worse for being those of the
# plain build.
simulation_or_finish() {
    case $strata in
    */asan/*)
        STRATA_KERNELS=${strata%/asan/*}/strata
        export STRATA_KERNELS
        if [ ! -x "$STRATA_KERNELS" ]; then
            echo 'skip: there is no plain build for the kernels'
            finish
        fi
        ;;
    esac
    run inspect --source sim --machine "$machine" -e instructions --kernels branch --csv
    if [ $status -eq 3 ]; then
        echo "skip: $(cat "$work/err")"
        finish
    fi
}
