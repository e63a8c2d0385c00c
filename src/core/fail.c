/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a message is put together and where it is kept. */
#include "core/fail.h"

#include <stdarg.h>
#include <stdio.h>

int fail(struct strata_error *error, int status, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
        error->status = status;
    }
    return status;
}
