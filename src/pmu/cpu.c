/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of processors (metrics/cpus.table), and looking one up in it. */
#include "pmu/cpu.h"

#include "core/fail.h"
#include "core/file.h"
#include "pmu/ini.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_LIMIT = 1 << 20 };

/* Reading. */

/* Makes room for one more; -1 without memory. */
static int grow(void **array, size_t n, size_t size)
{
    if (n & (n - 1)) /* room is always a power of two */
        return 0;
    void *more = realloc(*array, (n ? 2 * n : 1) * size);
    if (!more)
        return -1;
    *array = more;
    return 0;
}

static int no_memory(const struct ini *ini)
{
    return fail(ini->error, STRATA_FAILED, "%s: out of memory", ini->file);
}

static int add_row(struct ini *ini, struct cpu_table *table, const char *word, char *key)
{
    if (strcmp(word, "cpu") != 0 || !*key)
        return ini_fail(ini, "[%.60s]: a section is [cpu NAME]", word);
    for (size_t i = 0; i < table->nrows; i++)
        if (strcmp(table->rows[i].key, key) == 0)
            return ini_fail(ini, "[cpu %.60s] is already in line %u", key,
                            (unsigned)table->rows[i].line);
    if (grow((void **)&table->rows, table->nrows, sizeof table->rows[0]) != 0)
        return no_memory(ini);
    table->rows[table->nrows++] =
        (struct cpu_row){.key = key, .events = "generic", .line = ini->line};
    return STRATA_OK;
}

static int add_match(struct ini *ini, struct cpu_table *table, struct cpu_match match)
{
    if (grow((void **)&table->matches, table->nmatches, sizeof table->matches[0]) != 0)
        return no_memory(ini);
    match.cpu = (uint32_t)table->nrows - 1;
    table->matches[table->nmatches++] = match;
    return STRATA_OK;
}

/* "0x30-0x3f" or "4". */
static bool read_range(char *word, uint32_t range[2])
{
    uint64_t first, last;
    char *dash = strchr(word, '-');
    if (dash)
        *dash = '\0';
    if (ini_number(word, &first) != 0)
        return false;
    last = first;
    if (dash && ini_number(dash + 1, &last) != 0)
        return false;
    range[0] = (uint32_t)first;
    range[1] = (uint32_t)last;
    return first <= last && last <= UINT32_MAX;
}

/* Words behind the models: "stepping 0-4", "core", "atom". */
static bool read_condition(char *word, char **rest, struct cpu_match *match)
{
    if (strcmp(word, "stepping") == 0) {
        char *range = ini_word(rest);
        return range && read_range(range, match->stepping);
    }
    match->id.core = strcmp(word, "core") == 0   ? CPU_CORE
                     : strcmp(word, "atom") == 0 ? CPU_ATOM
                                                 : 0;
    return match->id.core != 0;
}

enum { MODELS = 32 };

/* Splits the words of an x86 line; the number of model ranges, or -1. */
static int split_x86(char *value, struct cpu_match *match, uint32_t models[MODELS][2])
{
    uint64_t family;
    int n = 0;
    char *vendor = ini_word(&value), *word = ini_word(&value);
    if (!vendor || strlen(vendor) >= sizeof match->id.vendor || !word ||
        ini_number(word, &family) != 0 || family > UINT32_MAX)
        return -1;
    strcpy(match->id.vendor, vendor);
    match->id.family = (uint32_t)family;
    while ((word = ini_word(&value)))
        if (*word >= '0' && *word <= '9') {
            if (n == MODELS || !read_range(word, models[n++]))
                return -1;
        } else if (!read_condition(word, &value, match))
            return -1;
    return n ? n : -1;
}

static int add_x86(struct ini *ini, struct cpu_table *table, char *value)
{
    struct cpu_match match = {.stepping = {0, UINT32_MAX}};
    uint32_t models[MODELS][2];
    int n = split_x86(value, &match, models);
    if (n < 0)
        return ini_fail(ini, "x86: wanted is VENDOR FAMILY MODEL... [stepping N-N] "
                             "[core|atom], as GenuineIntel 6 0x55 stepping 0-4");
    int status = STRATA_OK;
    for (int i = 0; i < n && !status; i++) {
        memcpy(match.model, models[i], sizeof match.model);
        status = add_match(ini, table, match);
    }
    return status;
}

static int add_arm(struct ini *ini, struct cpu_table *table, char *value)
{
    uint64_t implementer, part;
    char *first = ini_word(&value), *second = ini_word(&value);
    if (!first || !second || ini_word(&value) || ini_number(first, &implementer) != 0 ||
        ini_number(second, &part) != 0 || implementer == 0 || implementer > 0xff ||
        part > 0xfff)
        return ini_fail(ini, "arm: wanted is IMPLEMENTER PART, as 0x41 0xd0c");
    return add_match(
        ini, table,
        (struct cpu_match){.implementer = (uint32_t)implementer, .part = (uint32_t)part});
}

static int take_key(struct ini *ini, struct cpu_table *table, const char *key, char *value)
{
    if (!table->nrows)
        return ini_fail(ini, "%.60s stands before any section; begin with [cpu NAME]", key);
    struct cpu_row *row = &table->rows[table->nrows - 1];
    if (strcmp(key, "x86") == 0)
        return add_x86(ini, table, value);
    if (strcmp(key, "arm") == 0)
        return add_arm(ini, table, value);
    if (!*value)
        return ini_fail(ini, "%.60s: a value is missing", key);
    if (strcmp(key, "name") == 0)
        row->name = value;
    else if (strcmp(key, "events") == 0)
        row->events = value;
    else
        return ini_fail(ini, "%.60s: no such key; there are name, events, x86 and arm",
                        key);
    return STRATA_OK;
}

static int check_rows(const struct ini *ini, const struct cpu_table *table)
{
    for (size_t i = 0; i < table->nrows; i++)
        if (!table->rows[i].name) {
            struct ini at = *ini;
            at.line = table->rows[i].line;
            return ini_fail(&at,
                            "[cpu %.60s] has no name; add a line such as "
                            "`name = Intel Skylake`",
                            table->rows[i].key);
        }
    return STRATA_OK;
}

static int parse(struct ini *ini, struct cpu_table *table)
{
    char *a, *b;
    int status = STRATA_OK;
    for (enum ini_kind kind; !status && (kind = ini_next(ini, &a, &b)) != INI_END;)
        status = kind == INI_SECTION ? add_row(ini, table, a, b)
                 : kind == INI_KEY   ? take_key(ini, table, a, b)
                                     : STRATA_BAD_INPUT;
    return status ? status : check_rows(ini, table);
}

int cpu_table_parse(const char *file, const char *text, size_t size,
                    struct cpu_table *table, struct strata_error *error)
{
    struct ini ini;
    *table = (struct cpu_table){.text = ini_copy(file, text, size, error)};
    if (!table->text)
        return error ? error->status : STRATA_FAILED;
    ini_begin(&ini, file, table->text, error);
    int status = parse(&ini, table);
    if (status)
        cpu_table_release(table);
    return status;
}

int cpu_table_read(const char *path, struct cpu_table *table, struct strata_error *error)
{
    char *text;
    size_t size;
    *table = (struct cpu_table){.nrows = 0};
    int status = read_file(path, TABLE_LIMIT, &text, &size, error);
    if (status)
        return status;
    status = cpu_table_parse(path, text, size, table, error);
    free(text);
    return status;
}

void cpu_table_release(struct cpu_table *table)
{
    free(table->text);
    free(table->rows);
    free(table->matches);
    *table = (struct cpu_table){.nrows = 0};
}

/* Looking up. */

static bool within(const uint32_t range[2], uint32_t value)
{
    return value >= range[0] && value <= range[1];
}

static bool matches(const struct cpu_match *match, const struct cpu_id *id)
{
    if (match->implementer)
        return ((id->midr >> 24) & 0xff) == match->implementer &&
               ((id->midr >> 4) & 0xfff) == match->part;
    return !id->midr && strcmp(match->id.vendor, id->vendor) == 0 &&
           match->id.family == id->family && within(match->model, id->model) &&
           within(match->stepping, id->stepping) &&
           (!match->id.core || match->id.core == id->core);
}

/* The first that fits: more special lines stand before more general ones. */
const struct cpu_row *cpu_find(const struct cpu_table *table, const struct cpu_id *id)
{
    for (size_t i = 0; i < table->nmatches; i++)
        if (matches(&table->matches[i], id))
            return &table->rows[table->matches[i].cpu];
    return NULL;
}
