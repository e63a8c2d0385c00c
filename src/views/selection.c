/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queries as SQL, as selection.h promises it. Names are bound, never pasted in. */
#include "views/selection.h"

#include "core/fail.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OF_OBJECT "object IN (SELECT id FROM object WHERE name = :object)"
#define OF_FUNCTION                                                                        \
    "site IN (SELECT id FROM site WHERE function IN "                                      \
    "(SELECT id FROM function WHERE name = :function))"
#define OF_PROCESS "process IN (SELECT id FROM process WHERE pid = :pid)"

/* Prints those conditions that are wanted, with a WHERE before the first. */
static void print_where(FILE *out, const char *table, const char *const *conditions,
                        const bool *want, size_t n)
{
    const char *before = " WHERE ";
    for (size_t i = 0; i < n; i++)
        if (want[i]) {
            fprintf(out, "%s%s%s", before, table, conditions[i]);
            before = " AND ";
        }
}

static void print_token(FILE *out, const char *token, const struct view_query *query,
                        const char *const *sums)
{
    static const char *const conditions[] = {OF_OBJECT, OF_PROCESS, OF_FUNCTION};
    const bool want[] = {query->object, query->pid >= 0, query->function};
    if (strcmp(token, "sums") == 0)
        fputs(sums[0], out);
    else if (strcmp(token, "again") == 0)
        fputs(sums[1], out);
    else if (strcmp(token, "cells") == 0)
        print_where(out, "c.", conditions, want, 3);
    else if (strcmp(token, "allocations") == 0)
        print_where(out, "a.", conditions, want, 2);
    else if (strcmp(token, "processes") == 0)
        print_where(out, "", conditions + 1, want + 1, 1);
    else if (query->function)
        fputs(" WHERE x.id IS NOT NULL", out);
}

static void expand(FILE *out, const char *text, const struct view_query *query,
                   const char *const *sums)
{
    char token[16];
    int length;
    while (*text) {
        if (sscanf(text, "{%15[a-z]}%n", token, &length) == 1) {
            print_token(out, token, query, sums);
            text += length;
        } else {
            putc(*text++, out);
        }
    }
}

static char *statement_text(const struct profile *profile, const struct view_query *query,
                            const char *text)
{
    char *made = NULL;
    char *sums[] = {figures_sql(profile, false), figures_sql(profile, true)};
    size_t size;
    FILE *out = sums[0] && sums[1] ? open_memstream(&made, &size) : NULL;
    if (out)
        expand(out, text, query, (const char *const *)sums);
    int bad = !out || ferror(out);
    if (out)
        bad |= fclose(out);
    free(sums[0]);
    free(sums[1]);
    if (!bad)
        return made;
    free(made);
    return NULL;
}

static void bind_text(sqlite3_stmt *statement, const char *name, const char *text)
{
    int at = sqlite3_bind_parameter_index(statement, name);
    if (at)
        sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

static void bind_number(sqlite3_stmt *statement, const char *name, int64_t number)
{
    int at = sqlite3_bind_parameter_index(statement, name);
    if (at)
        sqlite3_bind_int64(statement, at, number);
}

int selection_prepare(const struct profile *profile, const struct view_query *query,
                      const char *text, sqlite3_stmt **statement,
                      struct strata_error *error)
{
    char *made = statement_text(profile, query, text);
    if (!made)
        return fail(error, STRATA_FAILED, "%s: out of memory", profile->path);
    int status = sql_prepare(profile->db, profile->path, made, statement, error);
    free(made);
    if (status)
        return status;
    bind_text(*statement, ":object", query->object);
    bind_text(*statement, ":function", query->function);
    bind_number(*statement, ":pid", query->pid);
    bind_number(*statement, ":line", profile->machine.caches[0].line);
    return STRATA_OK;
}

/* Whether a statement with the query's names has a row; below 0: it failed. */
static int has_row(const struct profile *profile, const struct view_query *query,
                   const char *text, struct strata_error *error)
{
    sqlite3_stmt *statement;
    if (selection_prepare(profile, query, text, &statement, error))
        return -1;
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        sql_damaged(profile->db, profile->path, error);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : -1;
}

/* "4000, 4001": the processes that there are, as far as they fit. */
static void list_processes(const struct profile *profile, char *text, size_t size)
{
    sqlite3_stmt *statement;
    text[0] = '\0';
    if (sqlite3_prepare_v2(profile->db, "SELECT pid FROM process ORDER BY id LIMIT 8", -1,
                           &statement, NULL) != SQLITE_OK)
        return;
    for (size_t used = 0; sqlite3_step(statement) == SQLITE_ROW && used < size;)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, used ? ", " : "",
                                 (int64_t)sqlite3_column_int64(statement, 0));
    sqlite3_finalize(statement);
}

static int check_process(const struct profile *profile, const struct view_query *query,
                         struct strata_error *error)
{
    char text[128];
    int there = query->pid < 0 ? 1
                               : has_row(profile, query,
                                         "SELECT 1 FROM process WHERE pid = :pid", error);
    if (there > 0)
        return STRATA_OK;
    if (there < 0)
        return STRATA_BAD_INPUT;
    list_processes(profile, text, sizeof text);
    return fail(error, STRATA_BAD_INPUT,
                "%s: no process %" PRId64 " in this profile, which has %s", profile->path,
                query->pid, text);
}

int selection_check(const struct profile *profile, const struct view_query *query,
                    struct strata_error *error)
{
    const struct {
        const char *what, *name, *text;
    } checks[] = {
        {"object", query->object, "SELECT 1 FROM object WHERE name = :object"},
        {"function", query->function, "SELECT 1 FROM function WHERE name = :function"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        int there = checks[i].name ? has_row(profile, query, checks[i].text, error) : 1;
        if (there < 0)
            return STRATA_BAD_INPUT;
        if (!there)
            return fail(error, STRATA_BAD_INPUT, "%s: no %s %s in this profile",
                        profile->path, checks[i].what, checks[i].name);
    }
    return check_process(profile, query, error);
}
