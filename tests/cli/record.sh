# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# strata record: bad input, exit statuses, signals, and what it leaves. Most of it runs
# with a script in the place of valgrind that leaves an empty raw file; the rest, at the
# end, with valgrind and the collector, where they are there.
. tests/cli/lib.sh

STRATA_MACHINES=$root/machines
TMPDIR=$work/tmp
export STRATA_MACHINES TMPDIR
unset STRATA_VALGRIND
real_path=$PATH
mkdir "$work/bin" "$work/lib" "$work/tmp"
: >"$work/lib/strata-amd64-linux"
: >"$work/lib/strata-arm64-linux"

# A configuration is a raw file without records.
cat >"$work/bin/valgrind" <<'END'
#!/bin/sh
echo "$@" >"${0%/*}/arguments"
echo "$VALGRIND_LIB" >"${0%/*}/library"
while [ "$1" != -- ]; do
    case $1 in --strata-dir=*) dir=${1#*=} ;; esac
    shift
done
shift
cp "$dir/config" "$dir/$$-0.raw"
echo "$dir" >"${0%/*}/folder"
[ -z "$FAKE" ] || . "$FAKE"
exec "$@"
END
chmod +x "$work/bin/valgrind"
fake() {
    PATH=$work/bin:$real_path STRATA_VALGRIND=$work/lib
    export PATH STRATA_VALGRIND
}
no_folder_left() { [ -z "$(ls "$work/tmp")" ] || { find "$work/tmp"; false; }; }
is() { [ "$2" = "$3" ] || { echo "# $1: $2, wanted $3"; false; }; }
is_profile() { [ "$(head -c 15 "$work/$1" 2>/dev/null)" = 'SQLite format 3' ]; }
said() { grep -q -e "$1" "$work/err" || { cat "$work/err"; false; }; }

# Bad input, before anything runs
fake
fails 2 'which program' record
fails 2 'which program' record --exact --
fails 2 'no-such-program: no such program in PATH' record no-such-program
fails 2 './no-such: No such file' record -- ./no-such
fails 2 'the name of the program is empty' record ''
fails 2 'a folder, not a program' record -- "$work/bin/"
: >"$work/text"
fails 2 './text: it may not be executed' record -- ./text
fails 2 'text: no such program in PATH$' record -- text
printf '#!/bin/sh\n' >"$work/a-script" && chmod +x "$work/a-script"
fails 2 "a-script: no such program in PATH; did you mean the one here" record -- a-script
printf '#! /no/such/shell -x\n' >"$work/orphan" && chmod +x "$work/orphan"
fails 2 'a script for /no/such/shell' record -- ./orphan
fails 3 'perf: .*not built in' record --source perf true
fails 2 'must be one of auto|sim|perf' record --source timing true
fails 2 'no such file, here or in' record --machine no-such true
fails 2 '/no/such.machine: No such file' record --machine /no/such.machine true
fails 2 'text: ' record --machine text true
fails 2 'has 3 cache levels' record --period 100 --event-level 4 true
fails 2 'is for sampling; give --period' record --event-level 2 true
fails 2 'is for sampling; give --period' record --interrupt-cycles 10 true
fails 2 'period 0: it must be' record --period 0 true
fails 2 'period x: it must be' record --period x true
fails 2 'duration 0: it must be' record --duration 0 true
fails 2 'seed -1: it must be' record --seed -1 true
fails 2 'cannot write to the folder' record -o /no/such/folder/x.strata true
fails 2 'this is a folder' record -o bin true
fails 2 'must be a regular file' record -o /dev/null true
fails 2 'there are files in this folder' record --keep-raw bin true
fails 2 'cannot make this folder' record --keep-raw /no/such/folder true
cp "/bin/true" "$work/privileged" && chmod u+s "$work/privileged"
fails 3 'setuid cannot be recorded' record ./privileged
printf '\177ELF\001\001\001' >"$work/other" && head -c 200 /dev/zero >>"$work/other"
chmod +x "$work/other"
fails 3 'for another processor' record ./other
TMPDIR=/no/such/folder
fails 1 'set TMPDIR' record --source sim true
TMPDIR=$work/tmp
check 'no profile is left' [ -z "$(find "$work" -name '*.strata')" ]
check 'no folder is left' no_folder_left

# What is missing
STRATA_VALGRIND=/no/such
fails 3 'install valgrind' record true
mkdir "$work/empty"
ln -s /bin/true "$work/empty/true"
STRATA_VALGRIND=$work/lib
# shellcheck disable=SC2123 # that is what is meant
PATH=$work/empty
run record true
PATH=$real_path
check 'no valgrind: exit status 3' is status "$status" 3
check 'no valgrind: it says what to do' said 'apt-get install valgrind'
fake

# A good run
run record --source sim sh -c 'echo out; echo err >&2'
check 'a profile by the name of the program' is_profile sh.strata
check 'exit status 0' is status "$status" 0
check 'standard output is its own' is output "$(cat "$work/out")" out
check 'standard error has its line' said '^err$'
check 'it says what is simulated' \
    said '^strata: simulating generic.machine (no probe) under valgrind$'
check 'it sums up' said '^strata: 0 accesses, 0 L1 misses, 0 objects above 1%: sh.strata'
check 'nothing else is said' is lines "$(wc -l <"$work/err")" 3
check 'no folder is left' no_folder_left
check 'children are recorded' grep -q -e '--trace-children=yes' "$work/bin/arguments"
check 'the collector is found' is folder "$(cat "$work/bin/library")" "$(realpath "$work/lib")"
run record --no-children --source sim true
check '--no-children' grep -q -e '--trace-children=no' "$work/bin/arguments"
run record -o other.strata ./a-script
check 'auto says why' said '^strata: .*counters.*; simulating generic.machine (no probe) under'
check 'it fits 80 columns' narrow "$work/err"
check 'a script' is_profile other.strata
cp "$root/machines/amd-zen-4.machine" "$work/this.machine"
run record true
check 'this.machine is the default' said 'simulating this.machine under valgrind'
mkdir -p "$XDG_STATE_HOME/strata"
mv "$work/this.machine" "$XDG_STATE_HOME/strata/last.machine"
run record true
check 'else the one of the last probe' said 'simulating last.machine (last probe) under valgrind'
rm "$XDG_STATE_HOME/strata/last.machine"
run record --machine amd-zen-3 true
check 'a machine by its name' said 'simulating amd-zen-3 under'
run record --machine "$root/machines/amd-zen-3.machine" true
check 'a machine by its file' said 'simulating .*/machines/amd-zen-3.machine'
(cd "$work" && printf 'in\n' | "$strata" record cat) >"$work/out" 2>"$work/err"
check 'standard input is its own' is output "$(cat "$work/out")" in
run record -- sh -c 'printf "%s|" "$@"' sh -- 'a b' '' --exact
check 'arguments are left alone' is arguments "$(cat "$work/out")" '--|a b||--exact|'

# What the collector is told
run record --keep-raw raw --exact --period 100 --event-level 2 --interrupt-cycles 5 \
    --fetches --seed 9 true
check '--keep-raw keeps the raw file' [ "$(find "$work/raw" -name '*-0.raw' | wc -l)" -eq 1 ]
check '--keep-raw keeps the configuration' [ -s "$work/raw/config" ]
config() { od -An -v -t u4 -N 64 "$work/raw/config" | xargs; }
# after the magic: version, size; collect, fetches, branches, stack, paused, level; period
check 'the configuration' is config "$(config | cut -d' ' -f 3,5-12,13,15)" \
    "2 3 1 0 0 0 2 100 0 5 9"
rm -r "$work/raw"

# An older profile is replaced by a whole one only
echo old >"$work/true.strata"
echo 'kill -9 $$' >"$work/dead" # before anything is left
sed 's/^cp .*/. "$FAKE"/' "$work/bin/valgrind" >"$work/bin/v2"
cp "$work/bin/valgrind" "$work/good"
cp "$work/bin/v2" "$work/bin/valgrind"
export FAKE="$work/dead"
run record --source sim true
check 'valgrind dies: exit status 1' is status "$status" 1
check 'valgrind dies: it is said' said 'nothing was recorded: .*signal 9'
check 'valgrind dies: the old profile is as it was' is profile "$(cat "$work/true.strata")" old
# shellcheck disable=SC2016
echo 'echo "==1== the reason" >"$dir/1.log"; exit 1' >"$work/dead"
run record --source sim true
check 'valgrind refuses: exit status 1' is status "$status" 1
check 'valgrind refuses: its message is shown' said 'valgrind says: the reason'
# shellcheck disable=SC2016
echo 'echo nonsense >"$dir/$$-0.raw"' >"$work/dead"
run record --source sim true
check 'nonsense is left: exit status 1' is status "$status" 1
check 'nonsense is left: it is said' said 'nothing was recorded'
check 'and the old profile is as it was' is profile "$(cat "$work/true.strata")" old
check 'no folder is left' no_folder_left
cp "$work/good" "$work/bin/valgrind"
FAKE=

# Ends
ends() {
    wanted=$1
    shift
    rm -f "$work"/*.strata
    run record --source sim -o end.strata "$@"
    check "exit status $wanted of $*" is status "$status" "$wanted"
    check 'and a profile' is_profile end.strata
}
ends 0 true
ends 1 false
ends 77 sh -c 'exit 77'
ends 143 sh -c 'kill -TERM $$'
ends 137 sh -c 'kill -KILL $$'
ends 134 sh -c 'kill -ABRT $$'
check 'no core is left' [ -z "$(find "$work" -name 'core*')" ]

# Signals for strata. begin COMMAND...: starts it, in a process group of its own and not deaf
# to Ctrl-C as what a shell starts beside itself is, and waits until the program runs
begin() {
    rm -f "$work/running" "$work"/*.strata
    (cd "$work" && exec setsid env --default-signal=INT "$strata" record --source sim -o end.strata "$@") \
        >"$work/out" 2>"$work/err" </dev/null &
    pid=$!
    until [ -s "$work/running" ]; do
        kill -0 $pid 2>/dev/null || break
        sleep 0.02
    done
}
begin sh -c 'trap "echo caught; exit 5" TERM; echo yes >running; while :; do sleep 0.05; done'
kill -TERM $pid
wait $pid
status=$?
check 'SIGTERM reaches the program' is output "$(cat "$work/out")" caught
check 'its exit status counts' is status "$status" 5
check 'and a profile is written' is_profile end.strata
# Ctrl-C goes to both at once.
begin sh -c 'trap "echo caught; exit 6" INT; echo yes >running; while :; do sleep 0.05; done'
kill -INT "-$pid"
wait $pid
status=$?
check 'Ctrl-C reaches the program once' is output "$(cat "$work/out")" caught
check 'its exit status counts' is status "$status" 6
check 'and a profile is written' is_profile end.strata
begin sh -c 'echo yes >running; while :; do :; done'
kill -INT "-$pid"
wait $pid
status=$?
check 'Ctrl-C ends it' is status "$status" 130
check 'and a profile is written' is_profile end.strata
begin sh -c 'echo yes >running; exec sleep 60'
kill -HUP $pid
wait $pid
status=$?
check 'SIGHUP ends it' is status "$status" 129
check 'and a profile is written' is_profile end.strata
begin sh -c 'echo yes >running; while [ ! -e finish ]; do sleep 0.05; done'
folder=$(cat "$work/bin/folder")
toggles() {
    kill -USR1 "$pid"
    tries=0
    until [ "$(cat "$folder/command" 2>/dev/null)" = "$1" ] || [ "$tries" -ge 500 ]; do
        sleep 0.02
        tries=$((tries + 1))
    done
    [ "$(cat "$folder/command" 2>/dev/null)" = "$1" ]
}
check 'SIGUSR1 pauses' toggles p
check 'another one goes on' toggles s
: >"$work/finish"
wait $pid
status=$?
check 'and the program ends as usual' is status "$status" 0
begin --paused sh -c 'echo yes >running; while [ -e finish ]; do sleep 0.05; done'
folder=$(cat "$work/bin/folder")
check '--paused: SIGUSR1 starts' toggles s
rm "$work/finish"
wait $pid
run record --source sim --duration 0.2 -o end.strata sleep 60
check '--duration ends the program: exit status 0' is status "$status" 0
check 'and a profile is written' is_profile end.strata
run record --source sim --duration 60 -o end.strata sh -c 'exit 3'
check '--duration that is not used up' is status "$status" 3
check 'no folder is left' no_folder_left

# With valgrind
PATH=$real_path
unset STRATA_VALGRIND
collector=strata-$(uname -m | sed 's/x86_64/amd64/;s/aarch64/arm64/')-linux
if ! command -v valgrind >/dev/null 2>&1; then
    echo 'skip: valgrind is not installed, so nothing is recorded'
    finish
elif [ ! -e "$(dirname "$strata")/valgrind/$collector" ]; then
    echo 'skip: the collector is not built, so nothing is recorded'
    finish
fi
check 'a program to record' "${CC:-cc}" -O1 -g tests/programs/ends.c -o "$work/ends" -pthread

# counted TEXT: there were events, and the object that TEXT names is in the profile
counted() {
    grep -q '^strata: [1-9][0-9.]* [KM] accesses, [1-9].* objects* above 1%' "$work/err" ||
        { cat "$work/err"; return 1; }
    command -v sqlite3 >/dev/null 2>&1 || return 0
    [ "$(sqlite3 "$work/end.strata" \
        "SELECT COUNT(*) FROM objects WHERE object = '$1' AND events > 1000")" -eq 1 ]
}
ends 6 ./ends
check 'what it did is in there' counted own
ends 134 ./ends abort
check 'also after abort()' counted own
ends 139 ./ends crash
check 'also after a crash' counted own
ends 9 ./ends _exit
check 'also after _exit()' counted own
ends 137 ./ends kill
check 'also after SIGKILL' counted own
if "${CC:-cc}" -O1 -static tests/programs/ends.c -o "$work/static" -pthread 2>/dev/null; then
    ends 6 ./static
    check 'a static program' counted own
    check 'is nothing special' sh -c '! grep -q statically "$1"' sh "$work/err"
    strip "$work/static"
    ends 6 ./static
    check 'one without symbols is' said 'linked statically and stripped'
fi
ends 0 ./ends fork
check 'the output of a program that forks' is output "$(cat "$work/out")" 'child: signal 9'
check 'what the parent did' counted own
check 'what the child did' counted childs
ends 0 ./ends exec
check 'the output after exec' is output "$(cat "$work/out")" 'became another'
check 'what was done before exec' counted own
ends 0 ./ends threads
check 'the output of threads' is output "$(cat "$work/out")" '8 threads'
check 'what they did' counted threads
ends 0 --period 100 sh -c './ends threads'
check 'sampled, from a shell' said 'above 1%'
begin ./ends wait
kill -TERM $pid
wait $pid
status=$?
check 'SIGTERM while it runs' is status "$status" 143
check 'and what it did until then' counted own
begin ./ends wait
kill -KILL "$(cat "$work/running")"
wait $pid
status=$?
check 'SIGKILL from outside' is status "$status" 137
check 'and what it did until then' counted own
run record --source sim --duration 3 -o end.strata ./ends wait
check '--duration' is status "$status" 0
check 'no folder is left' no_folder_left
finish
