/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a profile lacks, asked of its tables. A library of OpenMP is known by the names that
 * GCC, LLVM and Intel give theirs; that one was used does not say that its threads spun,
 * because what hits the first cache has no row. */
#include "views/lacks.h"

#include "profile/sql.h"

#include <stdio.h>

static const char blind_query[] =
    "SELECT m.path, SUM(c.latency) * 1.0 / (SELECT SUM(latency) FROM cell) "
    "FROM cell c JOIN site s ON s.id = c.site JOIN module m ON m.id = s.module "
    "WHERE s.line IS NULL GROUP BY m.id ORDER BY 2 DESC, 1 LIMIT 1";

static const char openmp_query[] =
    "SELECT path, 1 FROM module WHERE path LIKE '%/libgomp.so%' OR path LIKE "
    "'%/libomp.so%' OR path LIKE '%/libiomp5.so%' LIMIT 1";

/* The first row of a query for a path and a number; an empty path where there is none. */
static int first_row(const struct profile *profile, const char *query, char path[PATH_MAX],
                     double *number, struct strata_error *error)
{
    sqlite3_stmt *statement;
    path[0] = '\0';
    *number = 0;
    int status = sql_prepare(profile->db, profile->path, query, &statement, error);
    if (status)
        return status;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        snprintf(path, PATH_MAX, "%s", (const char *)sqlite3_column_text(statement, 0));
        *number = sqlite3_column_double(statement, 1);
    } else if (code != SQLITE_DONE) {
        status = sql_damaged(profile->db, profile->path, error);
    }
    sqlite3_finalize(statement);
    return status;
}

int lacks_find(const struct profile *profile, struct lacks *lacks,
               struct strata_error *error)
{
    char path[PATH_MAX];
    double found = 0;
    int status = first_row(profile, blind_query, lacks->module, &lacks->blind, error);
    if (!status)
        status = first_row(profile, openmp_query, path, &found, error);
    lacks->openmp = !status && found > 0;
    return status;
}
