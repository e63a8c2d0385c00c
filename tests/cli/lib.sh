# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# For the scripts beside this file, which begin with `. tests/cli/lib.sh` and end with
# `finish`. They run from the root of the project by scripts/run-tests and print a line
# `ok - …` or `not ok - …` for each check.
#
# strata runs in an empty folder $work. Terminals, colours and locales of the caller are
# kept out.

root=$(pwd)
case ${BUILD:-build} in
/*) strata=$BUILD/strata ;;
*) strata=$root/${BUILD:-build}/strata ;;
esac
name=$(basename "$0" .sh)
golden=$root/tests/golden/$name.txt
work=$(mktemp -d) || exit 1
# What strata keeps of a user is not looked at, nor changed, by tests.
XDG_STATE_HOME=$work/state
export XDG_STATE_HOME
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export LC_ALL=C TERM=dumb
unset NO_COLOR COLUMNS
failures=0
[ "${STRATA_GOLDEN:-}" != write ] || rm -f "$golden"

ok() { echo "ok - $*"; }

not_ok() {
    echo "not ok - $*"
    failures=$((failures + 1))
}

# plain_only REASON: ends the script where strata has sanitizers: what it runs has none, and
# the plain build has been through it
plain_only() {
    case $strata in
    */asan/*)
        echo "skip: $1"
        exit 77
        ;;
    esac
}

# check DESCRIPTION COMMAND...: the command must succeed
check() {
    description=$1
    shift
    if "$@"; then ok "$description"; else not_ok "$description"; fi
}

# run ARGUMENT...: runs strata; leaves $status, $work/out and $work/err
run() {
    (cd "$work" && exec "$strata" "$@") >"$work/out" 2>"$work/err" </dev/null
    status=$?
}

# fails STATUS TEXT ARGUMENT...: strata must exit with STATUS, say TEXT (a basic regular
# expression) in a line `strata: …` of standard error, and print nothing else
fails() {
    wanted=$1 text=$2
    shift 2
    run "$@"
    if [ $status -eq "$wanted" ] && [ ! -s "$work/out" ] &&
        [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q "^strata: .*$text" "$work/err"; then
        ok "strata $*"
    else
        not_ok "strata $* (exit status $status, wanted $wanted and: $text)"
        cat "$work/out" "$work/err"
    fi
}

# transcript ARGUMENT...: the command, what it printed, and how it ended
transcript() {
    run "$@"
    echo "\$ strata $*"
    cat "$work/out"
    sed 's/^/2> /' "$work/err"
    echo "[exit status $status]"
}

# matches ARGUMENT...: the transcript must be as in tests/golden; `make golden` writes
# it there
matches() {
    transcript "$@" >"$work/transcript"
    if [ "${STRATA_GOLDEN:-}" = write ]; then
        { cat "$work/transcript" && echo; } >>"$golden"
        ok "strata $* (written)"
        return
    fi
    # from the command to the line before the next one
    awk -v wanted="\$ strata $*" '
        /^\$ strata/ { on = $0 == wanted }
        on { print }
        on && /^\[exit status/ { on = 0 }' "$golden" >"$work/wanted"
    if diff -u "$work/wanted" "$work/transcript" >"$work/diff"; then
        ok "strata $*"
    else
        not_ok "strata $*"
        cat "$work/diff"
    fi
}

# holds FILE FILTER...: the filter of jq is true for the JSON in the file
holds() {
    json=$1
    shift
    jq -e "$@" "$json" >/dev/null
}

# has_terminal: whether `script` can give a program a terminal; containers may have none
has_terminal() { script -qec true /dev/null >/dev/null 2>&1 </dev/null; }

# narrow FILE [COLUMNS]: no line is wider than a terminal
narrow() { awk -v most="${2:-80}" 'length > most { print; bad = 1 } END { exit bad }' "$1"; }

finish() {
    [ $failures -eq 0 ]
    exit
}
