/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures and their columns, as figures.h promises them. */
#include "views/figures.h"

#include "profile/schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t levels_of(const struct profile *profile)
{
    return profile->cache_levels + profile->tlb_levels;
}

static bool is_exact(const struct profile *profile)
{
    return profile->collect & RAW_EXACT;
}

static bool is_sampled(const struct profile *profile)
{
    return profile->collect & RAW_SAMPLED;
}

/* Reading. */

/* A filter costs a third of the time of a query, and is needed only where cells of both
 * kinds are in the table. */
static void print_sums(FILE *out, const struct profile *profile, int sampled, int *n)
{
    static const char *const counts[] = {"events", "stores", "latency"};
    bool both = is_exact(profile) && is_sampled(profile);
    char name[SCHEMA_NAME], filter[48] = "";
    if (both)
        snprintf(filter, sizeof filter, " FILTER (WHERE c.sampled = %d)", sampled);
    for (uint32_t i = 0; i < 3 + levels_of(profile); i++, ++*n)
        fprintf(out, "%sSUM(c.%s)%s AS s%d", *n ? ", " : "",
                i < 3 ? counts[i] : schema_level(profile->cache_levels, i - 3, name),
                filter, *n);
}

char *figures_sql(const struct profile *profile, bool again)
{
    char *text = NULL;
    size_t size;
    int n = 0;
    uint32_t kinds = (is_exact(profile) ? 1 : 0) + (is_sampled(profile) ? 1 : 0);
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (uint32_t i = 0; again && i < kinds * (3 + levels_of(profile)); i++)
        fprintf(out, "%sSUM(s%u) AS s%u", i ? ", " : "", i, i);
    if (!again && is_exact(profile))
        print_sums(out, profile, 0, &n);
    if (!again && is_sampled(profile))
        print_sums(out, profile, 1, &n);
    int bad = ferror(out);
    bad |= fclose(out);
    if (!bad)
        return text;
    free(text);
    return NULL;
}

static uint64_t column_count(sqlite3_stmt *statement, int column)
{
    int64_t count = sqlite3_column_int64(statement, column);
    return count > 0 ? (uint64_t)count : 0;
}

static int read_one(const struct profile *profile, sqlite3_stmt *statement, int column,
                    struct figures *figures)
{
    figures->events = column_count(statement, column++);
    figures->stores = column_count(statement, column++);
    figures->latency = column_count(statement, column++);
    for (uint32_t i = 0; i < levels_of(profile); i++)
        figures->misses[i] = column_count(statement, column++);
    return column;
}

void figures_read(const struct profile *profile, sqlite3_stmt *statement, int first,
                  struct figure_pair *pair)
{
    *pair = (struct figure_pair){0};
    if (is_exact(profile))
        first = read_one(profile, statement, first, &pair->exact);
    if (is_sampled(profile))
        read_one(profile, statement, first, &pair->sampled);
}

static void add_one(struct figures *sum, const struct figures *figures)
{
    sum->events += figures->events;
    sum->stores += figures->stores;
    sum->latency += figures->latency;
    for (size_t i = 0; i < sizeof sum->misses / sizeof *sum->misses; i++)
        sum->misses[i] += figures->misses[i];
}

void figures_add(struct figure_pair *sum, const struct figure_pair *pair)
{
    add_one(&sum->exact, &pair->exact);
    add_one(&sum->sampled, &pair->sampled);
}

/* What a column shows of a row. */

struct shown {
    const struct profile *profile;
    const struct figure_pair *row, *total;
    uint32_t level; /* for the columns of levels */
};

/* The figures that count: exact ones where there are any. */
static const struct figures *main_figures(const struct profile *profile,
                                          const struct figure_pair *pair)
{
    return is_exact(profile) ? &pair->exact : &pair->sampled;
}

static uint64_t scale(const struct profile *profile)
{
    return is_exact(profile) ? 1 : profile->period;
}

static uint64_t misses_of(const struct profile *profile, const struct figure_pair *pair)
{
    uint32_t level = is_exact(profile) ? 0 : profile->event_level - 1;
    return profile->cache_levels ? main_figures(profile, pair)->misses[level] : 0;
}

uint64_t figures_measure(const struct profile *profile, const struct figure_pair *pair,
                         enum figure_order order)
{
    switch (order) {
    case BY_MISSES:
        return misses_of(profile, pair);
    case BY_EVENTS:
        return main_figures(profile, pair)->events;
    default:
        return main_figures(profile, pair)->latency;
    }
}

static struct value known(uint64_t count)
{
    return (struct value){.known = true, .count = count};
}

static struct value number(double number)
{
    return (struct value){.known = isfinite(number), .number = number};
}

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static struct value show_latency(const struct shown *s)
{
    return known(main_figures(s->profile, s->row)->latency * scale(s->profile));
}

static struct value show_latency_pct(const struct shown *s)
{
    return number(percent(main_figures(s->profile, s->row)->latency,
                          main_figures(s->profile, s->total)->latency));
}

static struct value show_misses(const struct shown *s)
{
    return known(misses_of(s->profile, s->row) * scale(s->profile));
}

static struct value show_misses_pct(const struct shown *s)
{
    return number(percent(misses_of(s->profile, s->row), misses_of(s->profile, s->total)));
}

static struct value show_events(const struct shown *s)
{
    return known(main_figures(s->profile, s->row)->events * scale(s->profile));
}

static struct value show_events_pct(const struct shown *s)
{
    return number(percent(main_figures(s->profile, s->row)->events,
                          main_figures(s->profile, s->total)->events));
}

static struct value show_stores(const struct shown *s)
{
    return known(main_figures(s->profile, s->row)->stores * scale(s->profile));
}

static struct value show_per_event(const struct shown *s)
{
    const struct figures *row = main_figures(s->profile, s->row);
    return number(row->events ? (double)row->latency / (double)row->events : NAN);
}

static struct value show_samples(const struct shown *s)
{
    return known(s->row->sampled.events);
}

static struct value show_estimate(const struct shown *s)
{
    return known(s->row->sampled.misses[s->profile->event_level - 1] * s->profile->period);
}

static double estimate_pct(const struct shown *s)
{
    uint32_t level = s->profile->event_level - 1;
    return percent(s->row->sampled.misses[level], s->total->sampled.misses[level]);
}

static struct value show_estimate_pct(const struct shown *s)
{
    return number(estimate_pct(s));
}

static struct value show_true(const struct shown *s)
{
    return known(s->row->exact.misses[s->profile->event_level - 1]);
}

static double true_pct(const struct shown *s)
{
    uint32_t level = s->profile->event_level - 1;
    return percent(s->row->exact.misses[level], s->total->exact.misses[level]);
}

static struct value show_true_pct(const struct shown *s)
{
    return number(true_pct(s));
}

static struct value show_error(const struct shown *s)
{
    return number(estimate_pct(s) - true_pct(s));
}

static struct value show_latency_estimate(const struct shown *s)
{
    return known(s->row->sampled.latency * s->profile->period);
}

static struct value show_latency_estimate_pct(const struct shown *s)
{
    return number(percent(s->row->sampled.latency, s->total->sampled.latency));
}

static struct value show_level(const struct shown *s)
{
    const struct profile *profile = s->profile;
    if (!is_exact(profile) &&
        (s->level >= profile->cache_levels || s->level + 1 < profile->event_level))
        return (struct value){.known = false};
    return known(main_figures(profile, s->row)->misses[s->level] * scale(profile));
}

/* The columns. Levels come behind the first group, and estimates last. */

enum when { ALWAYS, IF_SAMPLED, IF_BOTH };

static const struct figure_column {
    struct column column;
    struct value (*show)(const struct shown *shown);
    enum when when;
    bool brief;
} figure_columns[] = {
    {{"latency", "latency", COLUMN_COUNT, NULL, 1, false}, show_latency, ALWAYS, false},
    {{"latency_pct", "%latency", COLUMN_PERCENT, NULL, 2, false},
     show_latency_pct,
     ALWAYS,
     true},
    {{"misses", "misses", COLUMN_COUNT, NULL, 4, false}, show_misses, ALWAYS, false},
    {{"misses_pct", "%misses", COLUMN_PERCENT, NULL, 3, false},
     show_misses_pct,
     ALWAYS,
     true},
    {{"events", "events", COLUMN_COUNT, NULL, 12, false}, show_events, ALWAYS, false},
    {{"events_pct", "%events", COLUMN_PERCENT, NULL, 13, false},
     show_events_pct,
     ALWAYS,
     false},
    {{"stores", "stores", COLUMN_COUNT, NULL, 15, false}, show_stores, ALWAYS, false},
    {{"latency_per_event", "cyc/event", COLUMN_NUMBER, NULL, 5, false},
     show_per_event,
     ALWAYS,
     false},
};

static const struct figure_column estimate_columns[] = {
    {{"samples", "samples", COLUMN_COUNT, NULL, 8, false}, show_samples, IF_SAMPLED, false},
    {{"estimated_misses", "estimated", COLUMN_COUNT, NULL, 11, false},
     show_estimate,
     IF_BOTH,
     false},
    {{"estimated_misses_pct", "%estimated", COLUMN_PERCENT, NULL, 3, false},
     show_estimate_pct,
     IF_BOTH,
     false},
    {{"true_misses", "true", COLUMN_COUNT, NULL, 18, false}, show_true, IF_BOTH, false},
    {{"true_misses_pct", "%true", COLUMN_PERCENT, NULL, 17, false},
     show_true_pct,
     IF_BOTH,
     false},
    {{"misses_error_pp", "error", COLUMN_POINTS, NULL, 3, false},
     show_error,
     IF_BOTH,
     false},
    {{"estimated_latency", "est. latency", COLUMN_COUNT, NULL, 16, false},
     show_latency_estimate,
     IF_BOTH,
     false},
    {{"estimated_latency_pct", "%est. latency", COLUMN_PERCENT, NULL, 14, false},
     show_latency_estimate_pct,
     IF_BOTH,
     false},
};

enum {
    FIGURE_COLUMNS = sizeof figure_columns / sizeof *figure_columns,
    ESTIMATE_COLUMNS = sizeof estimate_columns / sizeof *estimate_columns,
    BRIEF_RANK = 4 /* where they are not what the view is about */
};

static bool wanted(const struct profile *profile, const struct figure_column *column,
                   bool brief)
{
    if (brief)
        return column->brief;
    bool both = is_sampled(profile) && is_exact(profile);
    return column->when == ALWAYS || (column->when == IF_SAMPLED && is_sampled(profile)) ||
           (column->when == IF_BOTH && both);
}

/* The first level is the column "misses" already, as a rule: it comes last on a screen. */
static struct column level_column(const struct profile *profile, uint32_t i)
{
    bool cache = i < profile->cache_levels;
    uint32_t level = cache ? i + 1 : i - profile->cache_levels + 1;
    struct column column = {.type = COLUMN_COUNT,
                            .list = cache ? "misses_by_level" : "tlb_misses_by_level",
                            .rank = cache ? 6 : 9};
    column.rank = cache && level == 1 ? 20 : column.rank;
    schema_level(profile->cache_levels, i, column.key);
    snprintf(column.heading, sizeof column.heading, cache ? "L%u misses" : "L%u TLB misses",
             level);
    return column;
}

void figures_columns(const struct profile *profile, struct table *table, bool brief)
{
    for (size_t i = 0; i < FIGURE_COLUMNS; i++) {
        struct column column = figure_columns[i].column;
        column.rank += brief ? BRIEF_RANK : 0;
        if (wanted(profile, &figure_columns[i], brief))
            table_column(table, column);
    }
    for (uint32_t i = 0; i < levels_of(profile) && !brief; i++)
        table_column(table, level_column(profile, i));
    for (size_t i = 0; i < ESTIMATE_COLUMNS; i++)
        if (wanted(profile, &estimate_columns[i], brief))
            table_column(table, estimate_columns[i].column);
}

static void set(struct table *table, size_t column, struct value value)
{
    if (table->failed || !value.known)
        return;
    if (table->columns[column].type == COLUMN_COUNT)
        table_count(table, column, value.count);
    else
        table_number(table, column, value.number);
}

void figures_fill(const struct profile *profile, struct table *table, size_t first,
                  const struct figure_pair *pair, const struct figure_pair *total,
                  bool brief)
{
    struct shown shown = {.profile = profile, .row = pair, .total = total};
    for (size_t i = 0; i < FIGURE_COLUMNS; i++)
        if (wanted(profile, &figure_columns[i], brief))
            set(table, first++, figure_columns[i].show(&shown));
    for (uint32_t i = 0; i < levels_of(profile) && !brief; i++) {
        shown.level = i;
        set(table, first++, show_level(&shown));
    }
    for (size_t i = 0; i < ESTIMATE_COLUMNS; i++)
        if (wanted(profile, &estimate_columns[i], brief))
            set(table, first++, estimate_columns[i].show(&shown));
}
