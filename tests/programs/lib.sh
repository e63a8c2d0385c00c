# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# For the tests in tests/cli that record programs of this folder; they begin with
# `. tests/programs/lib.sh`, and have tests/cli/lib.sh by that. Profiles are read with the
# program sqlite3.
. tests/cli/lib.sh

STRATA_MACHINES=$root/machines
TMPDIR=$work
export STRATA_MACHINES TMPDIR
unset STRATA_VALGRIND
processor=$(uname -m | sed 's/x86_64/amd64/;s/aarch64/arm64/')

skip_all() {
    echo "skip: $1"
    exit 77
}

command -v valgrind >/dev/null 2>&1 || skip_all 'valgrind is not installed'
command -v sqlite3 >/dev/null 2>&1 || skip_all 'the program sqlite3 is not installed'
[ -x "$(dirname "$strata")/valgrind/strata-$processor-linux" ] ||
    skip_all 'the collector is not built'

# compile NAME FLAG...: makes $work/NAME of the C source of that name in this folder
compile() {
    program=$1
    shift
    gcc -O1 -g -I"$root/include" "$root/tests/programs/$program.c" -o "$work/$program" \
        "$@" || not_ok "compiling $program.c"
}

# record ARGUMENT...: records into $work/p.strata; leaves $status, $work/out, $work/err
record() {
    rm -f "$work/p.strata"
    run record --source sim -o p.strata "$@"
}

# query SQL: its rows, columns separated by |
query() { sqlite3 -batch "$work/p.strata" "$1"; }

# is DESCRIPTION GOT WANTED
is() {
    if [ "$2" = "$3" ]; then
        ok "$1"
    else
        not_ok "$1: $2, wanted $3"
    fi
}

# rows_are DESCRIPTION SQL: the rows must be those of standard input, in any order
rows_are() {
    sort >"$work/wanted"
    query "$2" | sort >"$work/got"
    if diff "$work/wanted" "$work/got" >"$work/diff"; then
        ok "$1"
    else
        not_ok "$1 (<: wanted, >: counted)"
        cat "$work/diff" "$work/err"
    fi
}
