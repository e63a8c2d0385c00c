/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A view as a table for people.
 *
 *     objects, by latency: 50,000,000 cycles of latency, 1,000,000 misses, 50.0 an event
 *       object             latency  %latency           misses  %misses  cyc/event
 *       mem_init-main   41,000,000      82.0 ████████ 650,000     65.0       63.1
 *       Exc              1,400,000       2.8 ▎        120,000     12.0       11.7
 *
 * The first column and the source get what the others leave; columns are taken in the order
 * of their ranks as long as they fit. A dash stands for what is not known; where there is
 * nothing to know, a place stays empty. */
#include "core/units.h"
#include "core/utf8.h"
#include "report/terminal.h"
#include "report/view_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    INDENT = 2,
    GAP = 2,
    NAME_LEAST = 20,   /* columns that the first one keeps, if it needs them */
    TEXT_MOST = 28,    /* of any other text */
    SOURCE_LEAST = 16, /* of a source line */
    BAR_LEAST = 4,
    BAR_MOST = 10,
    CELL = 64,
    MAX_SHOWN = 64
};

/* From here on a whole column is in millions, so that it stays readable. */
#define MILLIONS 10000000000u

struct layout {
    const struct view *view;
    const struct table *table;
    struct style style;
    int width;
    size_t shown[MAX_SHOWN]; /* columns, the first one apart */
    int widths[MAX_SHOWN];
    bool millions[MAX_SHOWN];
    size_t nshown;
    int name; /* width of the first column */
    int bar;  /* width of the bars behind the leading share, with the space before them */
    double longest; /* the share that fills a bar */
};

/* Text. */

/* The first `n` characters of a text, in bytes. */
static size_t bytes_of(const char *text, size_t n)
{
    size_t at = 0;
    while (text[at] && (n || (text[at] & 0xc0) == 0x80)) {
        n -= (text[at] & 0xc0) != 0x80;
        at++;
    }
    return at;
}

/* Prints a text in at most `width` columns: head and tail of one that is too long. */
static int print_short(FILE *out, const char *text, int width, const struct style *style)
{
    int length = (int)utf8_length(text), dots = style->utf8 ? 1 : 3;
    if (length <= width) {
        fputs(text, out);
        return length;
    }
    size_t head = (size_t)(width - dots + 1) / 2, tail = (size_t)(width - dots) / 2;
    fprintf(out, "%.*s%s%s", (int)bytes_of(text, head), text, style->utf8 ? "…" : "...",
            text + bytes_of(text, (size_t)length - tail));
    return width;
}

/* The same, of which the end is cut off. */
static int print_cut(FILE *out, const char *text, int width, const struct style *style)
{
    int length = (int)utf8_length(text), dots = style->utf8 ? 1 : 3;
    if (length <= width) {
        fputs(text, out);
        return length;
    }
    fprintf(out, "%.*s%s", (int)bytes_of(text, (size_t)(width - dots)), text,
            style->utf8 ? "…" : "...");
    return width;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* What stands in the first column: the name, with ":line" behind it where there is one, or
 * the module of what has no name. The caller frees it; NULL: out of memory. */
static char *row_name(const struct table *table, size_t row)
{
    const struct value *value = table_at(table, row, 0);
    size_t module = table_find(table, "module");
    const struct value *in = module < table->ncolumns ? table_at(table, row, module) : NULL;
    char *name = NULL, *clean;
    int n;
    if (value->known && table->ncolumns > 1 && table->columns[1].joined &&
        table_at(table, row, 1)->known)
        n = asprintf(&name, "%s:%llu", value->text,
                     (unsigned long long)table_at(table, row, 1)->count);
    else if (value->known)
        n = asprintf(&name, "%s", value->text);
    else
        n = asprintf(&name, "(%s)", in && in->known ? base_of(in->text) : "unknown");
    if (n < 0)
        return NULL;
    clean = malloc((size_t)n + 1);
    if (clean)
        utf8_clean(name, clean, (size_t)n + 1);
    free(name);
    return clean;
}

static void format_count(uint64_t count, bool millions, char text[CELL])
{
    char digits[THOUSANDS_TEXT];
    uint64_t shown = millions ? (count + 500000) / 1000000 : count;
    const char *tiny = millions && count && !shown ? "<" : "";
    snprintf(text, CELL, "%s%s%s", tiny, format_thousands(*tiny ? 1 : shown, digits),
             millions ? "M" : "");
}

/* A sign is shown, but not before zeros. */
static void format_points(double points, char text[CELL])
{
    bool none = fabs(points) < 0.005;
    snprintf(text, CELL, none ? "%.2f" : "%+.2f", none ? 0 : points);
}

static void format_number(double number, char text[CELL])
{
    char digits[THOUSANDS_TEXT];
    if (number < 1000 || number > 1e18)
        snprintf(text, CELL, "%.1f", number);
    else
        snprintf(text, CELL, "%s", format_thousands((uint64_t)(number + 0.5), digits));
}

/* A cell that is no text. */
static void format_cell(const struct layout *layout, size_t row, size_t i, char text[CELL])
{
    size_t column = layout->shown[i];
    const struct value *value = table_at(layout->table, row, column);
    if (!value->known) {
        snprintf(text, CELL, "%s", value->none ? "" : style_dash(&layout->style));
        return;
    }
    switch (layout->table->columns[column].type) {
    case COLUMN_COUNT:
        format_count(value->count, layout->millions[i], text);
        break;
    case COLUMN_ID:
        snprintf(text, CELL, "%" PRIu64, value->count);
        break;
    case COLUMN_POINTS:
        format_points(value->number, text);
        break;
    default:
        format_number(value->number, text);
    }
}

/* Layout. */

static bool in_millions(const struct table *table, size_t column)
{
    for (size_t row = 0; row < table->nrows; row++)
        if (table->columns[column].type == COLUMN_COUNT &&
            table_at(table, row, column)->known &&
            table_at(table, row, column)->count >= MILLIONS)
            return true;
    return false;
}

static int text_width(const struct value *value)
{
    int width = value->known ? (int)utf8_length(value->text) : 1;
    return bound(width, 1, TEXT_MOST);
}

static bool is_rest(const struct layout *layout, size_t row)
{
    return layout->view->rest && row + 1 == layout->table->nrows &&
           layout->table == &layout->view->rows;
}

/* Bars, drawn in eighths of a column, or in whole ones without UTF-8. */

static bool has_bar(const struct layout *layout, size_t column)
{
    const char *leading = layout->view->leading;
    return leading && layout->table == &layout->view->rows &&
           strcmp(layout->table->columns[column].key, leading) == 0;
}

static void measure_bars(struct layout *layout)
{
    const struct table *table = layout->table;
    size_t column =
        layout->view->leading ? table_find(table, layout->view->leading) : table->ncolumns;
    layout->bar = BAR_LEAST + 1;
    for (size_t row = 0; column < table->ncolumns && row < table->nrows; row++)
        if (!is_rest(layout, row) && table_at(table, row, column)->known)
            layout->longest = fmax(layout->longest, table_at(table, row, column)->number);
}

/* Returns the columns of the bar that are still empty behind it. */
static int print_bar(FILE *out, const struct layout *layout, size_t row, size_t column)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const struct value *value = table_at(layout->table, row, column);
    int whole = layout->bar - 1;
    if (is_rest(layout, row) || !value->known || !(layout->longest > 0))
        return layout->bar;
    int parts = (int)lround(8 * whole * value->number / layout->longest);
    bool utf8 = layout->style.utf8, rest = utf8 ? parts % 8 : parts % 8 >= 4;
    int used = parts / 8 + rest;
    if (!used)
        return layout->bar; /* no space at the end of a line */
    putc(' ', out);
    for (int i = 0; i < parts / 8; i++)
        fputs(utf8 ? "█" : "#", out);
    if (rest)
        fputs(utf8 ? eighths[parts % 8] : "#", out);
    return whole - used;
}

/* A source line gets what is left at the end, and is cut off there. */
static bool is_source(const struct table *table, size_t column)
{
    return strcmp(table->columns[column].key, "source") == 0;
}

/* Sets the width of column i of those that may be shown. */
static void measure(struct layout *layout, size_t i)
{
    const struct table *table = layout->table;
    const struct column *about = &table->columns[layout->shown[i]];
    int width = (int)utf8_length(about->heading);
    char text[CELL];
    layout->millions[i] = in_millions(table, layout->shown[i]);
    for (size_t row = 0; row < table->nrows; row++) {
        int w;
        if (about->type == COLUMN_TEXT) {
            w = text_width(table_at(table, row, layout->shown[i]));
        } else {
            format_cell(layout, row, i, text);
            w = (int)utf8_length(text);
        }
        width = w > width ? w : width;
    }
    if (is_source(table, layout->shown[i]) && width > SOURCE_LEAST)
        width = SOURCE_LEAST;
    layout->widths[i] = width + (has_bar(layout, layout->shown[i]) ? layout->bar : 0);
}

static int source_width(const struct table *table, size_t column)
{
    int width = 0;
    for (size_t row = 0; row < table->nrows; row++) {
        const struct value *value = table_at(table, row, column);
        int w = value->known ? (int)utf8_length(value->text) : 1;
        width = w > width ? w : width;
    }
    return width;
}

static int name_width(const struct table *table)
{
    int width = (int)utf8_length(table->columns[0].heading);
    for (size_t row = 0; row < table->nrows; row++) {
        char *name = row_name(table, row);
        int w = name ? (int)utf8_length(name) : 0;
        width = w > width ? w : width;
        free(name);
    }
    return width;
}

/* A column with nothing in it is not worth its place. */
static bool empty(const struct table *table, size_t column)
{
    for (size_t row = 0; row < table->nrows; row++)
        if (table_at(table, row, column)->known)
            return false;
    return table->nrows > 0;
}

/* The next column that is neither taken nor refused, by rank; ncolumns: none. */
static size_t next_by_rank(const struct table *table, const bool *seen)
{
    size_t best = table->ncolumns;
    for (size_t c = 1; c < table->ncolumns; c++)
        if (!seen[c] && !table->columns[c].joined &&
            (best == table->ncolumns || table->columns[c].rank < table->columns[best].rank))
            best = c;
    return best;
}

static void widen_bars(struct layout *layout, int by)
{
    for (size_t i = 0; i < layout->nshown; i++)
        layout->widths[i] += has_bar(layout, layout->shown[i]) ? by : 0;
    layout->bar += by;
}

/* Takes columns by rank while they fit; those of lower rank than one that does not fit
 * are left out too, so that what is shown does not depend on the digits of a number. */
static void choose(struct layout *layout)
{
    const struct table *table = layout->table;
    bool seen[MAX_SHOWN] = {false}, taken[MAX_SHOWN] = {false};
    int natural = name_width(table);
    measure_bars(layout);
    int left = layout->width - INDENT - (natural < NAME_LEAST ? natural : NAME_LEAST);
    for (size_t c; (c = next_by_rank(table, seen)) < table->ncolumns; seen[c] = true) {
        if (empty(table, c))
            continue;
        layout->shown[0] = c;
        measure(layout, 0);
        if (layout->widths[0] + GAP > left)
            break;
        left -= layout->widths[0] + GAP;
        taken[c] = true;
    }
    for (size_t c = 1; c < table->ncolumns; c++)
        if (taken[c])
            layout->shown[layout->nshown++] = c;
    for (size_t i = 0; i < layout->nshown; i++)
        measure(layout, i);
    int room = (natural < NAME_LEAST ? natural : NAME_LEAST) + left;
    size_t last = layout->nshown - 1;
    layout->name = natural < room ? natural : room;
    if (!layout->nshown || !is_source(table, layout->shown[last])) {
        widen_bars(layout, bound(room - layout->name, 0, BAR_MOST - BAR_LEAST));
        return;
    }
    layout->name = natural < NAME_LEAST ? natural : NAME_LEAST;
    int wanted = source_width(table, layout->shown[last]);
    int more = bound(wanted - layout->widths[last], 0, left);
    layout->widths[last] += more;
    layout->name = bound(natural, layout->name, layout->name + left - more);
}

/* Printing. */

static void pad(FILE *out, int n)
{
    fprintf(out, "%*s", n > 0 ? n : 0, "");
}

static void print_heading_row(FILE *out, const struct layout *layout)
{
    const struct style *style = &layout->style;
    const struct table *table = layout->table;
    pad(out, INDENT);
    fputs(paint_begin(style, PAINT_DIM), out);
    fputs(table->columns[0].heading, out);
    int space = layout->name - (int)utf8_length(table->columns[0].heading);
    for (size_t i = 0; i < layout->nshown; i++) {
        const struct column *about = &table->columns[layout->shown[i]];
        int bar = has_bar(layout, layout->shown[i]) ? layout->bar : 0;
        int room = layout->widths[i] - bar - (int)utf8_length(about->heading);
        bool left = about->type == COLUMN_TEXT;
        pad(out, space + GAP + (left ? 0 : room));
        fputs(about->heading, out);
        space = left ? room : bar;
    }
    fputs(paint_end(style, PAINT_DIM), out);
    putc('\n', out);
}

/* Prints one cell; returns the columns that are still to be filled behind it, which are
 * not printed at the end of a line. */
static int print_cell(FILE *out, const struct layout *layout, size_t row, size_t i)
{
    size_t column = layout->shown[i];
    char text[CELL];
    if (layout->table->columns[column].type == COLUMN_TEXT) {
        const struct value *value = table_at(layout->table, row, column);
        const char *dash = value->none ? "" : style_dash(&layout->style);
        const char *shown = value->known ? value->text : dash;
        char *clean = malloc(strlen(shown) + 1);
        int used = 0;
        if (clean && is_source(layout->table, column))
            used = print_cut(out, utf8_clean(shown, clean, strlen(shown) + 1),
                             layout->widths[i], &layout->style);
        else if (clean)
            used = print_short(out, utf8_clean(shown, clean, strlen(shown) + 1),
                               layout->widths[i], &layout->style);
        free(clean);
        return layout->widths[i] - used;
    }
    bool bar = has_bar(layout, column);
    format_cell(layout, row, i, text);
    pad(out, layout->widths[i] - (bar ? layout->bar : 0) - (int)utf8_length(text));
    fputs(text, out);
    return bar ? print_bar(out, layout, row, column) : 0;
}

static void print_row(FILE *out, const struct layout *layout, size_t row)
{
    enum paint paint = is_rest(layout, row) ? PAINT_DIM : PAINT_BOLD;
    char *name = row_name(layout->table, row);
    pad(out, INDENT);
    fputs(paint_begin(&layout->style, paint), out);
    int space =
        layout->name - print_short(out, name ? name : "", layout->name, &layout->style);
    fputs(paint_end(&layout->style, paint), out);
    free(name);
    for (size_t i = 0; i < layout->nshown; i++) {
        const struct value *value = table_at(layout->table, row, layout->shown[i]);
        if (!value->known && value->none) { /* no space at the end of a line */
            space += GAP + layout->widths[i];
            continue;
        }
        pad(out, space + GAP);
        space = print_cell(out, layout, row, i);
    }
    putc('\n', out);
}

static void print_table(FILE *out, const struct view *view, const struct table *table,
                        bool colour, int width)
{
    struct layout layout = {.view = view,
                            .table = table,
                            .style = style_make(colour),
                            .width = bound(width, 40, 1000)};
    if (table->ncolumns > MAX_SHOWN)
        return;
    choose(&layout);
    print_heading_row(out, &layout);
    for (size_t row = 0; row < table->nrows; row++)
        print_row(out, &layout, row);
}

static const struct value *find_value(const struct table *table, const char *key)
{
    static const struct value unknown;
    size_t column = table_find(table, key);
    return column < table->ncolumns ? table_at(table, 0, column) : &unknown;
}

static const char *text_of(const struct view *view, const char *key)
{
    const struct value *value = find_value(&view->provenance, key);
    return value->known ? value->text : "?";
}

/* One line: a long command is shortened. */
void view_heading(FILE *out, const struct view *view, const char *path, bool colour,
                  int width)
{
    struct style style = style_make(colour);
    const char *program = text_of(view, "program");
    char file[256], machine[STRATA_NAME_SIZE], collect[32];
    char *clean = malloc(strlen(program) + 1);
    utf8_clean(path, file, sizeof file);
    utf8_clean(text_of(view, "machine_name"), machine, sizeof machine);
    utf8_clean(text_of(view, "collect"), collect, sizeof collect);
    int used = (int)(utf8_length(file) + utf8_length(machine) + utf8_length(collect) +
                     strlen(":  on , "));
    fprintf(out, "%s%s: ", paint_begin(&style, PAINT_DIM), file);
    if (clean)
        print_short(out, utf8_clean(program, clean, strlen(program) + 1),
                    bound(bound(width, 40, 1000) - used, 16, 1000), &style);
    fprintf(out, " on %s, %s%s\n", machine, collect, paint_end(&style, PAINT_DIM));
    free(clean);
}

static void print_title(FILE *out, const struct view *view, int width)
{
    char latency[THOUSANDS_TEXT], misses[THOUSANDS_TEXT], text[VIEW_TEXT + 128];
    const struct value *each = find_value(&view->totals, "latency_per_event");
    if (!each->known) {
        snprintf(text, sizeof text, "%s: no events", view->title);
    } else {
        format_thousands(find_value(&view->totals, "latency")->count, latency);
        format_thousands(find_value(&view->totals, "misses")->count, misses);
        snprintf(text, sizeof text, "%s: %s cycles of latency, %s misses, %.1f an event",
                 view->title, latency, misses, each->number);
    }
    print_folded(out, text, width, INDENT);
}

/* The run as a whole, one figure a line; what was not counted is left out, and what the
 * sampler did if there was none. */
static void print_run(FILE *out, const struct view *view)
{
    const struct table *run = &view->run;
    const struct value *samples = find_value(run, "samples");
    bool sampled = samples->known && samples->count > 0;
    char text[THOUSANDS_TEXT];
    for (size_t i = 0; i < run->ncolumns; i++) {
        const struct value *value = table_at(run, 0, i);
        if (!value->known || !*run->columns[i].heading ||
            (!sampled && strncmp(run->columns[i].key, "sample", 6) == 0))
            continue;
        fprintf(out, "  %-22s%18s\n", run->columns[i].heading,
                format_thousands(value->count, text));
    }
}

/* Words that a table may have, and what they mean. */

static bool shows_events(const struct layout *layout)
{
    return find_value(&layout->view->totals, "latency_per_event")->known;
}

static bool has_name(const struct layout *layout, const char *name)
{
    const struct table *table = &layout->view->rows;
    for (size_t row = 0; row < table->nrows; row++)
        if (table_at(table, row, 0)->known && !strcmp(table_at(table, row, 0)->text, name))
            return true;
    return false;
}

static bool shows_unknown(const struct layout *layout)
{
    return has_name(layout, "<UNKNOWN>");
}

static bool shows_allocator(const struct layout *layout)
{
    return has_name(layout, "<ALLOCATOR>");
}

static bool shows_rest(const struct layout *layout)
{
    return layout->view->rest > 0;
}

static bool shows_dash(const struct layout *layout)
{
    for (size_t row = 0; row < layout->table->nrows; row++)
        for (size_t i = 0; i < layout->nshown; i++) {
            const struct value *value = table_at(layout->table, row, layout->shown[i]);
            if (!value->known && !value->none)
                return true;
        }
    return false;
}

static const struct {
    bool (*shown)(const struct layout *layout);
    const char *word; /* NULL: the dash */
    const char *meaning;
} words[] = {
    {shows_events, "event",
     "an access that missed the nearest cache or TLB; its latency: the cycles that it "
     "took"},
    {shows_unknown, "<UNKNOWN>",
     "memory that is no variable, no block of malloc and no stack, such as files and pages "
     "that were mapped"},
    {shows_allocator, "<ALLOCATOR>", "what malloc and free touch outside of blocks"},
    {shows_rest, "others", "rows beyond --top, or below 0.1%; --top 0 shows them"},
    {shows_dash, NULL, "not known"},
};

static void explain(FILE *out, const struct layout *layout, unsigned *told)
{
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        char text[256];
        if (*told & 1u << i || !words[i].shown(layout))
            continue;
        *told |= 1u << i;
        snprintf(text, sizeof text, "%s: %s",
                 words[i].word ? words[i].word : style_dash(&layout->style),
                 words[i].meaning);
        fputs(paint_begin(&layout->style, PAINT_DIM), out);
        print_folded(out, text, layout->width, INDENT);
        fputs(paint_end(&layout->style, PAINT_DIM), out);
    }
}

void view_text(FILE *out, const struct view *view, bool colour, int width, unsigned *told)
{
    struct layout layout = {
        .view = view, .table = &view->rows, .style = style_make(colour)};
    layout.width = width = bound(width, 40, 1000);
    if (strcmp(view->name, "totals") == 0)
        print_run(out, view);
    print_title(out, view, width);
    if (view->rows.nrows)
        print_table(out, view, &view->rows, colour, width);
    if (view->processes.nrows > 1)
        print_table(out, view, &view->processes, colour, width);
    for (size_t i = 0; i < view->nnotes; i++)
        print_folded(out, view->notes[i], width, INDENT);
    if (!told || !view->rows.ncolumns || view->rows.ncolumns > MAX_SHOWN)
        return;
    choose(&layout);
    explain(out, &layout, told);
}
