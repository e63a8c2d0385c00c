/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding what comes with strata; places.h has the contract. */
#include "collect/places.h"

#include "collect/program.h"
#include "core/fail.h"
#include "host/shipped.h"
#include "host/state.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char default_machine[] = "this.machine";
static const char generic_machine[] = "generic.machine";

int place_of_collector(char folder[PATH_MAX], struct strata_error *error)
{
    static const char *const names[] = {"valgrind", "../libexec/strata/valgrind"};
    char found[PATH_MAX];
    /* Programs that the recorded one starts are looked for from other folders. */
    if (shipped_folder("STRATA_VALGRIND", names, sizeof names / sizeof names[0],
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
    return shipped_folder("STRATA_MACHINES", names, sizeof names / sizeof names[0],
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
    if (shipped_join(folder, name, path) || shipped_join(folder, file, path))
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
    if (machines_folder(folder) && shipped_join(folder, generic_machine, path))
        return STRATA_OK;
    return fail(error, STRATA_BAD_INPUT,
                "which machine? There is no %s here, and %s is not where strata was "
                "installed: give --machine FILE, or run strata probe --save %s",
                default_machine, generic_machine, default_machine);
}
