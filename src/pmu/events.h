/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The events of a microarchitecture as a table (metrics/NAME.events): for each plain name
 * ("l1d_misses") the ways to count it, the best first, and what it really counts there. */
#ifndef PMU_EVENTS_H
#define PMU_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <strata/error.h>

enum { EVENT_WAYS = 4 };

struct event_row {
    const char *name;
    const char *ways[EVENT_WAYS]; /* names or codes, as pmu/encode.h reads them */
    uint32_t nways;               /* 0: it cannot be counted, `about` says why */
    const char *about;
    uint32_t line;
};

struct event_table {
    char *text;       /* owned; all strings point into it */
    const char *name; /* "Intel Skylake" */
    const char *pmu;  /* libpfm4's name of the PMU, for names without one; "" if none */
    const char *like; /* the table that has the rows which this one lacks; NULL: none */
    struct event_row *rows;
    size_t nrows;
    struct event_table *base; /* owned: what `like` names; NULL until it is read */
};

/* Reads FOLDER/NAME.events and the tables that it is like. */
int event_table_read(const char *folder, const char *name, struct event_table *table,
                     struct strata_error *error);

/* The same for text in memory, which is not like any other until that is read. */
int event_table_parse(const char *file, const char *text, size_t size,
                      struct event_table *table, struct strata_error *error);
void event_table_release(struct event_table *table);

/* The row of a name, here or in a table that this one is like; NULL: there is none. *owner,
 * where it is not NULL, gets the table that has it. */
const struct event_row *event_find(const struct event_table *table, const char *name,
                                   const struct event_table **owner);

/* Calls visit() for every row, each name once, those of the base table last. */
void event_each(const struct event_table *table,
                void (*visit)(const struct event_table *owner, const struct event_row *row,
                              void *context),
                void *context);

/* libpfm4's name of the PMU, from the table or one that it is like. */
const char *event_table_pmu(const struct event_table *table);

#endif
