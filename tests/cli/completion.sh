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

# The scripts ask the strata that is typed.
PATH=$(dirname "$strata"):$PATH
STRATA_MACHINES=$work/machines
export PATH STRATA_MACHINES
mkdir "$work/machines" "$work/folder"
cp machines/generic.machine machines/amd-zen-4.machine machines/amd-zen-5.machine "$work/machines"
: >"$work/one.machine"
: >"$work/one.strata"
: >"$work/one.text"

# offers WORDS LINE...: what bash completes at the end of the line, sorted
offers() {
    wanted=$1
    shift
    got=$(cd "$work" && bash --norc -c '. ./bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _strata; printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort | xargs)
    if [ "$got" = "$wanted" ]; then
        ok "bash: $* -> $wanted"
    else
        not_ok "bash: $* -> $got, wanted $wanted"
    fi
}
if command -v bash >/dev/null 2>&1; then
    offers 'probe' strata pr
    offers 'doctor' strata d
    offers '--help --version' strata --
    offers '--machine --method' strata probe --m
    offers 'auto perf sim timing' strata probe --source ''
    offers 'timing' strata probe --source t
    offers 'one.machine' strata probe --machine one
    offers 'one.machine' strata probe -m one
    offers 'amd-zen-4 amd-zen-5' strata probe --machine amd
    offers 'amd-zen-4 amd-zen-5 folder generic machines one.machine' strata record -m ''
    offers 'one.machine' strata stat --machine one
    offers 'one.machine one.strata one.text' strata record one
    offers 'one.machine one.strata one.text' strata probe --save one
    offers 'conditional_taken conditional_taken_executed' strata stat -e conditional_t
    offers 'cycles,l2_misses' strata stat --events cycles,l2_m
    offers 'conditional_taken conditional_taken_executed' strata inspect conditional_t
    offers '' strata probe --budget ''
    offers 'bash' strata completion b
    offers 'version view' strata help v
    offers 'one.strata' strata view on
    offers 'one.strata' strata export on
    offers 'objects' strata view one.machine ob
    offers 'events latency misses' strata view --sort ''
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
    fish_offers 'amd-zen-4 amd-zen-5' 'strata record --machine amd'
    fish_offers 'one.machine' 'strata probe -m on'
    fish_offers 'conditional_taken conditional_taken_executed' 'strata stat -e conditional_t'
    fish_offers 'cycles,l2_misses' 'strata stat --events cycles,l2_m'
    fish_offers 'one.strata' 'strata view on'
fi

# zsh_calls WORDS FUNCTION: what a function of the script for zsh adds, where stand-ins for
# those of zsh print it; they exist only while a line is edited
zsh_calls() {
    # shellcheck disable=SC2016 # for zsh
    got=$(cd "$work" && zsh -fc 'compadd() { eval "print -r -- \$$2" }
        _files() { print -r -- "files $*" }; compset() { : }; _describe() { : }
        words=(strata) CURRENT=2; source ./zsh; strata=strata; $1' zsh "$2" | xargs)
    case $got in
    *"$1"*) ok "zsh: $2 -> $1" ;;
    *) not_ok "zsh: $2 -> $got, wanted $1" ;;
    esac
}
if command -v zsh >/dev/null 2>&1; then
    zsh_calls 'amd-zen-4 amd-zen-5 generic files -g *.machine' _strata_machines
    zsh_calls 'conditional_taken conditional_taken_executed' _strata_events
    check 'zsh: --machine asks for machines' grep -q "'--machine=.*:_strata_machines'" "$work/zsh"
    check 'zsh: view asks for profiles' grep -q "'1:FILE:_files -g \"\*.strata\"'" "$work/zsh"
fi

run completion table
check 'table: five columns everywhere' awk -F '\t' 'NF != 5 { exit 1 }' "$work/out"
check 'table: every command has --help' awk -F '\t' '
    { all[$1] } $2 == "help" { help[$1] }
    END { for (c in all) if (!(c in help)) exit 1 }' "$work/out"
finish
