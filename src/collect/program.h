/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program that is to be recorded: where it is, and whether that can be done. */
#ifndef COLLECT_PROGRAM_H
#define COLLECT_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <strata/error.h>

struct program {
    char path[PATH_MAX];
    bool is_opaque; /* linked statically and stripped: its allocator cannot be found */
};

/* Finds a program as a shell does. STRATA_BAD_INPUT: there is none, or it may not be run;
 * STRATA_UNABLE: it is one that valgrind cannot run (setuid, or for another processor).
 * A script is fine: valgrind runs its interpreter. */
int program_find(const char *name, struct program *program, struct strata_error *error);

/* A file with that name in a folder of PATH that may be executed, or the name itself where
 * it has a slash. Returns 0, or the errno that a shell would report. */
int path_search(const char *name, char path[PATH_MAX]);

#endif
