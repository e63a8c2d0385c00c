/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the files are that come with strata.
 *
 * They are found from the running program, or from the shared library that this is a part
 * of: in the tree that it was built in, or under the prefix that it was installed to. A
 * variable of the environment may name another folder. */
#ifndef HOST_SHIPPED_H
#define HOST_SHIPPED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <strata/error.h>

/* The running program itself. */
int place_of_program(char path[PATH_MAX], struct strata_error *error);

/* FOLDER/NAME or, with an empty name, FOLDER; false: too long, or not there. */
bool shipped_join(const char *folder, const char *name, char path[PATH_MAX]);

/* The folder that holds `file`: the one that the variable names, or else the first of n
 * names, as seen from the program's folder or the library's. */
bool shipped_folder(const char *variable, const char *const *names, size_t n,
                    const char *file, char folder[PATH_MAX]);

/* The folder of the tables of events and metrics. STRATA_UNABLE where there is none. */
int place_of_metrics(char folder[PATH_MAX], struct strata_error *error);

#endif
