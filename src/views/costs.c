/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Costs, as costs.h promises them. */
#include "views/costs.h"

#include "core/fail.h"
#include "views/selection.h"

static const char query_text[] =
    "SELECT o.name, m.path, f.name, p.path, s.line, o.id, m.id, f.id, p.id, {sums} "
    "FROM cell c "
    "JOIN object o ON o.id = c.object JOIN site s ON s.id = c.site "
    "LEFT JOIN module m ON m.id = s.module LEFT JOIN function f ON f.id = s.function "
    "LEFT JOIN file p ON p.id = s.file "
    "GROUP BY c.object, s.file, s.function, s.module, s.line";

enum { LINE = 4, IDS = 5, SUMS = 9 };

static void scale(struct figures *figures, uint64_t by)
{
    figures->events *= by;
    figures->stores *= by;
    figures->latency *= by;
    for (size_t i = 0; i < sizeof figures->misses / sizeof *figures->misses; i++)
        figures->misses[i] *= by;
}

static struct cost cost_of(const struct profile *profile, sqlite3_stmt *row)
{
    struct figure_pair pair;
    int64_t line = sqlite3_column_int64(row, LINE);
    figures_read(profile, row, SUMS, &pair);
    struct cost cost = {
        .object = (const char *)sqlite3_column_text(row, 0),
        .module = (const char *)sqlite3_column_text(row, 1),
        .function = (const char *)sqlite3_column_text(row, 2),
        .file = (const char *)sqlite3_column_text(row, 3),
        .object_id = (uint64_t)sqlite3_column_int64(row, IDS),
        .module_id = (uint64_t)sqlite3_column_int64(row, IDS + 1),
        .function_id = (uint64_t)sqlite3_column_int64(row, IDS + 2),
        .file_id = (uint64_t)sqlite3_column_int64(row, IDS + 3),
        .line = line > 0 ? (uint64_t)line : 0,
        .figures = profile->collect & RAW_EXACT ? pair.exact : pair.sampled,
    };
    if (!(profile->collect & RAW_EXACT))
        scale(&cost.figures, profile->period);
    return cost;
}

int costs_each(const struct profile *profile,
               int (*take)(void *context, const struct cost *cost), void *context,
               struct strata_error *error)
{
    const struct view_query all = {.pid = -1};
    sqlite3_stmt *statement;
    int code = SQLITE_DONE, bad = 0;
    int status = selection_prepare(profile, &all, query_text, &statement, error);
    if (status)
        return status;
    while (!bad && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct cost cost = cost_of(profile, statement);
        bad = take(context, &cost);
    }
    if (bad)
        status = fail(error, STRATA_FAILED, "%s: out of memory", profile->path);
    else if (code != SQLITE_DONE)
        status = sql_damaged(profile->db, profile->path, error);
    sqlite3_finalize(statement);
    return status;
}
