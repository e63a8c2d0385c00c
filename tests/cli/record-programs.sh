# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata record: programs of all sorts run to their end as they do without, with the same
# output and exit status, and leave a profile of what was seen until then.
. tests/programs/lib.sh
plain_only 'the tool that runs these programs has no sanitizers'

machine=$root/tests/machines/direct.machine
# Fewer things that differ from one run to the next
HOME=$work XDG_CONFIG_HOME=$work PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1
GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a
GIT_COMMITTER_EMAIL=a@b GIT_AUTHOR_DATE='2020-01-01T00:00:00 +0000'
GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
export HOME XDG_CONFIG_HOME PYTHONHASHSEED PYTHONDONTWRITEBYTECODE GIT_CONFIG_NOSYSTEM \
    GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL \
    GIT_AUTHOR_DATE GIT_COMMITTER_DATE

# same NAME COMMAND...: the command with and without strata; $work/in is its input, and
# undo() takes back what it did the first time
: >"$work/in"
undo() { :; }
same() {
    what=$1
    shift
    (cd "$work" && exec "$@") >"$work/native.out" 2>"$work/native.err" <"$work/in"
    native=$?
    undo
    rm -f "$work/p.strata"
    (cd "$work" && exec "$strata" record --source sim --machine "$machine" -o p.strata \
        -- "$@") >"$work/out" 2>"$work/err.both" <"$work/in"
    status=$?
    # strata itself says two lines
    grep -v '^strata: ' "$work/err.both" >"$work/err"
    if [ $status -eq $native ] && cmp "$work/native.out" "$work/out" &&
        cmp "$work/native.err" "$work/err"; then
        ok "$what: output and exit status $native as without"
    else
        not_ok "$what: exit status $status, without: $native"
        diff "$work/native.out" "$work/out"
        diff "$work/native.err" "$work/err.both"
    fi
    is "$what: the profile is whole" "$(query 'PRAGMA integrity_check;
        SELECT COUNT(*) > 0, MIN(whole) FROM process')" "ok
1|1"
}
# ends NAME WANTED: how the processes ended, in the order of their start
ends() {
    is "$1: $2" "$(query "SELECT group_concat(end || ' ' || COALESCE(status, '-'), ', ')
        FROM process")" "$2"
}
scanned() {
    is "$1: all that was read" "$(query "SELECT SUM(events) FROM cells WHERE object = 'work'
        AND function = 'scan'")" 1024
}
block_too() {
    is "$1: and the heap afterwards" "$(query "SELECT SUM(events) FROM cells
        WHERE object LIKE 'make_block-%' AND function = 'scan'")" 1024
}

# Ends, and what is hard to follow
compile endings -pthread
same exit ./endings exit
ends exit 'exited 7'
scanned exit
same exit-at-once ./endings exit-at-once
ends exit-at-once 'exited 8'
scanned exit-at-once
same abort ./endings abort
ends abort 'signalled 6'
scanned abort
same kill ./endings kill
ends kill 'signalled 9'
scanned kill
same terminate ./endings terminate
ends terminate 'signalled 15'
scanned terminate
same fault ./endings fault
ends fault 'signalled 0'
scanned fault
is 'fault: the run knows the signal' \
    "$(query "SELECT value FROM meta WHERE key = 'status'")" 11
same execute ./endings execute
ends execute 'executed -, exited 0'
scanned execute
same fail-to-execute ./endings fail-to-execute
ends fail-to-execute 'exited 6'
scanned fail-to-execute
same leave-a-thread ./endings leave-a-thread
ends leave-a-thread 'exited 0'
scanned leave-a-thread
for action in jump handle close-all; do
    same $action ./endings $action
    scanned $action
    block_too $action
done
same recurse ./endings recurse
scanned recurse
same write-code ./endings write-code
scanned write-code

if compile endings -static -pthread 2>"$work/static"; then
    same static ./endings jump
    scanned static
    block_too static
else
    echo 'skip: a static program cannot be linked here'
fi

# Killed from outside: what was seen is there
rm -f "$work/p.strata"
(cd "$work" && exec "$strata" record --source sim --machine "$machine" -o p.strata sh -c \
    'kill -9 $$; sleep 60') >"$work/out" 2>"$work/err" </dev/null
is 'a shell that kills itself' "$? $(query 'SELECT SUM(events) > 0 FROM cell')" '137 1'

# Threads and children
compile threads -pthread
same threads ./threads
rows_are 'threads: each has its own' "SELECT object, SUM(events) FROM cells WHERE
    function = 'read_all' AND kind <> 'stack' GROUP BY 1" <<'END'
part 0|1024
part 1|1024
part 2|1024
part 3|1024
part 4|1024
part 5|1024
part 6|1024
part 7|1024
END
is 'threads: all blocks are one object otherwise' "$(query "SELECT objects, bytes, live
    FROM allocation JOIN object ON id = object WHERE name LIKE 'make_part-work%'")" \
    '8|524288|0'
is 'threads: their frames are on stacks' "$(query "SELECT COUNT(*) FROM cells WHERE
    function IN ('work', 'read_all') AND object = '<UNKNOWN>'")" 0

compile children
same children ./children
rows_are 'children: each its part' "SELECT object, pid = (SELECT pid FROM process WHERE
    id = 1), COUNT(DISTINCT pid), SUM(events) FROM cells WHERE function = 'scan' AND
    kind <> 'stack' GROUP BY 1, 2" <<'END'
work|1|1|1024
work|0|3|3072
make_block-fork_some-main|1|1|1024
make_block-fork_some-main|0|3|3072
END
is 'children: all are there' "$(query "SELECT COUNT(*) FROM process")" 13
is 'children: of one parent' "$(query "SELECT COUNT(*) FROM process WHERE id > 1 AND
    parent <> (SELECT pid FROM process WHERE id = 1)")" 0
run record --source sim --no-children --machine "$machine" -o p.strata ./children
is '--no-children: forks, but no programs' "$(query 'SELECT COUNT(DISTINCT command) FROM
    process')" 1

# Programs of the system
has() { command -v "$1" >/dev/null 2>&1 || { echo "skip: $1 is not installed"; false; }; }

cat >"$work/in" <<'END'
CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, n INT);
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 400)
INSERT INTO t SELECT i, 'name ' || (i * 7919 % 400), i % 17 FROM c;
CREATE INDEX by_name ON t(name);
SELECT n, COUNT(*), MIN(name), SUM(id) FROM t GROUP BY n ORDER BY 4 DESC;
SELECT nothing FROM nowhere;
END
same sqlite3 sqlite3 -batch :memory:
: >"$work/in"

if [ -x /usr/bin/python3 ]; then
    cat >"$work/test.py" <<'END'
import re, subprocess, sys
words = {}
for w in re.findall(r"\w+", "the cat the dog a cat the end " * 50):
    words[w] = words.get(w, 0) + 1
print(sorted(words.items()), sum(i * i for i in range(2000)))
print(subprocess.run(["echo", "child"], capture_output=True).stdout)
sys.exit(9)
END
    same python3 /usr/bin/python3 -S test.py
else
    echo 'skip: python3 is not installed'
fi

if has git; then
    mkdir "$work/repository"
    (cd "$work/repository" && git init -q -b main . && seq 1000 >a && git add a &&
        git commit -q -m first && seq 2 3 2000 >a && git commit -q -a -m second)
    same git git -C repository log -p --stat
    (cd "$work/repository" && echo more >b && git add b)
    undo() { git -C "$work/repository" reset -q --soft HEAD~1; }
    same 'git commit' git -C repository commit -m third
    undo() { :; }
fi

cat >"$work/small.c" <<'END'
int add(int a, int b) { return a + b; }
int main(void) { int unused; return add(40, 2); }
END
same gcc gcc -Wall -O1 small.c -o small
is 'gcc: its parts too' "$(query "SELECT COUNT(DISTINCT command) FROM process WHERE
    command LIKE '%cc1' OR command LIKE '%as' OR command LIKE '%ld%'")" 3
"$work/small"
is 'gcc: what it made runs' $? 42

if has g++; then
    g++ -O1 -g -I"$root/include" "$root/tests/programs/names.cc" -o "$work/names++"
    same 'C++' ./names++
fi
finish
