/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts and metrics as a table for people.
 *
 *     ./prog: perf on AMD Zen 3, 1.24 s
 *                               count  per 1000 instructions
 *       instructions      324,000,000
 *       cycles            241,000,000          1.34 instructions per cycle
 *       l1d misses         12,345,678   38.1   well above typical (2 - 5)
 *       l3 misses         not counted: this processor's L3 counters ...
 */
#include "core/units.h"
#include "core/utf8.h"
#include "report/stat_report.h"

#include <math.h>
#include <string.h>

enum { INDENT = 2, GAP = 2, VALUE = 7, NAME_LEAST = 16, COUNT_LEAST = 12, LINE = 256 };

static const char per_thousand[] = "per 1000 instructions";

struct layout {
    FILE *out;
    const struct stat_report *report;
    struct style style;
    int width, name, count; /* columns */
};

static const char *label_of(const struct tally_row *row, char text[LINE])
{
    snprintf(text, LINE, "%s%s%s%s%s", row->event, row->user_only ? ":u" : "",
             *row->device ? " (" : "", row->device, *row->device ? ")" : "");
    for (char *p = text; *p && *p != '('; p++)
        if (*p == '_' && !strpbrk(row->event, ":=/"))
            *p = ' ';
    return text;
}

static const char *format_mean(const struct tally_row *row, char text[THOUSANDS_TEXT])
{
    bool one = row->count.n <= 1;
    return format_thousands(one ? row->last : (uint64_t)llround(row->count.mean), text);
}

static void measure(struct layout *layout)
{
    char text[LINE];
    layout->name = NAME_LEAST;
    layout->count = COUNT_LEAST;
    for (size_t i = 0; i < layout->report->tally->nrows; i++) {
        const struct tally_row *row = &layout->report->tally->rows[i];
        int name = (int)utf8_length(label_of(row, text));
        int count = row->count.n ? (int)strlen(format_mean(row, text)) : 0;
        layout->name = name > layout->name ? name : layout->name;
        layout->count = count > layout->count ? count : layout->count;
    }
    if (layout->name > 36)
        layout->name = 36;
}

/* The metric that is shown in an event's line; NULL: none. */
static const struct tally_metric *metric_of(const struct tally *tally,
                                            const struct tally_row *row)
{
    for (size_t i = 0; i < tally->nmetrics; i++) {
        const char *event = tally->metrics[i].metric->event;
        if (event && strcmp(event, row->event) == 0)
            return &tally->metrics[i];
    }
    return NULL;
}

static void add(char text[LINE], const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, LINE - used, "%s%.100s", used && *more ? ", " : "", more);
}

static void add_verdict(const struct layout *layout, const struct tally_metric *metric,
                        char text[LINE])
{
    char part[LINE];
    const struct metric *m = metric->metric;
    const char *verdict = metric_verdict(m, metric->value.mean);
    if (!verdict)
        return;
    snprintf(part, sizeof part, "%s (%g%s%g)", verdict, m->typical[0],
             layout->style.utf8 ? "–" : "-", m->typical[1]);
    add(text, part);
}

/* What stands behind the numbers. */
static void comment_of(const struct layout *layout, const struct tally_row *row,
                       const struct tally_metric *metric, char text[LINE])
{
    char part[LINE], value[32];
    snprintf(text, LINE, "%s", tally_unit(row->event));
    if (metric && metric->value.n && strcmp(metric->metric->unit, per_thousand) == 0)
        add_verdict(layout, metric, text);
    else if (metric && metric->value.n) {
        format_three(metric->value.mean, value);
        snprintf(part, sizeof part, "%s %s", value, metric->metric->label);
        add(text, part);
    }
    if (row->count.n > 1) {
        double spread = row->count.mean > 0
                            ? 100 * running_deviation(&row->count) / row->count.mean
                            : 0;
        snprintf(part, sizeof part, "%s %.2g%%", layout->style.utf8 ? "±" : "+-", spread);
        add(text, part);
    }
    if (row->scaled && row->enabled_ns) {
        snprintf(part, sizeof part, "scaled: counted %.0f%% of the time",
                 100 * (double)row->running_ns / (double)row->enabled_ns);
        add(text, part);
    }
}

/* The first row that was not counted for the same reason; NULL: this is the first. */
static const struct tally_row *same_reason(const struct tally *tally,
                                           const struct tally_row *row)
{
    for (const struct tally_row *other = tally->rows; other < row; other++)
        if (!other->count.n && strcmp(other->why, row->why) == 0)
            return other;
    return NULL;
}

static void print_uncounted(const struct layout *layout, const struct tally_row *row,
                            const char *label)
{
    char text[LINE + PMU_WHY + 64], why[PMU_WHY + 64], name[LINE];
    const struct tally_row *other = same_reason(layout->report->tally, row);
    if (other)
        snprintf(why, sizeof why, "as for %.200s", label_of(other, name));
    else
        snprintf(why, sizeof why, "%s", row->why);
    int gap = bound(layout->name - (int)utf8_length(label), 0, 40) + GAP;
    snprintf(text, sizeof text, "%*s%.200s%*snot counted: %.239s", INDENT, "", label, gap,
             "", why);
    print_folded(layout->out, text, layout->width, INDENT + layout->name + GAP);
}

/* Prints a comment; what does not fit goes to the next line, below it. */
static void print_comment(const struct layout *layout, const struct tally_metric *metric,
                          char *comment)
{
    int column = INDENT + layout->name + GAP + layout->count + GAP + VALUE + GAP;
    const char *verdict = metric && metric->value.n
                              ? metric_verdict(metric->metric, metric->value.mean)
                              : NULL;
    enum paint paint = verdict && strstr(verdict, "above") ? PAINT_WARN : PAINT_NONE;
    bool wide = column + (int)utf8_length(comment) > layout->width;
    char *comma = wide ? strstr(comment, ", ") : NULL;
    if (comma)
        *comma = '\0';
    fprintf(layout->out, "%*s%s%s%s", GAP, "", paint_begin(&layout->style, paint), comment,
            paint_end(&layout->style, paint));
    if (comma)
        fprintf(layout->out, "\n%*s%s", column, "", comma + 2);
}

static void print_row(const struct layout *layout, const struct tally_row *row)
{
    char label[LINE], count[THOUSANDS_TEXT], value[32] = "", comment[LINE];
    const struct tally_metric *metric = metric_of(layout->report->tally, row);
    label_of(row, label);
    if (!row->count.n) {
        print_uncounted(layout, row, label);
        return;
    }
    if (metric && metric->value.n && !*row->device &&
        strcmp(metric->metric->unit, per_thousand) == 0)
        format_three(metric->value.mean, value);
    comment_of(layout, row, *row->device ? NULL : metric, comment);
    int gap = layout->name - (int)utf8_length(label);
    fprintf(layout->out, "%*s%s%*s%*s", INDENT, "", label, (gap > 0 ? gap : 0) + GAP, "",
            layout->count, format_mean(row, count));
    if (*value || *comment)
        fprintf(layout->out, "%*s", VALUE + GAP, value);
    if (*comment)
        print_comment(layout, metric, comment);
    putc('\n', layout->out);
}

/* Whether a metric stands in the line of its event; not where that has a line for each kind
 * of core. */
static bool has_line(const struct tally *tally, const struct metric *metric)
{
    for (size_t i = 0; metric->event && i < tally->nrows; i++)
        if (strcmp(tally->rows[i].event, metric->event) == 0 && !*tally->rows[i].device &&
            tally->rows[i].count.n)
            return true;
    return false;
}

/* Metrics that stand in no event's line. */
static void print_metrics(const struct layout *layout)
{
    const struct tally *tally = layout->report->tally;
    for (size_t i = 0; i < tally->nmetrics; i++) {
        const struct tally_metric *metric = &tally->metrics[i];
        char value[32];
        if (!metric->value.n || has_line(tally, metric->metric))
            continue;
        format_three(metric->value.mean, value);
        fprintf(layout->out, "%*s%-*s%*s%*s %s\n", INDENT, "", layout->name,
                metric->metric->label, GAP, "", layout->count, value, metric->metric->unit);
    }
}

/* What a value that is well above typical suggests. */
static void print_hints(const struct layout *layout)
{
    const struct tally *tally = layout->report->tally;
    for (size_t i = 0; i < tally->nmetrics; i++) {
        const struct tally_metric *metric = &tally->metrics[i];
        const struct metric *m = metric->metric;
        char text[LINE];
        if (!metric->value.n || !m->hint || metric->value.mean < m->poor)
            continue;
        snprintf(text, sizeof text, "%s from %g %s on suggest %s.", m->label, m->poor,
                 m->unit, m->hint);
        print_folded(layout->out, text, layout->width, 0);
    }
}

static bool has_rates(const struct tally *tally)
{
    for (size_t i = 0; i < tally->nmetrics; i++)
        if (tally->metrics[i].value.n &&
            strcmp(tally->metrics[i].metric->unit, per_thousand) == 0)
            return true;
    return false;
}

/* Three digits in the largest unit of which there is one. */
static const char *format_time(double seconds, char text[32])
{
    static const struct {
        double of;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    size_t i = 0;
    while (i < 3 && seconds < units[i].of)
        i++;
    snprintf(text, 32, "%.3g %s", seconds / units[i].of, units[i].name);
    return text;
}

static void print_heading(const struct layout *layout)
{
    const struct stat_report *report = layout->report;
    char text[LINE + 256], part[64] = "", real[32], virtual[32];
    if (report->runs > 1)
        snprintf(part, sizeof part, ", mean of %u runs", report->runs);
    if (report->interval)
        snprintf(text, sizeof text, "%.3f s to %.3f s", report->from, report->to);
    else if (strcmp(report->source, "sim") == 0)
        snprintf(text, sizeof text,
                 "%.200s: simulated on %.100s, %s virtual (simulating took %s)%s",
                 report->what, report->processor, format_time(report->virtual, virtual),
                 format_time(report->seconds, real), part);
    else
        snprintf(text, sizeof text, "%.200s: perf on %.100s, %s%s", report->what,
                 report->processor, format_time(report->seconds, real), part);
    print_folded(layout->out, text, layout->width, INDENT);
    fprintf(layout->out, "%*s%*s", INDENT + layout->name + GAP, "", layout->count, "count");
    if (has_rates(report->tally))
        fprintf(layout->out, "  %s", per_thousand);
    putc('\n', layout->out);
}

void stat_text(FILE *out, const struct stat_report *report, const struct style *style,
               int width)
{
    struct layout layout = {.out = out, .report = report, .style = *style, .width = width};
    measure(&layout);
    print_heading(&layout);
    for (size_t i = 0; i < report->tally->nrows; i++)
        print_row(&layout, &report->tally->rows[i]);
    print_metrics(&layout);
    if (!report->interval)
        print_hints(&layout);
}
