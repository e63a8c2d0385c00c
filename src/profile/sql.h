/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A thin layer over SQLite: values to bind as data, and errors as strata reports them. */
#ifndef PROFILE_SQL_H
#define PROFILE_SQL_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <strata/error.h>

struct sql_value {
    enum { SQL_NULL, SQL_INT, SQL_REAL, SQL_TEXT } type;
    int64_t number;
    double real;
    const char *text; /* not copied: it must live until the statement has run */
    size_t length;
};

struct sql_value sql_int(uint64_t number);
struct sql_value sql_id(uint32_t id); /* UINT32_MAX is NULL; else SQL ids count from 1 */
struct sql_value sql_text(const char *text); /* NULL is NULL */
struct sql_value sql_bytes(const char *text, size_t length);

/* Runs a statement that gives no rows. Returns SQLITE_OK or an error of SQLite. */
int sql_run(sqlite3_stmt *statement, const struct sql_value *values, size_t n);

/* Prepares a statement. Fails with STRATA_BAD_INPUT: the database is not what it should
 * be; `path` is for the message. */
int sql_prepare(sqlite3 *db, const char *path, const char *text, sqlite3_stmt **statement,
                struct strata_error *error);

/* The error of a statement that broke off: STRATA_BAD_INPUT, the profile is damaged. */
int sql_damaged(sqlite3 *db, const char *path, struct strata_error *error);

/* What SQLite's error `code` means to a person: the system's reason where there is one. */
const char *sql_reason(sqlite3 *db, int code);

#endif
