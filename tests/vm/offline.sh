#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The sampler of strata serve on an emulated ARM machine with two processors, of which one
# goes offline and comes back. As tests/vm/run.sh, and not at the same time.
exec sh tests/vm/run.sh offline 2
