/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rates by process or processor as CSV: a line for each row, a column for each event and
 * metric; an empty value was not counted. */
#include "core/utf8.h"
#include "report/csv.h"
#include "report/top_report.h"

#include <math.h>

static void put_heading(FILE *out, const struct top_frame *frame)
{
    fputs(frame->by == WATCH_CPUS ? "from,to,cpu,cpu_pct"
                                  : "from,to,pid,user,command,state,cpu_pct",
          out);
    for (size_t i = 0; i < frame->watch->ncolumns; i++) {
        putc(',', out);
        csv_text(out, frame->watch->columns[i].name);
    }
    putc('\n', out);
}

static void put_number(FILE *out, double value)
{
    putc(',', out);
    if (!isnan(value))
        fprintf(out, "%.10g", value);
}

static void put_row(FILE *out, const struct top_frame *frame, const struct watch_row *row)
{
    char clean[128];
    fprintf(out, "%.6f,%.6f,%d", frame->from, frame->to, row->id);
    if (frame->by == WATCH_PROCESSES) {
        putc(',', out);
        csv_text(out, user_name(frame->users, row->uid));
        putc(',', out);
        csv_text(out, utf8_clean(row->name, clean, sizeof clean));
        fprintf(out, ",%s", watch_state_name(row->state));
    }
    put_number(out, 100 * row->busy);
    for (size_t i = 0; i < frame->watch->ncolumns; i++)
        put_number(out, row->values[i]);
    putc('\n', out);
}

void top_csv(FILE *out, const struct top_frame *frame, size_t most, bool heading)
{
    if (heading)
        put_heading(out, frame);
    for (size_t i = 0; i < frame->nrows && (!most || i < most); i++)
        put_row(out, frame, frame->rows[i]);
}
