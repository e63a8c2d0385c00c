/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Binding and errors, as sql.h promises them. */
#include "profile/sql.h"

#include "core/fail.h"

#include <string.h>

struct sql_value sql_int(uint64_t number)
{
    return (struct sql_value){.type = SQL_INT, .number = (int64_t)number};
}

struct sql_value sql_id(uint32_t id)
{
    if (id == UINT32_MAX)
        return (struct sql_value){.type = SQL_NULL};
    return sql_int((uint64_t)id + 1);
}

struct sql_value sql_bytes(const char *text, size_t length)
{
    return (struct sql_value){.type = SQL_TEXT, .text = text, .length = length};
}

struct sql_value sql_text(const char *text)
{
    return text ? sql_bytes(text, strlen(text)) : (struct sql_value){.type = SQL_NULL};
}

static int bind(sqlite3_stmt *statement, int at, const struct sql_value *value)
{
    switch (value->type) {
    case SQL_INT:
        return sqlite3_bind_int64(statement, at, value->number);
    case SQL_REAL:
        return sqlite3_bind_double(statement, at, value->real);
    case SQL_TEXT:
        return sqlite3_bind_text64(statement, at, value->text, value->length, SQLITE_STATIC,
                                   SQLITE_UTF8);
    default:
        return sqlite3_bind_null(statement, at);
    }
}

int sql_run(sqlite3_stmt *statement, const struct sql_value *values, size_t n)
{
    int code = SQLITE_OK;
    for (size_t i = 0; i < n && code == SQLITE_OK; i++)
        code = bind(statement, (int)i + 1, &values[i]);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    int reset = sqlite3_reset(statement);
    return code == SQLITE_DONE ? reset : code;
}

int sql_damaged(sqlite3 *db, const char *path, struct strata_error *error)
{
    int memory = sqlite3_errcode(db) == SQLITE_NOMEM;
    return fail(error, memory ? STRATA_FAILED : STRATA_BAD_INPUT,
                memory ? "%s: %s"
                       : "%s: the profile is damaged: %s; record the program again",
                path, sqlite3_errmsg(db));
}

int sql_prepare(sqlite3 *db, const char *path, const char *text, sqlite3_stmt **statement,
                struct strata_error *error)
{
    int code = sqlite3_prepare_v2(db, text, -1, statement, NULL);
    return code == SQLITE_OK ? STRATA_OK : sql_damaged(db, path, error);
}

const char *sql_reason(sqlite3 *db, int code)
{
    int cause = db ? sqlite3_system_errno(db) : 0;
    switch (code & 0xff) {
    case SQLITE_FULL:
        return "no space left on the disk";
    case SQLITE_NOMEM:
        return "out of memory";
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return cause ? strerror(cause) : sqlite3_errstr(code);
    default:
        return db ? sqlite3_errmsg(db) : sqlite3_errstr(code);
    }
}
