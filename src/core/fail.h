/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Filling in a strata_error: `return fail(error, STRATA_BAD_INPUT, "...", ...)`. */
#ifndef CORE_FAIL_H
#define CORE_FAIL_H

#include <strata/error.h>

/* Formats the message into *error (which may be NULL) and returns status. */
int fail(struct strata_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
