# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# A processor that goes offline and comes back while strata serve counts it, for real, on an
# emulated ARM machine with two (tests/vm/offline.c): half a minute, and a kernel to fetch
# the first time, so only where everything is tested.

if [ "${STRATA_FULL:-}" != 1 ]; then
    echo 'skip: the emulated ARM machine is for make test-full'
    exit 77
fi
VM_GUEST=offline VM_PROCESSORS=2 exec sh tests/vm/run.sh
