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
 * that cannot be read has no variables, and that is all. With --cache the answers of one
 * run are kept for its other processes, most of which use the same libraries. */
#include "attrib/symbols.h"
#include "cli/commands.h"
#include "core/fail.h"
#include "core/file.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The place in the cache for a file as it is now; -1: none. */
static int cache_place(const char *folder, const char *file, char place[PATH_MAX])
{
    struct stat now;
    if (!folder || stat(file, &now) != 0)
        return -1;
    int length =
        snprintf(place, PATH_MAX, "%s/symbols-%llx-%llx-%llx-%llx.%lx", folder,
                 (unsigned long long)now.st_dev, (unsigned long long)now.st_ino,
                 (unsigned long long)now.st_size, (unsigned long long)now.st_mtim.tv_sec,
                 (unsigned long)now.st_mtim.tv_nsec);
    return length < PATH_MAX ? 0 : -1;
}

/* The map of a file as text, which the caller frees; *text NULL: it has none. */
static int make_map(const char *file, char **text, size_t *size, struct strata_error *error)
{
    struct symbols symbols;
    *text = NULL;
    *size = 0;
    int status = symbols_read(file, &symbols, error);
    if (status)
        return status == STRATA_BAD_INPUT ? STRATA_OK : status;
    FILE *map = open_memstream(text, size);
    if (map)
        symbols_write_map(&symbols, map);
    symbols_release(&symbols);
    if (!map || fclose(map) != 0)
        return fail(error, STRATA_FAILED, "%s: out of memory for its symbols", file);
    return STRATA_OK;
}

static int print_map(const char *folder, const char *file, struct strata_error *error)
{
    char place[PATH_MAX], *text = NULL;
    size_t size = 0;
    int status = STRATA_OK;
    bool cached = cache_place(folder, file, place) == 0;
    if (!cached || read_file(place, 0, &text, &size, NULL) != STRATA_OK) {
        status = make_map(file, &text, &size, error);
        if (cached && text)
            (void)write_file(place, text, size, NULL); /* without it, it is slower */
    }
    printf("= %s\n", file);
    if (text)
        fwrite(text, 1, size, stdout);
    free(text);
    return status;
}

int cmd_symbols(const struct options *options, struct strata_error *error)
{
    int status = STRATA_OK;
    for (int i = 0; i < options->noperands && !status; i++)
        status = print_map(option_text(options, "cache"), options->operands[i], error);
    return status;
}
