/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts and metrics as CSV, one line each; an empty value was not counted, and `why` says
 * why. */
#include "report/csv.h"
#include "report/stat_report.h"

#include <inttypes.h>

static void put_interval(FILE *out, const struct stat_report *report)
{
    if (report->interval)
        fprintf(out, "%.6f,%.6f,", report->from, report->to);
    else
        fprintf(out, "0,%.6f,", report->seconds);
}

static void put_row(FILE *out, const struct stat_report *report,
                    const struct tally_row *row)
{
    put_interval(out, report);
    fputs("event,", out);
    csv_text(out, row->event);
    putc(',', out);
    csv_text(out, row->device);
    putc(',', out);
    if (row->count.n == 1)
        fprintf(out, "%" PRIu64, row->last);
    else if (row->count.n)
        fprintf(out, "%.17g", row->count.mean);
    putc(',', out);
    if (row->count.n > 1)
        fprintf(out, "%.10g", running_deviation(&row->count));
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",", row->enabled_ns, row->running_ns);
    csv_text(out, row->count.n ? "" : row->why);
    putc('\n', out);
}

static void put_metric(FILE *out, const struct stat_report *report,
                       const struct tally_metric *metric)
{
    put_interval(out, report);
    fprintf(out, "metric,%s,,", metric->metric->name);
    if (metric->value.n)
        fprintf(out, "%.10g", metric->value.mean);
    putc(',', out);
    if (metric->value.n > 1)
        fprintf(out, "%.10g", running_deviation(&metric->value));
    fputs(",,,", out);
    csv_text(out, metric->value.n ? "" : metric->why);
    putc('\n', out);
}

void stat_csv(FILE *out, const struct stat_report *report, bool heading)
{
    if (heading)
        fputs("from,to,kind,name,pmu,value,deviation,enabled_ns,running_ns,why\n", out);
    for (size_t i = 0; i < report->tally->nrows; i++)
        put_row(out, report, &report->tally->rows[i]);
    for (size_t i = 0; i < report->tally->nmetrics; i++)
        put_metric(out, report, &report->tally->metrics[i]);
}
