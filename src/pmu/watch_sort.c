/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows in an order, and those alone that a filter lets through. */
#include "pmu/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* qsort_r() hands it on. */
struct order {
    int column;
    bool ascending;
};

static double key_of(const struct watch_row *row, int column)
{
    return column == WATCH_BY_ID     ? row->id
           : column == WATCH_BY_BUSY ? row->busy
                                     : row->values[column];
}

static int compare_numbers(double left, double right, bool ascending)
{
    if (isnan(left) || isnan(right)) /* last, in either direction */
        return isnan(left) - isnan(right);
    int order = (left > right) - (left < right);
    return ascending ? order : -order;
}

static int compare(const void *a, const void *b, void *context)
{
    const struct watch_row *left = *(const struct watch_row *const *)a;
    const struct watch_row *right = *(const struct watch_row *const *)b;
    const struct order *by = context;
    int order = 0;
    if (by->column == WATCH_BY_NAME)
        order = strcmp(left->name, right->name) * (by->ascending ? 1 : -1);
    else
        order = compare_numbers(key_of(left, by->column), key_of(right, by->column),
                                by->ascending);
    if (!order) /* what did nothing is ordered by the time that it used */
        order = compare_numbers(left->busy, right->busy, false);
    if (!order)
        order = compare_numbers(left->used, right->used, false);
    return order ? order : left->id - right->id;
}

static bool passes(const struct watch_row *row, const char *filter)
{
    char number[16];
    snprintf(number, sizeof number, "%d", row->id);
    return strcasestr(row->name, filter) || strstr(number, filter);
}

const struct watch_row **watch_sorted(const struct watch *watch, int column, bool ascending,
                                      const char *filter, size_t *n)
{
    struct order order = {.column = column, .ascending = ascending};
    const struct watch_row **rows = calloc(watch->nrows + 1, sizeof *rows);
    *n = 0;
    if (!rows)
        return NULL;
    for (size_t i = 0; i < watch->nrows; i++)
        if (passes(watch->rows[i], filter))
            rows[(*n)++] = watch->rows[i];
    qsort_r(rows, *n, sizeof(struct watch_row *), compare, &order);
    return rows;
}
