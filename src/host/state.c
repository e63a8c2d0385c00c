/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where strata keeps what it remembers; the header says what that is. */
#include "host/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Makes the folders of a path, as far as they are missing. */
static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int made = mkdir(path, 0700);
        *slash = '/';
        if (made != 0 && errno != EEXIST)
            return false;
    }
    return true;
}

bool state_file(const char *name, bool make, char path[PATH_MAX])
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (state && state[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/strata/%s", state, name);
    else if (home && home[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/.local/state/strata/%s", home, name);
    return n > 0 && n < PATH_MAX && (!make || make_folders(path));
}
