/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables that grow, as table.h promises them. */
#include "views/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void table_release(struct table *table)
{
    for (size_t row = 0; row < table->nrows; row++)
        for (size_t column = 0; column < table->ncolumns; column++)
            if (table->columns[column].type == COLUMN_TEXT)
                free(table->values[row * table->ncolumns + column].text);
    free(table->columns);
    free(table->values);
    *table = (struct table){0};
}

void table_column(struct table *table, struct column column)
{
    struct column *grown =
        realloc(table->columns, (table->ncolumns + 1) * sizeof *table->columns);
    if (!grown || table->nrows) {
        table->failed = true;
        return;
    }
    table->columns = grown;
    table->columns[table->ncolumns++] = column;
}

void table_row(struct table *table)
{
    if (table->nrows == table->room) {
        size_t room = table->room ? 2 * table->room : 64;
        struct value *grown =
            realloc(table->values, room * table->ncolumns * sizeof *table->values);
        if (!grown) {
            table->failed = true;
            return;
        }
        table->values = grown;
        table->room = room;
    }
    memset(table->values + table->nrows * table->ncolumns, 0,
           table->ncolumns * sizeof *table->values);
    table->nrows++;
}

/* NULL once something failed: the last row may not be the one that is meant. */
static struct value *last(struct table *table, size_t column)
{
    if (table->failed)
        return NULL;
    return &table->values[(table->nrows - 1) * table->ncolumns + column];
}

void table_text(struct table *table, size_t column, const char *text)
{
    struct value *value = last(table, column);
    if (!value || !text)
        return;
    free(value->text);
    value->text = strdup(text);
    value->known = value->text != NULL;
    table->failed |= !value->known;
}

void table_count(struct table *table, size_t column, uint64_t count)
{
    struct value *value = last(table, column);
    if (value)
        *value = (struct value){.known = true, .count = count};
}

void table_number(struct table *table, size_t column, double number)
{
    struct value *value = last(table, column);
    if (value && isfinite(number))
        *value = (struct value){.known = true, .number = number};
}

void table_none(struct table *table, size_t column)
{
    struct value *value = last(table, column);
    if (value)
        value->none = true;
}

const struct value *table_at(const struct table *table, size_t row, size_t column)
{
    return &table->values[row * table->ncolumns + column];
}

size_t table_find(const struct table *table, const char *key)
{
    size_t column = 0;
    while (column < table->ncolumns && strcmp(table->columns[column].key, key) != 0)
        column++;
    return column;
}
