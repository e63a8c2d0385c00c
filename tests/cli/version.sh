# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# The version, and what was built in.
. tests/cli/lib.sh

run version
check 'exit status 0' [ $status -eq 0 ]
check 'the first line is the version' \
    [ "$(head -n 1 "$work/out")" = "strata $(cat VERSION)" ]
for part in jansson inih hwloc cairo sqlite elfutils libpfm microhttpd ncurses valgrind compiler \
    target; do
    check "it names $part" grep -Eq "^  $part +[^ ]" "$work/out"
done
cp "$work/out" "$work/version"
for way in --version -V; do
    run $way
    check "strata $way is the same" cmp "$work/version" "$work/out"
done

run version --json
check 'JSON has the same' holds "$work/out" --arg version "$(cat VERSION)" \
    '.strata == $version and ([.jansson, .inih, .hwloc, .cairo, .compiler, .target]
     | all(type == "string" and length > 0))'
run --version --json
check 'also by --version --json' holds "$work/out" .strata
finish
