# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata machines: what it lists at three widths, as JSON, and that --machine takes each
# name that it lists, in every command that has the option.
. tests/cli/lib.sh

mkdir "$work/machines"
cp "$root/machines/generic.machine" "$root/machines/arm926ej-s.machine" \
    "$root/machines/intel-itanium-2-9040-montecito.machine" "$work/machines"
STRATA_MACHINES=$work/machines
export STRATA_MACHINES
matches machines
for columns in 60 80 120; do
    COLUMNS=$columns run machines
    check "$columns columns: it fits" narrow "$work/out" $columns
    cp "$work/out" "$work/$columns"
done
check '60 columns: names are alone' grep -qx '  generic' "$work/60"
check '120 columns: a line for each' [ "$(grep -c '^  [a-z]' "$work/120")" -eq "$(sed '/^$/,$d' "$work/120" | wc -l)" ]
unset STRATA_MACHINES

run machines
check 'exit status 0' [ $status -eq 0 ]
for file in machines/*.machine; do
    name=$(basename "$file" .machine)
    check "it lists $name" grep -q "^  $name" "$work/out"
done
run machines --json
# shellcheck disable=SC2016 # jq has variables, too
check 'JSON: as many as there are files' holds "$work/out" \
    --argjson n "$(find machines -name '*.machine' | wc -l)" '.machines | length == $n'
check 'JSON: plain numbers' holds "$work/out" '.schema == "strata.machines/1" and
    (.machines[] | select(.name == "amd-zen-4") | .processor == "AMD Zen 4"
    and .caches[1].size == 1048576 and .caches[1].level == 2 and .memory_cycles > 100)'

# By name, as by file.
run probe --machine arm926ej-s --seed 7 --json
cp "$work/out" "$work/named"
check 'probe takes a name' [ $status -eq 0 ]
run probe --machine "$root/machines/arm926ej-s.machine" --seed 7 --json
for file in named out; do jq 'del(.seconds)' "$work/$file" >"$work/$file.json"; done
check 'which is the file of that name' cmp "$work/named.json" "$work/out.json"
fails 2 "no such file, here or in .*'strata machines' lists" probe --machine amd-zen-44
fails 2 "no such file, here or in .*'strata machines' lists" inspect --machine amd-zen-44

# What is wrong with one does not hide the others.
echo '[machine]' >"$work/machines/broken.machine"
STRATA_MACHINES=$work/machines
export STRATA_MACHINES
run machines
check 'a broken file: exit status 0' [ $status -eq 0 ]
check 'a broken file: it is said' grep -q 'broken *cannot be read:' "$work/out"
check 'a broken file: the others are there' grep -q '^  generic' "$work/out"
run machines --json
check 'a broken file: JSON says why' holds "$work/out" \
    '.machines[] | select(.name == "broken") | .processor == null and (.why | length > 0)'
STRATA_MACHINES=$work/none
export STRATA_MACHINES
fails 3 'set STRATA_MACHINES to their folder' machines
finish
