/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading tables of events; docs/format/metrics.md describes the text. */
#include "pmu/events.h"

#include "core/fail.h"
#include "core/file.h"
#include "pmu/ini.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_LIMIT = 1 << 20, LIKE_DEPTH = 4, NAME_MOST = 40 };

struct parser {
    struct ini ini;
    struct event_table *table;
    enum { NOWHERE, IN_TABLE, IN_EVENTS } section;
};

static const char name_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

static int open_section(struct parser *parser, const char *word, const char *rest)
{
    parser->section = strcmp(word, "table") == 0    ? IN_TABLE
                      : strcmp(word, "events") == 0 ? IN_EVENTS
                                                    : NOWHERE;
    if (!parser->section || *rest)
        return ini_fail(&parser->ini,
                        "[%.60s%s%.60s]: no such section; there are [table] and [events]",
                        word, *rest ? " " : "", rest);
    return STRATA_OK;
}

static int take_fact(struct parser *parser, const char *key, const char *value)
{
    struct event_table *table = parser->table;
    const char **field = strcmp(key, "name") == 0   ? &table->name
                         : strcmp(key, "pmu") == 0  ? &table->pmu
                         : strcmp(key, "like") == 0 ? &table->like
                                                    : NULL;
    if (!field)
        return ini_fail(&parser->ini,
                        "%.60s: no such key in [table]; it may have name, pmu and like",
                        key);
    if (*field && **field)
        return ini_fail(&parser->ini, "%s is given twice", key);
    if (!*value)
        return ini_fail(&parser->ini, "%s: a value is missing", key);
    if (field == &table->like &&
        value[strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-")])
        return ini_fail(&parser->ini, "like = %.60s: the name of another table is wanted",
                        value);
    *field = value;
    return STRATA_OK;
}

/* The text in quotes at the end of a row, which is cut off; NULL: there is none. */
static char *take_about(char *value)
{
    size_t length = strlen(value);
    char *open = strchr(value, '"');
    if (!open || length < 3 || value[length - 1] != '"' || open == value + length - 1 ||
        strchr(open + 1, '"') != value + length - 1)
        return NULL;
    value[length - 1] = '\0';
    *open = '\0';
    return open[1] ? open + 1 : NULL;
}

/* Splits "A | B |" into ways. */
static int split_ways(struct parser *parser, struct event_row *row, char *value)
{
    char *next = value;
    for (char *way; next;) {
        way = strsep(&next, "|");
        char *word = ini_word(&way);
        if (!word && !next)
            break; /* behind the last | */
        if (!word || ini_word(&way) || row->nways == EVENT_WAYS)
            return ini_fail(&parser->ini,
                            "%s: wanted are 1 to %d names or codes, each followed by |, "
                            "and a text in quotes",
                            row->name, EVENT_WAYS);
        row->ways[row->nways++] = word;
    }
    if (!row->nways)
        return ini_fail(&parser->ini, "%s: no way to count it; write none for that",
                        row->name);
    if (row->nways == 1 && strcmp(row->ways[0], "none") == 0)
        row->nways = 0;
    return STRATA_OK;
}

static int check_name(struct parser *parser, const char *name)
{
    if (!*name || name[strspn(name, name_letters)] || strlen(name) > NAME_MOST)
        return ini_fail(&parser->ini,
                        "%.60s: a name has small letters, digits and _, %d at most", name,
                        NAME_MOST);
    for (size_t i = 0; i < parser->table->nrows; i++)
        if (strcmp(parser->table->rows[i].name, name) == 0)
            return ini_fail(&parser->ini, "%s is already in line %u", name,
                            (unsigned)parser->table->rows[i].line);
    return STRATA_OK;
}

static int take_row(struct parser *parser, const char *name, char *value)
{
    struct event_table *table = parser->table;
    struct event_row row = {.name = name, .line = parser->ini.line};
    int status = check_name(parser, name);
    if (status)
        return status;
    row.about = take_about(value);
    if (!row.about)
        return ini_fail(&parser->ini,
                        "%s: what it counts is missing, in \"quotes\" at the "
                        "end of the line",
                        name);
    status = split_ways(parser, &row, value);
    if (status)
        return status;
    struct event_row *more = realloc(table->rows, (table->nrows + 1) * sizeof *more);
    if (!more)
        return fail(parser->ini.error, STRATA_FAILED, "%s: out of memory",
                    parser->ini.file);
    table->rows = more;
    table->rows[table->nrows++] = row;
    return STRATA_OK;
}

static int take_key(struct parser *parser, const char *key, char *value)
{
    if (parser->section == IN_TABLE)
        return take_fact(parser, key, value);
    if (parser->section == IN_EVENTS)
        return take_row(parser, key, value);
    return ini_fail(&parser->ini, "%.60s stands before any section; begin with [table]",
                    key);
}

static int parse(struct parser *parser)
{
    char *a, *b;
    int status = STRATA_OK;
    for (enum ini_kind kind; !status && (kind = ini_next(&parser->ini, &a, &b)) != INI_END;)
        status = kind == INI_SECTION ? open_section(parser, a, b)
                 : kind == INI_KEY   ? take_key(parser, a, b)
                                     : STRATA_BAD_INPUT;
    if (!status && !parser->table->name)
        status = fail(parser->ini.error, STRATA_BAD_INPUT,
                      "%s: no name in [table]; add a line such as `name = Intel Skylake`",
                      parser->ini.file);
    return status;
}

int event_table_parse(const char *file, const char *text, size_t size,
                      struct event_table *table, struct strata_error *error)
{
    struct parser parser = {.table = table};
    *table = (struct event_table){.text = ini_copy(file, text, size, error), .pmu = ""};
    if (!table->text)
        return error ? error->status : STRATA_FAILED;
    ini_begin(&parser.ini, file, table->text, error);
    int status = parse(&parser);
    if (status)
        event_table_release(table);
    return status;
}

static int read_at_depth(const char *folder, const char *name, int depth,
                         struct event_table *table, struct strata_error *error)
{
    char path[PATH_MAX], *text;
    size_t size;
    *table = (struct event_table){.nrows = 0};
    if (depth > LIKE_DEPTH)
        return fail(error, STRATA_BAD_INPUT,
                    "%s/%s.events: tables that are like each "
                    "other in a circle",
                    folder, name);
    if (snprintf(path, sizeof path, "%s/%s.events", folder, name) >= (int)sizeof path)
        return fail(error, STRATA_BAD_INPUT, "%.80s: the name is too long", folder);
    int status = read_file(path, TABLE_LIMIT, &text, &size, error);
    if (status)
        return status;
    status = event_table_parse(path, text, size, table, error);
    free(text);
    if (status || !table->like)
        return status;
    table->base = calloc(1, sizeof *table->base);
    status = table->base ? read_at_depth(folder, table->like, depth + 1, table->base, error)
                         : fail(error, STRATA_FAILED, "%s: out of memory", path);
    if (status)
        event_table_release(table);
    return status;
}

int event_table_read(const char *folder, const char *name, struct event_table *table,
                     struct strata_error *error)
{
    return read_at_depth(folder, name, 1, table, error);
}

void event_table_release(struct event_table *table)
{
    if (table->base)
        event_table_release(table->base);
    free(table->base);
    free(table->text);
    free(table->rows);
    *table = (struct event_table){.nrows = 0};
}

const struct event_row *event_find(const struct event_table *table, const char *name,
                                   const struct event_table **owner)
{
    for (; table; table = table->base)
        for (size_t i = 0; i < table->nrows; i++)
            if (strcmp(table->rows[i].name, name) == 0) {
                if (owner)
                    *owner = table;
                return &table->rows[i];
            }
    return NULL;
}

void event_each(const struct event_table *table,
                void (*visit)(const struct event_table *owner, const struct event_row *row,
                              void *context),
                void *context)
{
    for (const struct event_table *at = table; at; at = at->base)
        for (size_t i = 0; i < at->nrows; i++)
            if (event_find(table, at->rows[i].name, NULL) == &at->rows[i])
                visit(at, &at->rows[i], context);
}

const char *event_table_pmu(const struct event_table *table)
{
    for (; table; table = table->base)
        if (*table->pmu)
            return table->pmu;
    return "";
}
