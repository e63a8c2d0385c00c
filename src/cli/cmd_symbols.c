/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata symbols: the variables of programs and libraries, for collectors, which cannot
 * read debug information themselves. Not in the help.
 *
 *     = /usr/bin/prog
 *     4040 28 counts
 *     4070 14 parse::cache
 *     = /lib/x86_64-linux-gnu/libc.so.6
 *     ...
 *
 * A collector asks for all files at once and cannot go on without an answer, so a file
 * that cannot be read has no variables, and that is all. */
#include "attrib/symbols.h"
#include "cli/commands.h"
#include "core/fail.h"

int cmd_symbols(const struct options *options, struct strata_error *error)
{
    for (int i = 0; i < options->noperands; i++) {
        struct symbols symbols;
        printf("= %s\n", options->operands[i]);
        int status = symbols_read(options->operands[i], &symbols, error);
        if (status == STRATA_FAILED)
            return status;
        symbols_write_map(&symbols, stdout);
        symbols_release(&symbols);
    }
    return STRATA_OK;
}
