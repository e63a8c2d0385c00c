/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Totals, provenance and notes, as view_parts.h promises them. */
#include "views/view_parts.h"

#include "core/fail.h"
#include "core/units.h"
#include "views/selection.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the rows of a statement one after the other, and frees it. take() returns -1
 * where memory is short. */
static int each_row(const struct profile *profile, sqlite3_stmt *statement,
                    int (*take)(void *context, sqlite3_stmt *row), void *context,
                    struct strata_error *error)
{
    int code = SQLITE_DONE, bad = 0, status = STRATA_OK;
    while (!bad && (code = sqlite3_step(statement)) == SQLITE_ROW)
        bad = take(context, statement);
    if (bad)
        status = fail(error, STRATA_FAILED, "%s: out of memory", profile->path);
    else if (code != SQLITE_DONE)
        status = sql_damaged(profile->db, profile->path, error);
    sqlite3_finalize(statement);
    return status;
}

static void put_count(struct table *table, size_t column, sqlite3_stmt *row, int from)
{
    if (sqlite3_column_type(row, from) != SQLITE_NULL)
        table_count(table, column, (uint64_t)sqlite3_column_int64(row, from));
}

/* Levels. */

static const struct column level_columns[] = {
    {"name", "level", COLUMN_TEXT, NULL, 0, false},
    {"kind", "kind", COLUMN_TEXT, NULL, 9, false},
    {"level", "level", COLUMN_COUNT, NULL, 10, false},
    {"holds", "holds", COLUMN_TEXT, NULL, 8, false},
    {"accesses", "accesses", COLUMN_COUNT, NULL, 1, false},
    {"hits", "hits", COLUMN_COUNT, NULL, 5, false},
    {"misses", "misses", COLUMN_COUNT, NULL, 2, false},
    {"misses_pct", "%missed", COLUMN_PERCENT, NULL, 3, false},
    {"prefetches", "prefetches", COLUMN_COUNT, NULL, 6, false},
    {"evictions", "evictions", COLUMN_COUNT, NULL, 7, false},
};

enum { LEVEL_COLUMNS = sizeof level_columns / sizeof *level_columns };

static int take_level(void *context, sqlite3_stmt *row)
{
    struct table *table = context;
    const char *name = (const char *)sqlite3_column_text(row, 0);
    const char *kind = (const char *)sqlite3_column_text(row, 1);
    char both[64];
    bool tlb = kind && strcmp(kind, "tlb") == 0;
    snprintf(both, sizeof both, "%s%s", name ? name : "", tlb ? " TLB" : "");
    table_row(table);
    table_text(table, 0, both);
    for (int i = 1; i < LEVEL_COLUMNS; i++)
        if (level_columns[i].type == COLUMN_TEXT)
            table_text(table, (size_t)i, (const char *)sqlite3_column_text(row, i));
        else if (level_columns[i].type == COLUMN_PERCENT)
            table_number(table, (size_t)i, sqlite3_column_double(row, i));
        else
            put_count(table, (size_t)i, row, i);
    if (tlb) {
        table_none(table, table_find(table, "prefetches"));
        table_none(table, table_find(table, "evictions"));
    }
    return table->failed ? -1 : 0;
}

int view_levels(struct view *view, const struct profile *profile,
                const struct view_query *query, struct strata_error *error)
{
    static const char text[] =
        "SELECT name, kind, level, holds, SUM(accesses), SUM(hits), SUM(misses), "
        "CASE WHEN SUM(accesses) > 0 THEN 100.0 * SUM(misses) / SUM(accesses) ELSE 0 END, "
        "SUM(prefetches), SUM(evictions) "
        "FROM level{processes} GROUP BY position "
        "HAVING kind = 'cache' OR SUM(accesses) > 0"; /* TLBs of pages that none has */
    sqlite3_stmt *statement;
    if (query->object || query->function)
        return fail(error, STRATA_BAD_INPUT,
                    "totals are of the whole run; leave --%s out, or ask for objects or "
                    "functions",
                    query->object ? "object" : "function");
    snprintf(view->title, sizeof view->title, "caches and TLBs");
    for (size_t i = 0; i < LEVEL_COLUMNS; i++)
        table_column(&view->rows, level_columns[i]);
    int status = selection_prepare(profile, query, text, &statement, error);
    if (!status)
        status = each_row(profile, statement, take_level, &view->rows, error);
    if (status)
        return status;
    status = selection_prepare(profile, query, "SELECT {sums} FROM cell c{cells}",
                               &statement, error);
    if (status)
        return status;
    struct figure_pair total = {0};
    if (sqlite3_step(statement) == SQLITE_ROW)
        figures_read(profile, statement, 0, &total);
    else
        status = sql_damaged(profile->db, profile->path, error);
    sqlite3_finalize(statement);
    figures_columns(profile, &view->totals, false);
    table_row(&view->totals);
    figures_fill(profile, &view->totals, 0, &total, &total, false);
    return status;
}

/* Processes. */

static const struct column process_columns[] = {
    {"command", "process", COLUMN_TEXT, NULL, 0, false},
    {"pid", "pid", COLUMN_ID, NULL, 1, false},
    {"parent", "parent", COLUMN_ID, NULL, 5, false},
    {"end", "end", COLUMN_TEXT, NULL, 2, false},
    {"status", "status", COLUMN_ID, NULL, 3, false},
    {"whole", "whole", COLUMN_ID, NULL, 7, false},
    {"instructions", "instructions", COLUMN_COUNT, NULL, 4, false},
    {"cycles", "cycles", COLUMN_COUNT, NULL, 6, false},
};

enum { PROCESS_COLUMNS = sizeof process_columns / sizeof *process_columns };

static int take_process(void *context, sqlite3_stmt *row)
{
    struct table *table = context;
    table_row(table);
    for (int i = 0; i < PROCESS_COLUMNS; i++)
        if (process_columns[i].type == COLUMN_TEXT)
            table_text(table, (size_t)i, (const char *)sqlite3_column_text(row, i));
        else
            put_count(table, (size_t)i, row, i);
    return table->failed ? -1 : 0;
}

int view_processes(struct view *view, const struct profile *profile,
                   const struct view_query *query, struct strata_error *error)
{
    sqlite3_stmt *statement;
    for (size_t i = 0; i < PROCESS_COLUMNS; i++)
        table_column(&view->processes, process_columns[i]);
    int status = selection_prepare(
        profile, query,
        "SELECT command, pid, parent, end, status, whole, instructions, cycles FROM "
        "(SELECT *, id AS process FROM process){processes} ORDER BY id",
        &statement, error);
    return status ? status
                  : each_row(profile, statement, take_process, &view->processes, error);
}

/* The run as a whole: sums of the table process, then the counters. */

static const struct {
    const char *key, *heading; /* "": not for people */
} run_columns[] = {
    {"processes", "processes"},
    {"instructions", "instructions"},
    {"cycles", "cycles"},
    {"instruction_cycles", "  one an instruction"},
    {"memory_cycles", "  waiting for memory"},
    {"branch_cycles", "  after wrong guesses"},
    {"sampling_cycles", "  to take samples"},
    {"samples", "samples"},
    {"sampler_accesses", "sampler's accesses"},
    {"sampler_misses", "sampler's misses"},
    {"sampler_cycles", "sampler's cycles"},
    {"loads", "loads"},
    {"stores", "stores"},
    {"fetches", "fetches"},
    {"walks", "page walks"},
    {"access_cycles", ""}, /* of all latencies: they overlap with instructions */
    {"branches_conditional", "conditional branches"},
    {"branches_taken", "of these taken"},
    {"branches_jump", "jumps"},
    {"branches_indirect", "indirect jumps"},
    {"branches_call", "calls"},
    {"branches_return", "returns"},
    {"branches_mispredicted", "mispredicted"},
};

enum { RUN_COLUMNS = sizeof run_columns / sizeof *run_columns };

/* The sums of the table process; what a sampler did is not known where there was none. */
static const char *const process_sums[] = {
    "processes",        "instructions",   "cycles",        "samples",
    "sampler_accesses", "sampler_misses", "sampler_cycles"};

static int take_exact(void *context, sqlite3_stmt *row)
{
    for (int i = 0; i < 3; i++)
        put_count(context, table_find(context, process_sums[i]), row, i);
    return 0;
}

static int take_sampled(void *context, sqlite3_stmt *row)
{
    for (int i = 0; i < 7; i++)
        put_count(context, table_find(context, process_sums[i]), row, i);
    return 0;
}

static int take_counter(void *context, sqlite3_stmt *row)
{
    struct table *table = context;
    const char *event = (const char *)sqlite3_column_text(row, 0);
    size_t column = event ? table_find(table, event) : table->ncolumns;
    if (column < table->ncolumns)
        put_count(table, column, row, 1);
    return 0;
}

int view_run(struct view *view, const struct profile *profile,
             const struct view_query *query, struct strata_error *error)
{
    struct table *table = &view->run;
    struct view_query processes = {.view = query->view, .pid = query->pid};
    sqlite3_stmt *statement;
    for (size_t i = 0; i < RUN_COLUMNS; i++) {
        struct column column = {.type = COLUMN_COUNT};
        snprintf(column.key, sizeof column.key, "%s", run_columns[i].key);
        snprintf(column.heading, sizeof column.heading, "%s", run_columns[i].heading);
        table_column(table, column);
    }
    table_row(table);
    if (table->failed)
        return fail(error, STRATA_FAILED, "%s: out of memory", profile->path);
    int status = selection_prepare(
        profile, &processes,
        "SELECT COUNT(*), SUM(instructions), SUM(cycles), SUM(samples), "
        "SUM(sampler_accesses), SUM(sampler_misses), SUM(sampler_cycles) FROM "
        "(SELECT *, id AS process FROM process){processes}",
        &statement, error);
    if (!status)
        status = each_row(profile, statement,
                          profile->collect & RAW_SAMPLED ? take_sampled : take_exact, table,
                          error);
    if (!status)
        status = selection_prepare(
            profile, &processes,
            "SELECT event, SUM(count) FROM counter{processes} GROUP BY event", &statement,
            error);
    return status ? status : each_row(profile, statement, take_counter, table, error);
}

/* Provenance: what meta has, less the text of the machine, which is long. */

static int take_meta_column(void *context, sqlite3_stmt *row)
{
    struct column column = {.type = COLUMN_TEXT};
    const char *key = (const char *)sqlite3_column_text(row, 0);
    if (sqlite3_column_type(row, 1) == SQLITE_INTEGER)
        column.type = COLUMN_COUNT;
    else if (sqlite3_column_type(row, 1) == SQLITE_FLOAT)
        column.type = COLUMN_NUMBER;
    snprintf(column.key, sizeof column.key, "%s", key ? key : "");
    table_column(context, column);
    return 0;
}

static int take_meta_value(void *context, sqlite3_stmt *row)
{
    struct table *table = context;
    const char *key = (const char *)sqlite3_column_text(row, 0);
    size_t column = key ? table_find(table, key) : table->ncolumns;
    if (column == table->ncolumns)
        return 0;
    if (table->columns[column].type == COLUMN_COUNT)
        put_count(table, column, row, 1);
    else if (table->columns[column].type == COLUMN_NUMBER)
        table_number(table, column, sqlite3_column_double(row, 1));
    else
        table_text(table, column, (const char *)sqlite3_column_text(row, 1));
    return 0;
}

int view_provenance(struct view *view, const struct profile *profile,
                    struct strata_error *error)
{
    static const char text[] = "SELECT key, value FROM meta WHERE key <> 'machine'";
    struct table *table = &view->provenance;
    sqlite3_stmt *statement;
    int status = sql_prepare(profile->db, profile->path, text, &statement, error);
    if (!status)
        status = each_row(profile, statement, take_meta_column, table, error);
    if (!status && !table->ncolumns)
        return fail(error, STRATA_BAD_INPUT, "%s: the profile is damaged: meta is empty",
                    profile->path);
    table_row(table);
    if (!status && table->failed)
        return fail(error, STRATA_FAILED, "%s: out of memory", profile->path);
    if (!status)
        status = sql_prepare(profile->db, profile->path, text, &statement, error);
    return status ? status : each_row(profile, statement, take_meta_value, table, error);
}

/* Notes. */

__attribute__((format(printf, 2, 3))) static void add_note(struct view *view,
                                                           const char *format, ...)
{
    va_list arguments;
    if (view->nnotes == VIEW_NOTES)
        return;
    va_start(arguments, format);
    vsnprintf(view->notes[view->nnotes++], VIEW_TEXT, format, arguments);
    va_end(arguments);
}

static int take_note(void *context, sqlite3_stmt *row)
{
    const char *text = (const char *)sqlite3_column_text(row, 0);
    add_note(context, "%s", text ? text : "");
    return 0;
}

static void note_sampling(struct view *view, const struct profile *profile)
{
    char period[THOUSANDS_TEXT];
    if (!(profile->collect & RAW_SAMPLED))
        return;
    format_thousands(profile->period, period);
    if (profile->collect & RAW_EXACT)
        add_note(view,
                 "estimates stand beside the exact figures: one in %s misses of cache "
                 "level %" PRIu32 " was sampled; error is in percentage points",
                 period, profile->event_level);
    else
        add_note(view,
                 "estimates: one in %s misses of cache level %" PRIu32 " was sampled; "
                 "misses of %s were not counted by object",
                 period, profile->event_level,
                 profile->event_level > 1 ? "nearer levels and TLBs" : "TLBs");
}

static uint64_t count_at(const struct table *table, size_t row, const char *key)
{
    size_t column = table_find(table, key);
    const struct value *value =
        column < table->ncolumns ? table_at(table, row, column) : NULL;
    return value && value->known ? value->count : 0;
}

/* glibc's malloc puts 8 bytes before a block and rounds to 16, to at least 32. */
static uint64_t malloc_takes(uint64_t size)
{
    uint64_t takes = (size + 8 + 15) & ~(uint64_t)15;
    return takes < 32 ? 32 : takes;
}

/* What Cache Scope's users read off by hand: small blocks of which a line could hold
 * several, and fewer with what malloc adds to each. */
static void note_size(struct view *view, const struct profile *profile, size_t row)
{
    const struct table *table = &view->rows;
    uint64_t n = count_at(table, row, "objects"), each = count_at(table, row, "largest");
    uint64_t line = profile->machine.caches[0].line, takes = malloc_takes(each);
    const struct value *kind = table_at(table, row, table_find(table, "kind"));
    bool heap = kind->known &&
                (strcmp(kind->text, "heap") == 0 || strcmp(kind->text, "named") == 0);
    char blocks[THOUSANDS_TEXT];
    if (!heap || !n || !each || each != count_at(table, row, "smallest") || each >= line)
        return;
    add_note(view,
             "%s blocks of %" PRIu64 " bytes, of which glibc's malloc makes %" PRIu64
             ": a %" PRIu64 "-byte line holds %" PRIu64
             "; in an array it would hold %" PRIu64,
             format_thousands(n, blocks), each, takes, line, line / takes, line / each);
}

int view_add_notes(struct view *view, const struct profile *profile,
                   const struct view_query *query, struct strata_error *error)
{
    sqlite3_stmt *statement;
    if (query->object && strcmp(view->name, "sizes") == 0)
        for (size_t row = 0; row < view->rows.nrows; row++)
            note_size(view, profile, row);
    if (strcmp(view->name, "totals") != 0)
        note_sampling(view, profile);
    int status =
        sql_prepare(profile->db, profile->path, "SELECT text FROM note", &statement, error);
    return status ? status : each_row(profile, statement, take_note, view, error);
}
