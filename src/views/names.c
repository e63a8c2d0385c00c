/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names, as names.h promises them. */
#include "views/names.h"

#include "core/fail.h"
#include "profile/sql.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static const char *const queries[] = {
    [NAMES_OBJECTS] = "SELECT DISTINCT name FROM object ORDER BY name",
    [NAMES_FUNCTIONS] = "SELECT DISTINCT name FROM function ORDER BY name",
};

static int append(struct names *names, size_t *room, const char *text)
{
    if (names->n == *room) {
        size_t larger = *room ? 2 * *room : 64;
        char **grown = realloc(names->list, larger * sizeof *grown);
        if (!grown)
            return -1;
        names->list = grown;
        *room = larger;
    }
    names->list[names->n] = strdup(text ? text : "");
    return names->list[names->n] ? (names->n++, 0) : -1;
}

int names_read(const struct profile *profile, enum name_kind kind, struct names *names,
               struct strata_error *error)
{
    sqlite3_stmt *statement;
    size_t room = 0;
    int code, bad = 0;
    *names = (struct names){0};
    int status = sql_prepare(profile->db, profile->path, queries[kind], &statement, error);
    if (status)
        return status;
    while (!bad && (code = sqlite3_step(statement)) == SQLITE_ROW)
        bad = append(names, &room, (const char *)sqlite3_column_text(statement, 0));
    if (bad)
        status = fail(error, STRATA_FAILED, "%s: out of memory", profile->path);
    else if (code != SQLITE_DONE)
        status = sql_damaged(profile->db, profile->path, error);
    sqlite3_finalize(statement);
    if (status)
        names_release(names);
    return status;
}

void names_release(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->list[i]);
    free(names->list);
    *names = (struct names){0};
}

/* The three ways to mean a name, the plainest first. */

static bool equals(const char *name, const char *text)
{
    return strcmp(name, text) == 0;
}

static bool begins(const char *name, const char *text)
{
    return strncmp(name, text, strlen(text)) == 0;
}

static bool matches(const char *name, const char *text)
{
    return fnmatch(text, name, 0) == 0;
}

static bool (*const ways[])(const char *name, const char *text) = {equals, begins, matches};
enum { WAYS = sizeof ways / sizeof *ways };

static size_t count(const struct names *names, size_t way, const char *text,
                    const char **first)
{
    size_t n = 0;
    for (size_t i = 0; i < names->n; i++)
        if (ways[way](names->list[i], text) && !n++)
            *first = names->list[i];
    return n;
}

/* The first way by which there are any; WAYS: none. */
static size_t way_of(const struct names *names, const char *text, size_t *n,
                     const char **first)
{
    size_t way = 0;
    while (way < WAYS && !(*n = count(names, way, text, first)))
        way++;
    return way;
}

size_t names_match(const struct names *names, const char *text, const char **first)
{
    size_t n = 0;
    *first = NULL;
    if (*text)
        way_of(names, text, &n, first);
    return n;
}

bool names_matches(const struct names *names, size_t i, const char *text)
{
    const char *first;
    size_t n = 0, way = *text ? way_of(names, text, &n, &first) : WAYS;
    return way < WAYS && ways[way](names->list[i], text);
}
