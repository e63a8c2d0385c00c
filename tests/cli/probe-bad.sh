# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata probe given what it cannot use: the message, the exit status, and that no file is
# written. All of it is found out before anything is measured.
. tests/cli/lib.sh

cp "$root/machines/arm926ej-s.machine" "$work/m.machine"
mkdir "$work/folder"

# Options.
fails 2 '--budget 0: it must be a number from 1 to 3600' probe --budget 0
fails 2 '--budget 0.9: it must be' probe --budget 0.9
fails 2 '--budget -1: it must be' probe --budget -1
fails 2 '--budget nan: it must be' probe --budget nan
fails 2 '--budget 1e9: it must be' probe --budget 1e9
fails 2 '--budget 5s: it must be' probe --budget 5s
fails 2 '--cpu x: it must be a whole number' probe --cpu x
fails 2 '--cpu 70000: it must be a whole number' probe --cpu 70000
fails 2 '--cpu 65535: strata may not run there' probe --cpu 65535
fails 2 '--seed 0: it must be a whole number from 1' probe --seed 0
fails 2 '--seed -1: it must be' probe --seed -1
fails 2 '--quick is --budget 4' probe --quick --budget 3
fails 2 '--source sim: which machine?' probe --source sim
fails 2 'leave one of them out' probe --source timing --machine m.machine
fails 2 '--cpu: a simulated machine has no' probe --cpu 0 --machine m.machine
fails 2 '--source perf ' probe --source perf

# Places for files.
fails 2 '--plot p.gif: the name must end in .svg or .png' probe --plot p.gif
fails 2 '--plot .svg: the name must end' probe --plot .svg
fails 2 '--data d.txt: the name must end in .json or .csv' probe --data d.txt
fails 2 '--plot no/p.svg: cannot write to the folder no: No such file' probe --plot no/p.svg
fails 2 '--save no/s.machine: cannot write' probe --save no/s.machine
fails 2 '--header no/m.h: cannot write' probe --header no/m.h
fails 2 '--data no/d.csv: cannot write' probe --data no/d.csv
fails 2 '--save folder: this is a folder' probe --save folder
fails 2 '--header m.machine/m.h: m.machine is no folder' probe --header m.machine/m.h
fails 2 '--save: the name of the file is empty' probe --save ''
fails 2 '--save m.machine would replace the machine' probe --machine m.machine \
    --save m.machine
fails 2 '--header ./m.machine would replace' probe --machine m.machine --header ./m.machine
fails 2 '--save and --header are the same file' probe --save x --header x
if [ "$(id -u)" -ne 0 ]; then
    chmod 555 "$work/folder"
    fails 2 'cannot write to the folder folder: Permission' probe --plot folder/p.svg
    chmod 755 "$work/folder"
    chmod 444 "$work/m.machine"
    fails 2 '--save m.machine: cannot write: Permission' probe --save m.machine
    chmod 644 "$work/m.machine"
fi

# Machine files.
fails 2 '--machine none: no such file, here or in .*strata machines' probe --machine none
fails 2 '--machine no/such: No such file' probe --machine no/such
fails 2 'folder: is a directory' probe --machine folder
fails 2 'empty: ' probe --machine empty
: >"$work/empty"
fails 2 'empty: ' probe --machine empty
head -c 4096 "$strata" >"$work/binary"
fails 2 'binary:' probe --machine binary
head -c 17000000 /dev/zero >"$work/large"
fails 2 'large:' probe --machine large
rm "$work/large"
if [ "$(id -u)" -ne 0 ]; then
    : >"$work/secret" && chmod 000 "$work/secret"
    fails 2 'secret: cannot open: Permission denied' probe --machine secret
fi

# [memory] is the last section of this file, so that no beginning of it is a machine.
lines=$(wc -l <"$work/m.machine")
n=1 accepted=
while [ "$n" -lt "$lines" ]; do
    head -n "$n" "$work/m.machine" >"$work/cut.machine"
    run probe --machine cut.machine --save s.machine
    if [ $status -ne 2 ] || [ -s "$work/out" ] ||
        ! grep -q '^strata: cut.machine' "$work/err"; then
        accepted="$accepted $n"
    fi
    n=$((n + 1))
done
check "a file that was cut off after any line is refused$accepted" [ -z "$accepted" ]

# contradicts TEXT LINE: one line of the file is changed to LINE (by its key, in its first
# occurrence); the message names file and line
contradicts() {
    key=${2%% *}
    awk -v key="$key" -v line="$2" '$1 == key && !done { print line; done = 1; next } 1' \
        "$root/machines/arm926ej-s.machine" >"$work/bad.machine"
    at=$(grep -n -m 1 -F "$2" "$work/bad.machine" | cut -d: -f1)
    fails 2 "bad.machine:$at: .*$1" probe --machine bad.machine --save s.machine
}
contradicts 'ways = 7' 'ways = 7'
contradicts 'line = 48' 'line = 48'
contradicts 'size = 16Q' 'size = 16Q'
contradicts 'page = 3K' 'page = 3K'
contradicts 'frequency = fast' 'frequency = fast'
contradicts 'level' 'level = 0'

check 'nothing was written' [ ! -e "$work/s.machine" ]
check 'not even in part' [ "$(cd "$work" && echo *.tmp)" = '*.tmp' ]
finish
