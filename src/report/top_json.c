/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rates by process or processor as JSON, one line for each look: plain numbers, and null
 * with a "why" where something is not known. */
#include "core/fail.h"
#include "core/utf8.h"
#include "report/top_report.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static json_t *text_of(const char *text)
{
    char clean[1024];
    return json_string(utf8_clean(text, clean, sizeof clean));
}

static json_t *number_or_null(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *column_of(const struct watch_column *column)
{
    bool missing = !column->counted;
    return json_pack("{s:o,s:s,s:b,s:b,s:o}", "name", text_of(column->name), "unit",
                     column->metric ? column->metric->unit : "per second", "counted",
                     column->counted, "user_only", column->user_only, "why",
                     missing && *column->why ? text_of(column->why) : json_null());
}

/* Why something in a row is null, where its column was counted elsewhere. */
static json_t *reasons_of(const struct watch *watch, const struct watch_row *row)
{
    json_t *reasons = json_object();
    for (size_t i = 0; reasons && i < watch->ncolumns; i++)
        if (isnan(row->values[i]) && watch->columns[i].possible)
            json_object_set_new(reasons, watch->columns[i].name,
                                text_of(watch_why(watch, row, i)));
    return reasons;
}

static json_t *row_of(const struct top_frame *frame, const struct watch_row *row)
{
    const struct watch *watch = frame->watch;
    json_t *values = json_object();
    int bad = !values;
    for (size_t i = 0; i < watch->ncolumns && !bad; i++)
        bad = json_object_set_new(values, watch->columns[i].name,
                                  number_or_null(row->values[i]));
    json_t *object = json_pack(
        "{s:i,s:s,s:o,s:o,s:o,s:o}", frame->by == WATCH_CPUS ? "cpu" : "pid", row->id,
        "state", watch_state_name(row->state), "cpu_pct", number_or_null(100 * row->busy),
        "seconds", number_or_null(row->seconds > 0 ? row->seconds : NAN), "values", values,
        "why", reasons_of(watch, row));
    if (object && frame->by == WATCH_PROCESSES) {
        bad = json_object_set_new(object, "user",
                                  text_of(user_name(frame->users, row->uid))) ||
              bad;
        bad = json_object_set_new(object, "command", text_of(row->name)) || bad;
    }
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *notes_of(const struct top_frame *frame)
{
    char notes[TOP_NOTES][TOP_NOTE];
    size_t n = top_notes(frame, notes);
    json_t *array = json_array();
    for (size_t i = 0; array && i < n; i++)
        json_array_append_new(array, text_of(notes[i]));
    return array;
}

static json_t *whole(const struct top_frame *frame, size_t most)
{
    const struct watch *watch = frame->watch;
    json_t *columns = json_array(), *rows = json_array();
    int bad = !columns || !rows;
    for (size_t i = 0; i < watch->ncolumns && !bad; i++)
        bad = json_array_append_new(columns, column_of(&watch->columns[i]));
    for (size_t i = 0; i < frame->nrows && (!most || i < most) && !bad; i++)
        bad = json_array_append_new(rows, row_of(frame, frame->rows[i]));
    json_t *object = json_pack(
        "{s:s,s:s,s:o,s:[f,f],s:I,s:I,s:I,s:I,s:o,s:o,s:o}", "schema", "strata.top/1", "by",
        frame->by == WATCH_CPUS ? "cpu" : "process", "processor", text_of(frame->processor),
        "interval", frame->from, frame->to, "all", (json_int_t)watch->nrows, "not_watched",
        (json_int_t)watch->left_out, "refused", (json_int_t)watch->refused, "of_others",
        (json_int_t)watch->others, "notes", notes_of(frame), "columns", columns, "rows",
        rows);
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

int top_json(FILE *out, const struct top_frame *frame, size_t most,
             struct strata_error *error)
{
    json_t *object = whole(frame, most);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (!text)
        return fail(error, STRATA_FAILED, "cannot write the rates as JSON: out of memory");
    fprintf(out, "%s\n", text);
    free(text);
    return STRATA_OK;
}
