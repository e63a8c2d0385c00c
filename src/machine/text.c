/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing a machine file: every key of every section, defaults too, so that the file
 * says all and a later change of a default does not change it. */
#include "machine/text.h"

#include "core/fail.h"
#include "core/file.h"
#include "machine/check.h"
#include "machine/locale.h"

#include <stdio.h>
#include <stdlib.h>

/* Each line behind a '#'; other control characters would be none of a text file's. */
static void put_comment(FILE *out, const char *comment)
{
    if (!*comment)
        return;
    fputs("# ", out);
    for (; *comment; comment++) {
        if (*comment == '\n' && comment[1])
            fputs("\n# ", out);
        else if (*comment != '\n')
            fputc((unsigned char)*comment < ' ' ? ' ' : *comment, out);
    }
    fputc('\n', out);
}

static void put_section(FILE *out, const struct strata_machine *machine,
                        enum section section, uint32_t i)
{
    const struct section_type *type = &section_types[section];
    const void *record = record_of(machine, section, i);
    char value[VALUE_TEXT];
    fprintf(out, "[%s%s%s]\n", type->name, type->named ? " " : "",
            type->named ? (const char *)record : "");
    for (uint32_t k = 0; k < type->nkeys; k++)
        fprintf(out, "%s = %s\n", type->keys[k].name,
                key_format(&type->keys[k], record, value));
}

/* Returns 0, or -1 if the stream failed. */
static int put_machine(FILE *out, const struct strata_machine *machine, const char *comment)
{
    if (comment)
        put_comment(out, comment);
    for (int s = 0; s < SECTIONS; s++)
        for (uint32_t i = 0; i < record_count(machine, s); i++) {
            if (ftell(out) > 0)
                fputc('\n', out);
            put_section(out, machine, s, i);
        }
    int failed = ferror(out);
    return fclose(out) != 0 || failed ? -1 : 0;
}

int machine_text(const struct strata_machine *machine, const char *comment, char **text,
                 size_t *size, struct strata_error *error)
{
    struct c_locale locale;
    char *made = NULL;
    size_t length = 0;
    int status = c_locale_enter(&locale, error);
    if (status)
        return status;
    status = machine_check(machine, NULL, error);
    if (status)
        goto out;
    FILE *out = open_memstream(&made, &length);
    if (!out || put_machine(out, machine, comment) != 0) {
        status = fail(error, STRATA_FAILED, "out of memory");
        goto out;
    }
    *text = made;
    *size = length;
    made = NULL;
out:
    free(made);
    c_locale_leave(&locale);
    return status;
}

int strata_machine_write(const char *path, const struct strata_machine *machine,
                         const char *comment, struct strata_error *error)
{
    char *text = NULL;
    size_t size = 0;
    int status = machine_text(machine, comment, &text, &size, error);
    if (!status)
        status = write_file(path, text, size, error);
    free(text);
    return status;
}
