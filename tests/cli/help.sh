# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# Help: its text, its width, and the ways to ask for it.
. tests/cli/lib.sh

commands=$("$strata" completion table | cut -f1 | uniq)
check 'there are commands' [ "$(echo "$commands" | wc -l)" -ge 5 ]

matches
matches help
for command in $commands; do
    matches help "$command"
    check "help $command fits 80 columns" narrow "$work/out"
    cp "$work/out" "$work/help"
    for columns in 60 120; do
        COLUMNS=$columns run help "$command"
        check "help $command fits $columns columns" narrow "$work/out" $columns
    done
    run "$command" --help
    check "$command --help is the same" cmp "$work/help" "$work/out"
    run "$command" -h
    check "$command -h is the same" cmp "$work/help" "$work/out"
done

run help
cp "$work/out" "$work/help"
for way in --help -h; do
    run $way
    check "strata $way is strata help" cmp "$work/help" "$work/out"
done
for command in $commands; do
    check "strata help names $command" grep -q "^  $command  *[a-z]" "$work/help"
done
finish
