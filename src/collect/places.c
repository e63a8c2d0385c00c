/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding what comes with strata; places.h has the contract. */
#include "collect/places.h"

#include "collect/program.h"
#include "core/fail.h"
#include "host/state.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char default_machine[] = "this.machine";
static const char generic_machine[] = "generic.machine";

int place_of_strata(char path[PATH_MAX], struct strata_error *error)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length < 0)
        return fail(error, STRATA_UNABLE,
                    "/proc/self/exe cannot be read (%s): is /proc mounted?",
                    strerror(errno));
    path[length] = '\0';
    return STRATA_OK;
}

/* FOLDER/NAME or, with an empty name, FOLDER; false: too long, or not there. */
static bool join(const char *folder, const char *name, char path[PATH_MAX])
{
    int length = snprintf(path, PATH_MAX, "%s%s%s", folder, *name ? "/" : "", name);
    return length > 0 && length < PATH_MAX && access(path, R_OK) == 0;
}

/* The folder of the running program, and the names to try from there. */
static bool find_from_here(const char *variable, const char *const *names, size_t n,
                           const char *file, char folder[PATH_MAX])
{
    char here[PATH_MAX], path[PATH_MAX];
    const char *given = getenv(variable);
    if (given && *given)
        return snprintf(folder, PATH_MAX, "%s", given) < PATH_MAX &&
               join(given, file, path);
    if (place_of_strata(here, NULL) != STRATA_OK)
        return false;
    char *slash = strrchr(here, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; i < n; i++) {
        char found[PATH_MAX];
        if (join(here, names[i], found) && realpath(found, folder) &&
            join(folder, file, path))
            return true;
    }
    return false;
}

int place_of_collector(char folder[PATH_MAX], struct strata_error *error)
{
    static const char *const names[] = {"valgrind", "../libexec/strata/valgrind"};
    char found[PATH_MAX];
    /* Programs that the recorded one starts are looked for from other folders. */
    if (find_from_here("STRATA_VALGRIND", names, sizeof names / sizeof names[0],
                       COLLECTOR_FILE, found) &&
        realpath(found, folder))
        return STRATA_OK;
    return fail(error, STRATA_UNABLE,
                "the collector " COLLECTOR_FILE
                " is not there: install valgrind (sudo apt-get install valgrind) and build "
                "strata again, or set STRATA_VALGRIND to the folder that holds it");
}

int place_of_valgrind(char path[PATH_MAX], struct strata_error *error)
{
    if (path_search("valgrind", path) == 0)
        return STRATA_OK;
    return fail(
        error, STRATA_UNABLE,
        "valgrind is not installed, and --source sim runs the program with it: sudo "
        "apt-get install valgrind");
}

static bool machines_folder(char folder[PATH_MAX])
{
    /* of a build folder, of one within it, and of an installed program */
    static const char *const names[] = {"../machines", "../../machines",
                                        "../share/strata/machines"};
    return find_from_here("STRATA_MACHINES", names, sizeof names / sizeof names[0],
                          generic_machine, folder);
}

int place_of_machines(char folder[PATH_MAX], struct strata_error *error)
{
    if (machines_folder(folder))
        return STRATA_OK;
    return fail(error, STRATA_UNABLE,
                "the machines that come with strata are not where it was installed; set "
                "STRATA_MACHINES to their folder");
}

static int find_named(const char *name, char path[PATH_MAX], struct strata_error *error)
{
    char folder[PATH_MAX], file[PATH_MAX];
    if (snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && access(name, F_OK) == 0)
        return STRATA_OK;
    int cause = errno;
    if (strchr(name, '/') || !*name)
        return fail(error, STRATA_BAD_INPUT, "--machine %s: %s", name, strerror(cause));
    if (!machines_folder(folder))
        return fail(error, STRATA_BAD_INPUT,
                    "--machine %s: %s, and the machines that come with strata are not "
                    "there; set STRATA_MACHINES to their folder",
                    name, strerror(cause));
    snprintf(file, sizeof file, "%s.machine", name);
    if (join(folder, name, path) || join(folder, file, path))
        return STRATA_OK;
    return fail(
        error, STRATA_BAD_INPUT,
        "--machine %s: no such file, here or in %s; 'strata machines' lists those that "
        "come with strata",
        name, folder);
}

int place_of_machine(const char *name, char path[PATH_MAX], struct strata_error *error)
{
    char folder[PATH_MAX];
    if (name)
        return find_named(name, path, error);
    if (access(default_machine, F_OK) == 0) {
        snprintf(path, PATH_MAX, "%s", default_machine);
        return STRATA_OK;
    }
    if (state_file(STATE_LAST_MACHINE, false, path) && access(path, R_OK) == 0)
        return STRATA_OK;
    if (machines_folder(folder) && join(folder, generic_machine, path))
        return STRATA_OK;
    return fail(error, STRATA_BAD_INPUT,
                "which machine? There is no %s here, and %s is not where strata was "
                "installed: give --machine FILE, or run strata probe --save %s",
                default_machine, generic_machine, default_machine);
}

int place_of_metrics(char folder[PATH_MAX], struct strata_error *error)
{
    static const char *const names[] = {"../metrics", "../../metrics",
                                        "../share/strata/metrics"};
    if (find_from_here("STRATA_METRICS", names, sizeof names / sizeof names[0],
                       "cpus.table", folder))
        return STRATA_OK;
    return fail(error, STRATA_UNABLE,
                "the tables of events are not where strata was installed; set "
                "STRATA_METRICS to the folder that holds cpus.table");
}
