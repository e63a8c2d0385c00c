/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata export: a profile in the format of another tool.
 *
 *     $ strata export equake.strata -o callgrind.out.equake
 *     $ kcachegrind callgrind.out.equake
 *
 * What is written to a file appears whole or not at all. */
#include "cli/commands.h"
#include "cli/output.h"
#include "core/fail.h"
#include "core/file.h"
#include "report/callgrind.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct format {
    const char *name;
    int (*write)(FILE *out, const struct profile *profile, struct strata_error *error);
} formats[] = {
    {"callgrind", callgrind_export}, /* the default */
};

static const struct format *find_format(const char *name)
{
    for (size_t i = 0; name && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return name ? NULL : &formats[0];
}

static int write_output(const struct profile *profile, const struct format *format,
                        const char *path, struct strata_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return fail(error, STRATA_FAILED, "%s: out of memory", path);
    int status = format->write(out, profile, error);
    bool lost = ferror(out);
    lost |= fclose(out) != 0;
    if (!status && lost)
        status = fail(error, STRATA_FAILED, "%s: out of memory", path);
    if (!status)
        status = write_file(path, text, size, error);
    free(text);
    return status;
}

int cmd_export(const struct options *options, struct strata_error *error)
{
    const char *path = option_text(options, "output");
    const char *name = option_text(options, "format");
    const struct format *format = find_format(name);
    struct profile *profile;
    if (!options->noperands)
        return fail(
            error, STRATA_BAD_INPUT,
            "export needs a profile: strata export FILE; 'strata record' makes one");
    if (!format)
        return fail(error, STRATA_BAD_INPUT, "--format %s: there is %s only", name,
                    formats[0].name);
    if (!path && isatty(STDOUT_FILENO))
        return fail(error, STRATA_BAD_INPUT,
                    "this would fill the terminal: give -o FILE, or redirect it, as in "
                    "strata export %s > callgrind.out",
                    options->operands[0]);
    int status = path ? output_check("output", path, error) : STRATA_OK;
    if (!status)
        status = profile_open(options->operands[0], &profile, error);
    if (status)
        return status;
    status = path ? write_output(profile, format, path, error)
                  : format->write(stdout, profile, error);
    profile_close(profile);
    return status;
}
