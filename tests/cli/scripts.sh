# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# The checks of the project can fail: each is shown something wrong.
. tests/cli/lib.sh

fails_on() {
    wanted=$1
    shift
    "$@" >"$work/log" 2>&1 && return 1
    grep -q -e "$wanted" "$work/log"
}

# Include edges
mkdir -p "$work/tree/src/core" "$work/tree/src/cli" "$work/tree/include/strata"
echo '#include "core/a.h"' >"$work/tree/src/cli/a.c"
check 'edges: downwards is allowed' scripts/include-edges "$work/tree"
echo '#include "cli/a.h"' >"$work/tree/src/core/b.c"
check 'edges: upwards is not' fails_on 'src/core/b.c:1: core may not include cli' \
    scripts/include-edges "$work/tree"
printf '\n#include "../cli/a.h"\n' >"$work/tree/src/core/b.c"
check 'edges: nor around the corner' fails_on 'src/core/b.c:2: .*name it from src/' \
    scripts/include-edges "$work/tree"
echo '#include "core/a.h"' >"$work/tree/include/strata/a.h"
rm "$work/tree/src/core/b.c"
check 'edges: a public header needs no private one' fails_on 'a public header' \
    scripts/include-edges "$work/tree"
rm "$work/tree/include/strata/a.h"
mkdir "$work/tree/src/new"
: >"$work/tree/src/new/a.c"
check 'edges: a new folder needs a row' fails_on 'src/new has no row' \
    scripts/include-edges "$work/tree"

# File openings
licence='SPDX-License-Identifier: BSD-3-Clause'
printf '/* %s\n *\n * What it is for. */\n' "$licence" >"$work/good.c"
printf '#!/bin/sh\n# %s\n#\n# What it is for.\n' "$licence" >"$work/good"
printf '/* %s */\nint x;\n' "$licence" >"$work/mute.c"
printf '/* What it is for. */\n' >"$work/free.c"
check 'openings: licence and purpose' scripts/file-openings "$work/good.c" "$work/good"
check 'openings: no purpose' fails_on 'mute.c: does not say' \
    scripts/file-openings "$work/good.c" "$work/mute.c"
check 'openings: no licence' fails_on 'free.c: does not begin' \
    scripts/file-openings "$work/free.c" "$work/good.c"

# Links
mkdir -p "$work/links/docs"
echo '[b](docs/b.md#c) [web](https://example.org)' >"$work/links/a.md"
echo '[a](../a.md)' >"$work/links/docs/b.md"
check 'links: they lead somewhere' scripts/doc-links "$work/links"
echo '[c](c.md)' >>"$work/links/docs/b.md"
check 'links: a dead one is found' fails_on 'b.md: c.md is not there' \
    scripts/doc-links "$work/links"

# Man pages
mkdir "$work/man"
cp docs/man/*.1 "$work/man"
check 'man pages: they agree with the table' scripts/man-drift "$strata" "$work/man"
sed 's/\\-\\-budget/\\-\\-bucket/' docs/man/strata-probe.1 >"$work/man/strata-probe.1"
check 'man pages: a missing option is found' fails_on 'no entry for --budget' \
    scripts/man-drift "$strata" "$work/man"
check 'man pages: so is one too many' fails_on 'no option --bucket' \
    scripts/man-drift "$strata" "$work/man"
cp docs/man/strata-probe.1 "$work/man"
sed 's/probe/prone/g' docs/man/strata.1 >"$work/man/strata.1"
check 'man pages: so is a command that strata.1 forgets' \
    fails_on 'does not name the command probe' scripts/man-drift "$strata" "$work/man"

# The test runner
cat >"$work/good.sh" <<'END'
echo 'ok - one'
END
cat >"$work/bad.sh" <<'END'
echo 'ok - one'
echo 'not ok - two'
END
echo 'exit 5' >"$work/dead.sh"
echo 'exit 0' >"$work/empty.sh"
printf '%s\n' 'echo "skip: no such tool"' 'exit 77' >"$work/skipped.sh"
# sums LINE SCRIPT...: the runner's last line
sums() {
    wanted=$1
    shift
    [ "$(BUILD=$work/build scripts/run-tests "$@" | tail -n 1)" = "$wanted" ]
}
check 'runner: passed' sums '1 passed, 0 failed' "$work/good.sh"
check 'runner: failed' sums '1 passed, 1 failed' "$work/bad.sh"
check 'runner: died' sums '0 passed, 1 failed' "$work/dead.sh"
check 'runner: tested nothing' sums '0 passed, 1 failed' "$work/empty.sh"
check 'runner: skipped' sums '1 passed, 0 failed, 1 skipped' "$work/good.sh" "$work/skipped.sh"
export TEST_JOBS=3
check 'runner: several at a time' sums '2 passed, 2 failed, 1 skipped' \
    "$work/good.sh" "$work/bad.sh" "$work/dead.sh" "$work/skipped.sh"
unset TEST_JOBS
check 'runner: exit status' sh -c '! BUILD=$1/build scripts/run-tests "$1/bad.sh" >"$1/log"' \
    sh "$work"

# Set-up, with a list of its own and without root
mkdir -p "$work/setup/scripts" "$work/bin"
cp scripts/setup "$work/setup/scripts"
printf '%s\n' 'dash sh build' 'no-such-package no-such-command build' \
    'other-package /no/such/* test' >"$work/setup/scripts/packages"
printf '#!/bin/sh\necho 1000\n' >"$work/bin/id"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/sudo"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/apt-get"
chmod +x "$work"/bin/*
setup() { PATH=$work/bin:$PATH "$work/setup/scripts/setup" "$@" >"$work/out" 2>"$work/err"; }
setup build
status=$?
check 'set-up: exit status 3 without root' [ $status -eq 3 ]
check 'set-up: it says what to install' \
    grep -q 'apt-get install --no-install-recommends no-such-package$' "$work/err"
setup test
check 'set-up: only what is asked for' grep -q 'recommends other-package$' "$work/err"
setup lint
status=$?
check 'set-up: nothing missing, nothing said' [ "$status$(cat "$work/out" "$work/err")" = 0 ]
printf '#!/bin/sh\necho 0\n' >"$work/bin/id"
setup build
status=$?
check 'set-up: exit status 3 where apt-get fails' [ $status -eq 3 ]
check 'set-up: it says how to try by hand' grep -q 'To try by hand' "$work/err"

# set-up --list, and ./check without installing: what needs a missing package is skipped, and
# the summary says so; make is a stand-in that passes
run_list() { PATH=$work/bin:$PATH "$work/setup/scripts/setup" --list "$@"; }
list=$(run_list build test)
status=$?
check 'set-up --list: what is missing, and exit status 3' \
    [ "$status $list" = '3 no-such-package other-package' ]
list=$(run_list lint)
status=$?
check 'set-up --list: nothing missing, nothing said' [ "$status$list" = 0 ]
# shellcheck disable=SC2016 # for the stand-ins
printf '#!/bin/sh\ntouch "$0.called"\n' >"$work/bin/apt-get"
printf '#!/bin/sh\necho "1 passed, 0 failed"\n' >"$work/bin/make"
chmod +x "$work/bin/make"
cp check "$work/setup"
checks() { (cd "$work/setup" && PATH=$work/bin:$PATH ./check "$@") >"$work/out" 2>"$work/err"; }
checks --no-install
status=$?
check 'check --no-install: not without what the build needs' [ $status -eq 3 ]
check 'check --no-install: it says what that is' grep -q 'install no-such-package' "$work/err"
printf '%s\n' 'dash sh build' 'other-package /no/such/* test' >"$work/setup/scripts/packages"
checks --no-install
status=$?
check 'check --no-install: exit status 0' [ $status -eq 0 ]
check 'check --no-install: it says what a section needs' \
    [ "$(grep -c '^skipped: needs other-package$' "$work/out")" -eq 2 ]
check 'check --no-install: the sum says so, too' \
    [ "$(tail -n 1 "$work/out")" = '5 passed, 0 failed, 2 skipped' ]
check 'check --no-install: nothing was installed' [ ! -e "$work/bin/apt-get.called" ]
checks --nonsense
status=$?
check 'check: an unknown option is wrong usage' [ $status -eq 2 ]
checks
check 'check: it says what it installs before it does' \
    grep -q '^installing with apt-get other-package$' "$work/out"
check 'check: and installs it' [ -e "$work/bin/apt-get.called" ]
finish
