/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of views, and how a row of it becomes a table: one SELECT that sums up cells,
 * its rows sorted, cut off at the top, and summed up for the rest. */
#include "views/view.h"

#include "core/fail.h"
#include "core/units.h"
#include "views/selection.h"
#include "views/sources.h"
#include "views/view_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KEYS = 12 };

/* A SELECT gives the key columns and then x.*, which begins with {sums}. */
struct view_kind {
    const char *name;
    const char *missing; /* NULL, or what no collector records yet */
    const char *query;   /* NULL: the view of totals */
    struct column keys[MAX_KEYS];
    bool brief; /* of the figures, the shares only */
};

#define TEXT(key, heading, rank)                                                           \
    {                                                                                      \
        key, heading, COLUMN_TEXT, NULL, rank, false                                       \
    }
#define COUNT(key, heading, rank)                                                          \
    {                                                                                      \
        key, heading, COLUMN_COUNT, NULL, rank, false                                      \
    }
#define NUMBER(key, heading, rank)                                                         \
    {                                                                                      \
        key, heading, COLUMN_NUMBER, NULL, rank, false                                     \
    }

/* There are far fewer instructions than cells: they are summed up first. */
#define BY_SITE "SELECT {sums}, c.site AS site FROM cell c{cells} GROUP BY c.site"

/* The size of a block on average, rounded up, and what glibc's malloc makes of it: 8 bytes
 * more, rounded to 16, at least 32. */
#define MEAN         "((a.bytes + a.objects - 1) / a.objects)"
#define MALLOC_TAKES "MAX(32, (" MEAN " + 23) & ~15)"

static const struct view_kind kinds[] = {
    {.name = "totals"},
    {.name = "objects",
     .query = "SELECT o.name, o.kind, m.path, o.place, x.* FROM "
              "(SELECT {sums}, c.object AS id FROM cell c{cells} GROUP BY c.object) x "
              "JOIN object o ON o.id = x.id LEFT JOIN module m ON m.id = o.module",
     .keys = {TEXT("object", "object", 0), TEXT("kind", "kind", 10),
              TEXT("module", "module", 19), TEXT("place", "allocated at", 21)}},
    {.name = "functions",
     .query = "SELECT f.name, m.path, x.* FROM "
              "(SELECT {again}, s.function AS function, s.module AS module FROM "
              "(" BY_SITE ") y JOIN site s ON s.id = y.site "
              "GROUP BY s.function, s.module) x "
              "LEFT JOIN function f ON f.id = x.function "
              "LEFT JOIN module m ON m.id = x.module",
     .keys = {TEXT("function", "function", 0), TEXT("module", "module", 10)}},
    {.name = "lines",
     .query = "SELECT p.path, x.line, f.name, m.path, x.* FROM "
              "(SELECT {again}, s.file AS file, s.line AS line, s.function AS function, "
              "s.module AS module FROM (" BY_SITE ") y JOIN site s ON s.id = y.site "
              "GROUP BY s.file, s.line, s.function, s.module) x "
              "LEFT JOIN file p ON p.id = x.file "
              "LEFT JOIN function f ON f.id = x.function "
              "LEFT JOIN module m ON m.id = x.module",
     .keys = {TEXT("file", "line", 0),
              {"line", "", COLUMN_COUNT, NULL, 0, true},
              TEXT("function", "function", 3),
              TEXT("module", "module", 19)}},
    {.name = "sizes",
     .query = "SELECT o.name, o.kind, a.objects, a.bytes, a.smallest, "
              "a.bytes * 1.0 / a.objects, a.largest, "
              "NULLIF(:line / CASE WHEN o.kind IN ('heap', 'named') THEN " MALLOC_TAKES
              " ELSE MAX(1, " MEAN ") END, 0), "
              "a.live, a.live_bytes, a.most_bytes, o.place, x.* FROM "
              "(SELECT object, SUM(objects) AS objects, SUM(bytes) AS bytes, "
              "MIN(smallest) AS smallest, MAX(largest) AS largest, SUM(live) AS live, "
              "SUM(live_bytes) AS live_bytes, SUM(most_bytes) AS most_bytes "
              "FROM allocation a{allocations} GROUP BY object) a "
              "JOIN object o ON o.id = a.object LEFT JOIN "
              "(SELECT {sums}, c.object AS id FROM cell c{cells} GROUP BY c.object) x "
              "ON x.id = a.object{touched}",
     .keys = {TEXT("object", "object", 0), TEXT("kind", "kind", 10),
              COUNT("objects", "blocks", 1), COUNT("bytes", "bytes", 2),
              COUNT("smallest", "smallest", 3), NUMBER("mean", "mean", 6),
              COUNT("largest", "largest", 4), COUNT("per_line", "a line holds", 5),
              COUNT("live", "live", 11), COUNT("live_bytes", "live bytes", 12),
              COUNT("most_bytes", "most at a time", 9), TEXT("place", "allocated at", 13)},
     .brief = true},
    {.name = "evictions", .missing = "who took whose place in the cache"},
    {.name = "matrix", .missing = "who took whose place in the cache"},
    {.name = "fields", .missing = "which member of an object was accessed"},
    {.name = "callers", .missing = "who called the functions that missed"},
    {.name = "kinds", .missing = "why an access missed"},
    {.name = "sharing", .missing = "what other threads did to a line"},
    {.name = "threads", .missing = "which thread missed"},
    {.name = "ranks", .missing = "which rank of a job missed"},
};

/* A row on its way from the database to the table. */
struct item {
    struct value keys[MAX_KEYS];
    struct figure_pair pair;
    uint64_t measure;
    size_t order; /* as the database had it, so that equal rows keep their places */
};

struct items {
    const struct view_kind *kind;
    size_t nkeys;
    struct item *list;
    size_t n, room;
    struct figure_pair total;
};

static void items_release(struct items *items)
{
    for (size_t i = 0; i < items->n; i++)
        for (size_t k = 0; k < items->nkeys; k++)
            if (items->kind->keys[k].type == COLUMN_TEXT)
                free(items->list[i].keys[k].text);
    free(items->list);
}

/* The value of a column of the statement. -1: out of memory. */
static int read_value(sqlite3_stmt *statement, int column, enum column_type type,
                      struct value *value)
{
    *value = (struct value){0};
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return 0;
    value->known = true;
    if (type == COLUMN_NUMBER) {
        value->number = sqlite3_column_double(statement, column);
    } else if (type == COLUMN_COUNT) {
        int64_t count = sqlite3_column_int64(statement, column);
        value->count = count > 0 ? (uint64_t)count : 0;
    } else {
        const char *text = (const char *)sqlite3_column_text(statement, column);
        value->text = text ? strdup(text) : NULL;
        return value->text ? 0 : -1;
    }
    return 0;
}

static int items_add(struct items *items, const struct profile *profile,
                     const struct view_query *query, sqlite3_stmt *statement)
{
    int bad = 0;
    if (items->n == items->room) {
        size_t room = items->room ? 2 * items->room : 64;
        struct item *grown = realloc(items->list, room * sizeof *grown);
        if (!grown)
            return -1;
        items->list = grown;
        items->room = room;
    }
    struct item *item = &items->list[items->n];
    *item = (struct item){.order = items->n++};
    for (size_t k = 0; k < items->nkeys; k++)
        bad |= read_value(statement, (int)k, items->kind->keys[k].type, &item->keys[k]);
    figures_read(profile, statement, (int)items->nkeys, &item->pair);
    figures_add(&items->total, &item->pair);
    item->measure = figures_measure(profile, &item->pair, query->order);
    return bad;
}

static int items_read(struct items *items, const struct profile *profile,
                      const struct view_query *query, struct strata_error *error)
{
    sqlite3_stmt *statement;
    int code = SQLITE_DONE, bad = 0;
    int status = selection_prepare(profile, query, items->kind->query, &statement, error);
    if (status)
        return status;
    while (!bad && (code = sqlite3_step(statement)) == SQLITE_ROW)
        bad = items_add(items, profile, query, statement);
    if (bad)
        status = fail(error, STRATA_FAILED, "%s: out of memory", profile->path);
    else if (code != SQLITE_DONE)
        status = sql_damaged(profile->db, profile->path, error);
    sqlite3_finalize(statement);
    return status;
}

static int compare_items(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->measure != b->measure)
        return a->measure > b->measure ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Items into the table. */

static void put_keys(struct table *table, const struct items *items,
                     const struct item *item)
{
    for (size_t k = 0; k < items->nkeys; k++) {
        const struct value *value = &item->keys[k];
        enum column_type type = items->kind->keys[k].type;
        if (value->known && type == COLUMN_TEXT)
            table_text(table, k, value->text);
        else if (value->known && type == COLUMN_COUNT)
            table_count(table, k, value->count);
        else if (value->known)
            table_number(table, k, value->number);
        else if (type == COLUMN_COUNT)
            table_none(table, k); /* counts of blocks are known, or there is none */
    }
}

/* The sum of the items that were left out. */
static void put_rest(struct view *view, const struct items *items,
                     const struct profile *profile, size_t from)
{
    struct figure_pair rest = {0};
    char text[64], digits[THOUSANDS_TEXT];
    view->rest = items->n - from;
    for (size_t i = from; i < items->n; i++)
        figures_add(&rest, &items->list[i].pair);
    snprintf(text, sizeof text, "(%s other%s)", format_thousands(view->rest, digits),
             view->rest == 1 ? "" : "s");
    table_row(&view->rows);
    for (size_t k = 1; k < view->rows.ncolumns; k++)
        table_none(&view->rows, k);
    table_text(&view->rows, 0, text);
    figures_fill(profile, &view->rows, items->nkeys, &rest, &items->total,
                 items->kind->brief);
}

static size_t rows_shown(const struct items *items, const struct profile *profile,
                         const struct view_query *query)
{
    size_t shown = query->top && query->top < items->n ? query->top : items->n;
    double all = (double)figures_measure(profile, &items->total, query->order);
    while (shown > 1 && all > 0 &&
           100 * (double)items->list[shown - 1].measure < query->least * all)
        shown--;
    return shown;
}

static const struct column source_column = TEXT("source", "source", 2);

/* The text of the line into the last column; file and line are the first two keys. */
static void put_source(struct table *table, const struct profile *profile,
                       const struct item *item)
{
    char text[SOURCE_TEXT];
    if (item->keys[0].known && item->keys[1].known &&
        source_line(item->keys[0].text, item->keys[1].count, profile->path, text))
        table_text(table, table->ncolumns - 1, text);
}

static void put_items(struct view *view, const struct items *items,
                      const struct profile *profile, const struct view_query *query)
{
    size_t shown = rows_shown(items, profile, query);
    bool sources = query->sources && strcmp(items->kind->name, "lines") == 0;
    for (size_t k = 0; k < items->nkeys; k++)
        table_column(&view->rows, items->kind->keys[k]);
    figures_columns(profile, &view->rows, items->kind->brief);
    if (sources)
        table_column(&view->rows, source_column);
    for (size_t i = 0; i < shown && !view->rows.failed; i++) {
        table_row(&view->rows);
        put_keys(&view->rows, items, &items->list[i]);
        figures_fill(profile, &view->rows, items->nkeys, &items->list[i].pair,
                     &items->total, items->kind->brief);
        if (sources)
            put_source(&view->rows, profile, &items->list[i]);
    }
    if (shown < items->n && !view->rows.failed)
        put_rest(view, items, profile, shown);
}

static int make_rows(struct view *view, const struct profile *profile,
                     const struct view_query *query, const struct view_kind *kind,
                     struct strata_error *error)
{
    struct items items = {.kind = kind};
    while (items.nkeys < MAX_KEYS && *kind->keys[items.nkeys].key)
        items.nkeys++;
    int status = items_read(&items, profile, query, error);
    if (!status) {
        if (items.n)
            qsort(items.list, items.n, sizeof *items.list, compare_items);
        put_items(view, &items, profile, query);
        figures_columns(profile, &view->totals, false);
        table_row(&view->totals);
        figures_fill(profile, &view->totals, 0, &items.total, &items.total, false);
    }
    items_release(&items);
    return status;
}

static const struct view_kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static void make_title(struct view *view, const struct view_query *query)
{
    static const char *const orders[] = {
        [BY_LATENCY] = "latency", [BY_MISSES] = "misses", [BY_EVENTS] = "events"};
    bool object = query->object, function = query->function;
    snprintf(view->title, sizeof view->title, "%s%s%.180s%s%.180s, by %s", view->name,
             object ? " of " : "", object ? query->object : "", function ? " in " : "",
             function ? query->function : "", orders[query->order]);
}

static int make_parts(struct view *view, const struct profile *profile,
                      const struct view_query *query, const struct view_kind *kind,
                      struct strata_error *error)
{
    int status = kind->query ? make_rows(view, profile, query, kind, error)
                             : view_levels(view, profile, query, error);
    if (!status && !kind->query)
        status = view_processes(view, profile, query, error);
    if (!status)
        status = view_run(view, profile, query, error);
    if (!status)
        status = view_provenance(view, profile, error);
    if (!status)
        status = view_add_notes(view, profile, query, error);
    if (!status && (view->rows.failed || view->totals.failed || view->run.failed ||
                    view->processes.failed || view->provenance.failed))
        status = fail(error, STRATA_FAILED, "%s: out of memory", profile->path);
    return status;
}

int view_make(const struct profile *profile, const struct view_query *query,
              struct view *view, struct strata_error *error)
{
    const struct view_kind *kind = find_kind(query->view);
    *view = (struct view){0};
    if (!kind)
        return fail(error, STRATA_BAD_INPUT, "no view %s; there are %s", query->view,
                    VIEW_WORDS);
    if (kind->missing)
        return fail(error, STRATA_BAD_INPUT,
                    "%s: this profile has no %s: strata record does not note yet %s; "
                    "there are %s",
                    profile->path, kind->name, kind->missing, VIEW_WORDS);
    int status = selection_check(profile, query, error);
    if (status)
        return status;
    static const char *const shares[] = {[BY_LATENCY] = "latency_pct",
                                         [BY_MISSES] = "misses_pct",
                                         [BY_EVENTS] = "events_pct"};
    view->name = kind->name;
    view->leading = kind->query ? shares[query->order] : NULL;
    make_title(view, query);
    status = make_parts(view, profile, query, kind, error);
    if (status)
        view_release(view);
    return status;
}

void view_release(struct view *view)
{
    table_release(&view->rows);
    table_release(&view->totals);
    table_release(&view->run);
    table_release(&view->processes);
    table_release(&view->provenance);
}
