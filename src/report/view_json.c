/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A view as JSON, schema strata.view/1 (docs/format/view-json.md). What is not known is
 * null. */
#include "core/utf8.h"
#include "report/view_report.h"

#include <stdlib.h>
#include <string.h>

/* Setting NULL as a value fails, so that a failed allocation anywhere is a nonzero
 * result here. */

static json_t *text_json(const char *text)
{
    size_t size = strlen(text) + 1;
    char *clean = malloc(size);
    json_t *json = clean ? json_string(utf8_clean(text, clean, size)) : NULL;
    free(clean);
    return json;
}

static json_t *value_json(const struct value *value, enum column_type type)
{
    if (!value->known)
        return json_null();
    if (type == COLUMN_TEXT)
        return text_json(value->text);
    if (type == COLUMN_COUNT || type == COLUMN_ID)
        return json_integer((json_int_t)value->count);
    return json_real(value->number);
}

/* Columns from `*column` on that are one list; moves behind the last of them. */
static json_t *list_json(const struct table *table, size_t row, size_t *column)
{
    const char *list = table->columns[*column].list;
    json_t *array = json_array();
    for (; *column < table->ncolumns && table->columns[*column].list &&
           strcmp(table->columns[*column].list, list) == 0;
         ++*column)
        if (json_array_append_new(array, value_json(table_at(table, row, *column),
                                                    table->columns[*column].type))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *row_json(const struct table *table, size_t row)
{
    json_t *object = json_object();
    int bad = !object;
    for (size_t column = 0; column < table->ncolumns && !bad;) {
        const struct column *about = &table->columns[column];
        if (about->list)
            bad = json_object_set_new(object, about->list, list_json(table, row, &column));
        else
            bad = json_object_set_new(
                object, about->key,
                value_json(table_at(table, row, column++), about->type));
    }
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *rows_json(const struct table *table, size_t n)
{
    json_t *array = json_array();
    for (size_t row = 0; row < n; row++)
        if (json_array_append_new(array, row_json(table, row))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *notes_json(const struct view *view)
{
    json_t *array = json_array();
    for (size_t i = 0; i < view->nnotes; i++)
        if (json_array_append_new(array, text_json(view->notes[i]))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* The sum of the rows that were left out, with their number instead of a name. */
static json_t *rest_json(const struct view *view)
{
    json_t *rest = row_json(&view->rows, view->rows.nrows - 1);
    int bad = !rest || json_object_del(rest, view->rows.columns[0].key);
    bad = bad || json_object_set_new(rest, "rows", json_integer((json_int_t)view->rest));
    if (!bad)
        return rest;
    json_decref(rest);
    return NULL;
}

json_t *view_json(const struct view *view)
{
    json_t *object = json_pack("{s:s,s:s}", "schema", "strata.view/1", "view", view->name);
    size_t n = view->rows.nrows - (view->rest > 0);
    int bad = !object;
    bad = bad || json_object_set_new(object, "title", text_json(view->title));
    bad = bad || json_object_set_new(object, "rows", rows_json(&view->rows, n));
    if (view->rest)
        bad = bad || json_object_set_new(object, "rest", rest_json(view));
    bad = bad || json_object_set_new(object, "totals", row_json(&view->totals, 0));
    bad = bad || json_object_set_new(object, "run", row_json(&view->run, 0));
    if (view->processes.ncolumns)
        bad =
            bad || json_object_set_new(object, "processes",
                                       rows_json(&view->processes, view->processes.nrows));
    bad = bad || json_object_set_new(object, "provenance", row_json(&view->provenance, 0));
    bad = bad || json_object_set_new(object, "notes", notes_json(view));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}
