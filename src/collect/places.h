/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the files are that come with strata: the collector and the machines.
 *
 * They are found from the running program (host/shipped.h); STRATA_VALGRIND and
 * STRATA_MACHINES name other folders. */
#ifndef COLLECT_PLACES_H
#define COLLECT_PLACES_H

#include <limits.h>
#include <strata/error.h>

/* The name of the collector's file, as valgrind looks for it. */
#if defined(__aarch64__)
#define COLLECTOR_FILE "strata-arm64-linux"
#else
#define COLLECTOR_FILE "strata-amd64-linux"
#endif

/* The folder of the collector, for VALGRIND_LIB. STRATA_UNABLE where there is none. */
int place_of_collector(char folder[PATH_MAX], struct strata_error *error);

/* A file that PATH leads to; STRATA_UNABLE where valgrind is not installed. */
int place_of_valgrind(char path[PATH_MAX], struct strata_error *error);

/* The machine file that `name` means: a path, else a name in the folder of machines, with
 * or without its ending. NULL is this.machine, which `./run` leaves in the current folder,
 * or the one that the last probe saved, or else the generic one. STRATA_BAD_INPUT where
 * there is none. */
int place_of_machine(const char *name, char path[PATH_MAX], struct strata_error *error);

/* The folder of the machines that come with strata. STRATA_UNABLE where there is none. */
int place_of_machines(char folder[PATH_MAX], struct strata_error *error);

#endif
