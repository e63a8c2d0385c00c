/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Places for files, looked at before they are needed. */
#include "cli/output.h"

#include "core/fail.h"

#include <errno.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files are written beside their place and renamed, so the folder must be writable. */
static int check_folder(const char *option, const char *path, struct strata_error *error)
{
    char *copy = strdup(path);
    if (!copy)
        return fail(error, STRATA_FAILED, "out of memory");
    const char *folder = dirname(copy);
    struct stat there;
    int status = STRATA_OK;
    if (stat(folder, &there) == 0 && !S_ISDIR(there.st_mode))
        status = fail(error, STRATA_BAD_INPUT, "--%s %s: %s is no folder; name another one",
                      option, path, folder);
    else if (access(folder, W_OK | X_OK) != 0)
        status = fail(error, STRATA_BAD_INPUT,
                      "--%s %s: cannot write to the folder %s: %s; name another one",
                      option, path, folder, strerror(errno));
    free(copy);
    return status;
}

int output_check(const char *option, const char *path, struct strata_error *error)
{
    struct stat there;
    bool exists = stat(path, &there) == 0;
    if (!*path)
        return fail(error, STRATA_BAD_INPUT, "--%s: the name of the file is empty", option);
    if (exists && S_ISDIR(there.st_mode))
        return fail(error, STRATA_BAD_INPUT, "--%s %s: this is a folder; name a file in it",
                    option, path);
    if (exists && access(path, W_OK) != 0)
        return fail(error, STRATA_BAD_INPUT, "--%s %s: cannot write: %s", option, path,
                    strerror(errno));
    if (exists && !S_ISREG(there.st_mode))
        return STRATA_OK; /* a pipe or a terminal is written to where it is */
    return check_folder(option, path, error);
}
