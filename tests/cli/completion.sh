# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# Completion: the scripts are well formed for each shell that is installed, and bash
# offers the right words.
. tests/cli/lib.sh

for shell in bash zsh fish; do
    run completion $shell
    check "$shell: exit status 0" [ $status -eq 0 ]
    cp "$work/out" "$work/$shell"
    for word in probe doctor machine json timing; do
        check "$shell: it knows $word" grep -q "$word" "$work/$shell"
    done
    if command -v $shell >/dev/null 2>&1; then
        check "$shell: the syntax is right" $shell -n "$work/$shell"
    else
        echo "skip: $shell is not installed, so its syntax is not checked"
    fi
done

# offers WORDS LINE...: what bash completes at the end of the line
offers() {
    wanted=$1
    shift
    got=$(cd "$work" && bash --norc -c '. ./bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _strata; echo "${COMPREPLY[*]}"' bash "$@")
    if [ "$got" = "$wanted" ]; then
        ok "bash: $* -> $wanted"
    else
        not_ok "bash: $* -> $got, wanted $wanted"
    fi
}
if command -v bash >/dev/null 2>&1; then
    : >"$work/one.machine"
    offers 'probe' strata pr
    offers 'doctor' strata d
    offers '--help --version' strata --
    offers '--machine --method' strata probe --m
    offers 'auto timing perf sim' strata probe --source ''
    offers 'timing' strata probe --source t
    offers 'one.machine' strata probe --machine one
    offers 'one.machine' strata probe -m one
    offers 'one.machine' strata record one
    offers '' strata probe --budget ''
    offers 'bash' strata completion b
    offers 'view version' strata help v
    offers 'one.machine' strata view on
    offers 'objects' strata view one.machine ob
    offers 'latency misses events' strata view --sort ''
    offers '' strata nonsense --
else
    echo 'skip: bash is not installed'
fi

# fish_offers WORDS LINE: the same in fish, with the words in the order of the alphabet
fish_offers() {
    got=$(cd "$work" && HOME=$work fish --no-config -c 'source fish; complete -C $argv[1]' "$2" |
        cut -f1 | xargs)
    check "fish: $2 -> $got, wanted $1" [ "$got" = "$1" ]
}
if command -v fish >/dev/null 2>&1; then
    fish_offers probe 'strata pr'
    fish_offers '--machine --method' 'strata probe --m'
    fish_offers timing 'strata probe --source t'
    fish_offers 'bash fish table zsh' 'strata completion '
fi

run completion table
check 'table: five columns everywhere' awk -F '\t' 'NF != 5 { exit 1 }' "$work/out"
check 'table: every command has --help' awk -F '\t' '
    { all[$1] } $2 == "help" { help[$1] }
    END { for (c in all) if (!(c in help)) exit 1 }' "$work/out"
finish
