/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whole files: read with a limit, written so that they appear whole or not at all. */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include <stddef.h>
#include <strata/error.h>

enum { FILE_LIMIT = 16 << 20 }; /* bytes: no input of strata is meant to be larger */

/* Reads a file, pipe or device to its end into *text, which the caller frees. *size
 * counts its bytes; one NUL that is not counted follows them. Fails with
 * STRATA_BAD_INPUT if it cannot be opened or is larger than limit (at most
 * FILE_LIMIT, which 0 stands for), and with STRATA_FAILED if reading breaks off. */
int read_file(const char *path, size_t limit, char **text, size_t *size,
              struct strata_error *error);

/* Writes a file under a temporary name beside its place and then renames it. A
 * symbolic link is followed (one that leads nowhere is replaced), an existing file's
 * permissions are kept, and what is no regular file (a pipe, /dev/stdout) is written to
 * as it is. Fails with STRATA_FAILED; then the old file is as it was and no temporary
 * one is left. Not synchronised to the disk: after a power failure the old or an empty
 * file may be there. */
int write_file(const char *path, const char *text, size_t size, struct strata_error *error);

/* Makes a new, empty file beside `target`, to be renamed to it when it is complete. Its
 * name replaces *name, which is NULL or from malloc(), and is the caller's to free.
 * Returns the descriptor, open for writing, or -1 and errno. */
int open_beside(const char *target, char **name);

#endif
