/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One run of a program under a collector, from a private folder to the raw files in it. */
#ifndef COLLECT_COLLECT_H
#define COLLECT_COLLECT_H

#include "collect/child.h"
#include "collect/folder.h"
#include "collect/program.h"

#include <stddef.h>

struct collect_options {
    struct raw_header config; /* what to do; filled in by collect_defaults() */
    char *const *argv;        /* the program and its arguments, then NULL */
    const char *keep;         /* folder for raw files that stays; NULL: a temporary one */
    double duration;          /* seconds, then the program gets SIGTERM; 0: never */
    bool follow;              /* programs that it starts are recorded too */
    double interval;          /* seconds between calls of tick() while it runs; 0: none */
    void (*tick)(const struct run_folder *folder, void *context);
    void *context; /* of tick() */
};

/* A run: what it goes by, and then what it left. */
struct collected {
    const struct collect_options *options; /* while it runs */
    struct run_folder folder;
    bool paused;
    char valgrind[PATH_MAX], strata[PATH_MAX], library[PATH_MAX + 16];
    char **raws; /* those of the program first; n may be 0 */
    size_t n;
    struct child_end end;
};

/* Exact collection with data accesses only, seed 1. */
void collect_defaults(struct collect_options *options);

/* Finds the collector and makes the folder: all that can fail before the program starts.
 * On success the caller ends with collect_release() and before that, unless the raw files
 * are to be kept, run_folder_remove(). */
int collect_prepare(const struct collect_options *options, struct collected *collected,
                    struct strata_error *error);

/* Runs the program. SIGUSR1 pauses the collection and lets it go on, each time. Signals
 * for strata stay blocked after it. */
int collect_run(const struct collect_options *options, struct collected *collected,
                struct strata_error *error);
void collect_release(struct collected *collected);

#endif
