/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For benchmarks that look into a profile: SQLite, where any failure ends the benchmark. */
#ifndef BENCH_QUERY_H
#define BENCH_QUERY_H

#include "runs.h"

#include <sqlite3.h>

static inline void query_run(sqlite3 *db, const char *text)
{
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        die("%s: %s", text, sqlite3_errmsg(db));
}

static inline sqlite3_stmt *query_prepare(sqlite3 *db, const char *text)
{
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(db, text, -1, &stmt, NULL) != SQLITE_OK)
        die("%s: %s", text, sqlite3_errmsg(db));
    return stmt;
}

/* Whether there is another row. */
static inline bool query_next(sqlite3_stmt *stmt)
{
    int status = sqlite3_step(stmt);
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        die("%s: %s", sqlite3_sql(stmt), sqlite3_errmsg(sqlite3_db_handle(stmt)));
    return status == SQLITE_ROW;
}

#endif
