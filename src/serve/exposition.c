/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing what Prometheus reads. */
#include "serve/exposition.h"

#include "core/utf8.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

int expose_is_name(const char *name)
{
    if (!*name || isdigit((unsigned char)*name))
        return 0;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_' && *name != ':')
            return 0;
    return 1;
}

/* A quotation mark is escaped in labels only. */
static void put_escaped(FILE *file, const char *text, int quoted)
{
    char clean[1024];
    for (const char *at = utf8_clean(text, clean, sizeof clean); *at; at++) {
        if (*at == '\\' || (*at == '"' && quoted))
            putc('\\', file);
        putc(*at, file);
    }
}

void expose_family(struct exposition *out, const char *name, const char *type,
                   const char *help)
{
    out->family = name;
    out->labels = 0;
    fprintf(out->file, "# HELP %s ", name);
    put_escaped(out->file, help, 0);
    fprintf(out->file, "\n# TYPE %s %s\n", name, type);
}

void expose_label(struct exposition *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    if (out->labels++)
        putc(',', out->file);
    else
        fprintf(out->file, "%s{", out->family);
    fprintf(out->file, "%s=\"", name);
    put_escaped(out->file, value, 1);
    putc('"', out->file);
}

void expose_label_number(struct exposition *out, const char *name, long value)
{
    char text[24];
    snprintf(text, sizeof text, "%ld", value);
    expose_label(out, name, text);
}

/* What stands before the number. */
static FILE *end_labels(struct exposition *out)
{
    fputs(out->labels ? "} " : out->family, out->file);
    if (!out->labels)
        putc(' ', out->file);
    out->labels = 0;
    return out->file;
}

void expose_count(struct exposition *out, uint64_t value)
{
    fprintf(end_labels(out), "%" PRIu64 "\n", value);
}

void expose_seconds(struct exposition *out, uint64_t ns)
{
    fprintf(end_labels(out), "%" PRIu64 ".%09u\n", ns / 1000000000,
            (unsigned)(ns % 1000000000));
}

void expose_number(struct exposition *out, double value)
{
    fprintf(end_labels(out), "%.12g\n", value);
}
