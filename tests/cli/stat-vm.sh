# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# Hardware counters for real, on an emulated ARM machine (tests/vm/run.sh): 30 seconds, and
# a kernel to fetch the first time, so only where everything is tested.

if [ "${STRATA_FULL:-}" != 1 ]; then
    echo 'skip: the emulated ARM machine is for make test-full'
    exit 77
fi
exec sh tests/vm/run.sh
