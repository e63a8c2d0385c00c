/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A table of typed columns: what every view makes and every report shows. */
#ifndef VIEWS_TABLE_H
#define VIEWS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum column_type {
    COLUMN_TEXT,
    COLUMN_COUNT,   /* whole, from 0 on */
    COLUMN_ID,      /* a whole number that names something: no sums, no separators */
    COLUMN_PERCENT, /* 0 to 100 */
    COLUMN_NUMBER,  /* any */
    COLUMN_POINTS   /* a difference of percentages, with its sign */
};

enum { COLUMN_KEY = 32, COLUMN_HEADING = 24 };

struct column {
    char key[COLUMN_KEY];         /* in JSON and CSV */
    char heading[COLUMN_HEADING]; /* for people */
    enum column_type type;
    const char *list; /* JSON: neighbours with the same list are an array of that name */
    int rank;         /* the highest are left out first where a terminal is narrow */
    bool joined;      /* for people it belongs to the column before it: "file:line" */
};

struct value {
    bool known;
    bool none; /* not known because there is no such thing, as there is no part of a sum */
    union {
        char *text;
        uint64_t count;
        double number;
    };
};

struct table {
    struct column *columns;
    size_t ncolumns;
    struct value *values; /* row by row */
    size_t nrows, room;
    bool failed; /* out of memory somewhere: the table is not to be used */
};

/* All zeros is an empty table. Columns come first, rows when all columns are there;
 * values are set in the last row, unknown until then. A failed allocation only sets
 * `failed`, which is to be looked at once, at the end. */
void table_release(struct table *table);
void table_column(struct table *table, struct column column);
void table_row(struct table *table);
void table_text(struct table *table, size_t column, const char *text); /* NULL: unknown */
void table_count(struct table *table, size_t column, uint64_t count);
void table_none(struct table *table, size_t column);
void table_number(struct table *table, size_t column, double number); /* NAN: unknown */

const struct value *table_at(const struct table *table, size_t row, size_t column);

/* The column of that key, or ncolumns. */
size_t table_find(const struct table *table, const char *key);

#endif
