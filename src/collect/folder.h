/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The folder of one run, through which strata and the collector speak:
 *
 *     config      struct raw_header: what to do (profile/raw.h)
 *     command     one byte: 's' collect, 'p' pause; the collector looks now and then
 *     PID-N.raw   what each process leaves
 *     PID.log     what valgrind itself says */
#ifndef COLLECT_FOLDER_H
#define COLLECT_FOLDER_H

#include "profile/raw.h"

#include <limits.h>
#include <stdbool.h>
#include <strata/error.h>
#include <sys/types.h>

struct run_folder {
    char path[PATH_MAX]; /* absolute: the program may change its folder */
    bool stays;          /* the user asked for it by name */
};

/* What a process needs at the least for its raw file. */
enum { RAW_LEAST = 2 << 20 };

/* Makes a folder that only this user can look into: `name`, which must not exist or be
 * empty, or, if NULL, a new one in $TMPDIR. Fails where the disk has no room for it. */
int run_folder_make(struct run_folder *folder, const char *name,
                    struct strata_error *error);

/* Writes config. */
int run_folder_configure(const struct run_folder *folder, const struct raw_header *config,
                         struct strata_error *error);

/* Writes command; -1: it could not. */
int run_folder_command(const struct run_folder *folder, char command);

/* The raw files, those of process `first` before the others. The caller frees the array,
 * which is one block. */
int run_folder_raws(const struct run_folder *folder, pid_t first, char ***raws, size_t *n,
                    struct strata_error *error);

/* What valgrind said, as one line without its marks, cut to size; "" if nothing. */
void run_folder_log(const struct run_folder *folder, char *text, size_t size);

/* Bytes that are free where the folder is. */
uint64_t run_folder_free(const struct run_folder *folder);

/* Removes a folder that does not stay, with all that is in it. */
void run_folder_remove(const struct run_folder *folder);

#endif
