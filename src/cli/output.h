/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether a file can be written, asked before the work whose result goes there. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <strata/error.h>

/* `option` is the long name without dashes, for the message. STRATA_BAD_INPUT: the path
 * is empty, a folder, or cannot be written to. */
int output_check(const char *option, const char *path, struct strata_error *error);

#endif
