/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding what comes with strata; shipped.h has the contract. */
#include "host/shipped.h"

#include "core/fail.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int place_of_program(char path[PATH_MAX], struct strata_error *error)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length < 0)
        return fail(error, STRATA_UNABLE,
                    "/proc/self/exe cannot be read (%s): is /proc mounted?",
                    strerror(errno));
    path[length] = '\0';
    return STRATA_OK;
}

/* The file that holds this code, where that is a shared library. */
static bool place_of_library(char path[PATH_MAX])
{
    static const char here; /* any address in it */
    Dl_info info;
    return dladdr(&here, &info) && info.dli_fname && strchr(info.dli_fname, '/') &&
           realpath(info.dli_fname, path);
}

bool shipped_join(const char *folder, const char *name, char path[PATH_MAX])
{
    int length = snprintf(path, PATH_MAX, "%s%s%s", folder, *name ? "/" : "", name);
    return length > 0 && length < PATH_MAX && access(path, R_OK) == 0;
}

/* The first of the names that has the file, seen from the folder of a program or library,
 * which is cut off there. */
static bool find_from(char *program, const char *const *names, size_t n, const char *file,
                      char folder[PATH_MAX])
{
    char found[PATH_MAX], path[PATH_MAX];
    char *slash = strrchr(program, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; i < n; i++)
        if (shipped_join(program, names[i], found) && realpath(found, folder) &&
            shipped_join(folder, file, path))
            return true;
    return false;
}

bool shipped_folder(const char *variable, const char *const *names, size_t n,
                    const char *file, char folder[PATH_MAX])
{
    char path[PATH_MAX];
    const char *given = getenv(variable);
    if (given && *given)
        return snprintf(folder, PATH_MAX, "%s", given) < PATH_MAX &&
               shipped_join(given, file, path);
    return (place_of_program(path, NULL) == STRATA_OK &&
            find_from(path, names, n, file, folder)) ||
           (place_of_library(path) && find_from(path, names, n, file, folder));
}

int place_of_metrics(char folder[PATH_MAX], struct strata_error *error)
{
    /* from a build folder, from one within it, from bin or lib, from lib/TRIPLET */
    static const char *const names[] = {"../metrics", "../../metrics",
                                        "../share/strata/metrics",
                                        "../../share/strata/metrics"};
    if (shipped_folder("STRATA_METRICS", names, sizeof names / sizeof names[0],
                       "cpus.table", folder))
        return STRATA_OK;
    return fail(error, STRATA_UNABLE,
                "the tables of events are not where strata was installed; set "
                "STRATA_METRICS to the folder that holds cpus.table");
}
