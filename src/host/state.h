/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What strata keeps of a user from one run to the next: in $XDG_STATE_HOME/strata, or
 * ~/.local/state/strata.
 *
 *     history         lines of the prompt
 *     last.machine    what the last probe of this machine saved */
#ifndef HOST_STATE_H
#define HOST_STATE_H

#include <limits.h>
#include <stdbool.h>

#define STATE_LAST_MACHINE "last.machine"

/* The path of a file there; with `make`, the folders are made. False: there is no home, or
 * the folders cannot be made. */
bool state_file(const char *name, bool make, char path[PATH_MAX]);

#endif
