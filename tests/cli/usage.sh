# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# Wrong usage: what is said, as text and as JSON, and the exit status.
. tests/cli/lib.sh

matches porbe
matches brew
matches --json probe
matches help porbe
matches probe --jsno
matches probe --machin
matches probe -x
matches probe --json=yes
matches probe --machine
matches probe --source tming
matches probe stray
matches doctor --cpu 1
matches completion
matches completion bahs
matches completion bash zsh
matches version now
matches porbe --json
matches probe --json --source tming

# With --json the error is an object on standard output; standard error is for people.
json_error() {
    wanted=$1
    shift
    run "$@"
    if [ $status -eq "$wanted" ] && grep -q '^strata: ' "$work/err" &&
        jq -e --argjson status "$wanted" --arg text "$(sed 's/^strata: //' "$work/err")" \
            '.error.status == $status and .error.message == $text' \
            "$work/out" >"$work/jq" 2>&1; then
        ok "JSON: strata $*"
    else
        not_ok "JSON: strata $* (exit status $status)"
        cat "$work/out" "$work/err" "$work/jq"
    fi
}
json_error 2 porbe --json
json_error 2 doctor --json --nonsense
json_error 2 probe --json --machine no.machine
json_error 2 probe --machine 'a"b' --json

# Not UTF-8: still JSON.
run probe --json --machine "$(printf '\377')"
check 'JSON: a path that is not UTF-8' holds "$work/out" '.error.status == 2'

# What was printed but could not be written is no success.
"$strata" help >/dev/full 2>"$work/err"
status=$?
check 'a full disk is exit status 1' [ $status -eq 1 ]
check 'and is said' grep -q '^strata: cannot write to standard output' "$work/err"
"$strata" help >&- 2>"$work/err"
status=$?
check 'a closed standard output is exit status 1' [ $status -eq 1 ]
finish
