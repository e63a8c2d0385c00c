/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Grids, folding and numbers, as terminal.h promises them. */
#include "report/terminal.h"

#include "core/units.h"
#include "core/utf8.h"
#include "dataset/dataset.h"

#include <langinfo.h>
#include <math.h>
#include <string.h>

struct style style_make(bool colour)
{
    return (struct style){colour, !strcmp(nl_langinfo(CODESET), "UTF-8")};
}

static const char *const paints[] = {
    [PAINT_NONE] = "",
    [PAINT_BOLD] = "\033[1m",
    [PAINT_DIM] = "\033[2m",
    [PAINT_WARN] = "\033[33m",
};

const char *paint_begin(const struct style *style, enum paint paint)
{
    return style->colour ? paints[paint] : "";
}

const char *paint_end(const struct style *style, enum paint paint)
{
    return style->colour && *paints[paint] ? "\033[0m" : "";
}

const char *style_dash(const struct style *style)
{
    return style->utf8 ? "–" : "-";
}

void grid_row(struct grid *grid)
{
    if (grid->rows < GRID_ROWS)
        grid->rows++;
}

void grid_set(struct grid *grid, int column, const char *text)
{
    utf8_clean(text, grid->cells[grid->rows - 1][column], GRID_CELL);
}

void grid_mark(struct grid *grid, int column, char mark)
{
    grid->marks[grid->rows - 1][column] = mark;
}

static int column_width(const struct grid *grid, int column)
{
    size_t width = 0;
    for (int row = 0; row < grid->rows; row++) {
        size_t length = utf8_length(grid->cells[row][column]);
        width = length > width ? length : width;
    }
    return (int)width;
}

static enum paint cell_paint(const struct grid *grid, int row, int column,
                             const struct style *style)
{
    if (row == 0)
        return PAINT_DIM;
    if (!strcmp(grid->cells[row][column], style_dash(style)))
        return PAINT_DIM;
    return column == 0 ? PAINT_BOLD : PAINT_NONE;
}

static void print_cell(FILE *out, const struct grid *grid, int row, int column, int width,
                       bool last, const struct style *style)
{
    const char *text = grid->cells[row][column];
    enum paint paint = *text ? cell_paint(grid, row, column, style) : PAINT_NONE;
    int space = width - (int)utf8_length(text);
    bool right = grid->align[column] == 'r';
    fprintf(out, "%*s%s%s%s", right ? space : 0, "", paint_begin(style, paint), text,
            paint_end(style, paint));
    char mark = grid->marks[row][column];
    if (mark)
        fprintf(out, "%s%c%s", paint_begin(style, PAINT_WARN), mark,
                paint_end(style, PAINT_WARN));
    if (!last)
        fprintf(out, "%*s", (right ? 0 : space) + (mark ? 1 : 2), "");
}

/* Columns from..to (exclusive) of a row behind its first one. Nothing is printed behind
 * the last cell that is not empty, so that no line ends in spaces. */
static void print_piece(FILE *out, const struct grid *grid, int row, int from, int to,
                        const int *widths, const struct style *style)
{
    int last = to - 1;
    while (last >= from && !*grid->cells[row][last])
        last--;
    if (last < from)
        return; /* a row without anything in this piece */
    fputs("  ", out);
    print_cell(out, grid, row, 0, widths[0], false, style);
    for (int column = from; column <= last; column++)
        print_cell(out, grid, row, column, widths[column], column == last, style);
    putc('\n', out);
}

/* The first column that no longer fits beside those from `from` on; at least one does. */
static int piece_end(const int *widths, int columns, int from, int width)
{
    int used = 2 + widths[0], column = from;
    while (column < columns && (column == from || used + 2 + widths[column] < width)) {
        used += 2 + widths[column];
        column++;
    }
    return column;
}

void grid_print(FILE *out, const struct grid *grid, const struct style *style, int width)
{
    int columns = (int)strlen(grid->align), widths[GRID_COLUMNS];
    for (int column = 0; column < columns; column++)
        widths[column] = column_width(grid, column);
    for (int from = 1, to; from < columns; from = to) {
        to = piece_end(widths, columns, from, width);
        for (int row = 0; row < grid->rows; row++)
            print_piece(out, grid, row, from, to, widths, style);
    }
}

/* Bytes of the longest piece of text that fits `room` columns and ends between words,
 * or in a word that is longer than a line. */
static size_t fold(const char *text, size_t room)
{
    size_t columns = 0, at = 0, cut = 0;
    for (; text[at] && columns <= room; at++) {
        if (text[at] == ' ')
            cut = at;
        if ((text[at + 1] & 0xc0) != 0x80)
            columns++;
    }
    if (columns <= room)
        return at;
    return cut ? cut : at - 1;
}

void print_folded(FILE *out, const char *text, int width, int indent)
{
    char clean[1024];
    const char *rest = utf8_clean(text, clean, sizeof clean);
    for (int margin = 0; *rest; margin = indent) {
        size_t n = fold(rest, (size_t)(width - margin));
        while (n && (rest[n] & 0xc0) == 0x80)
            n--; /* between characters */
        n = n ? n : 1;
        fprintf(out, "%*s%.*s\n", margin, "", (int)n, rest);
        rest += n;
        rest += strspn(rest, " ");
    }
}

/* The power of ten that the last digit of a value may stand for: a quarter of its interval,
 * but no less than `least`. */
static double digit_of(const struct strata_value *value, double least)
{
    double width = value->high - value->low;
    if (!(width > 4 * least) || !isfinite(width))
        return least;
    return fmin(pow(10, floor(log10(width / 4))), 1e6);
}

/* Whether a time is known to no better than a factor of two: then one number would be a
 * false one. */
static bool is_vague(const struct strata_value *value)
{
    return isfinite(value->low) && isfinite(value->high) && value->high > 2 * value->low;
}

/* "42 .. 330 cycles", rounded outwards to two digits. */
static void format_vague(const struct strata_value *value, char *text, size_t size)
{
    double low = pow(10, floor(log10(fmax(value->low, 0.1))) - 1);
    double high = pow(10, floor(log10(value->high)) - 1);
    snprintf(text, size, "%.3g .. %.3g cycles", floor(value->low / low) * low,
             ceil(value->high / high) * high);
}

void format_cycles(const struct strata_value *cycles, char *text, size_t size)
{
    if (is_vague(cycles)) {
        format_vague(cycles, text, size);
        return;
    }
    double digit = digit_of(cycles, 0.1);
    double shown = round(cycles->value / digit) * digit;
    bool whole = digit >= 1 || shown >= 100 || fabs(shown - round(shown)) < 0.05;
    snprintf(text, size, "%.*f cycles", whole ? 0 : 1, shown);
}

void format_ns(const struct strata_value *ns, char *text, size_t size)
{
    if (is_vague(ns)) {
        *text = '\0';
        return;
    }
    double digit = digit_of(ns, 0.1);
    if (digit < 1 && ns->value < 9.95)
        snprintf(text, size, "%.1f ns", ns->value);
    else
        snprintf(text, size, "%.0f   ns",
                 round(ns->value / fmax(digit, 1)) * fmax(digit, 1));
}

void format_three(double value, char text[32])
{
    int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
    snprintf(text, 32, "%.*f", digits, value);
}

static void join_ends(const char *low, const char *high, char *text, size_t size)
{
    if (strcmp(low, high))
        snprintf(text, size, "%s .. %s", low, high);
    else
        snprintf(text, size, "%s", low);
}

static bool has_interval(const struct strata_value *value)
{
    return isfinite(value->low) && isfinite(value->high) && value->low < value->high;
}

void format_interval(const struct strata_value *value, char *text, size_t size)
{
    char low[SIZE_TEXT], high[SIZE_TEXT];
    bool interval = has_interval(value);
    format_size_measured(interval ? value->low : value->value, interval ? -1 : 0, low);
    format_size_measured(interval ? value->high : value->value, interval, high);
    join_ends(low, high, text, size);
}

void format_sure(double confidence, char *text, size_t size)
{
    if (confidence >= 0.05)
        snprintf(text, size, "%.0f%% sure", floor(fmin(confidence, 1) * 100));
    else
        snprintf(text, size, "not confirmed");
}

int bound(int value, int least, int most)
{
    return value < least ? least : value > most ? most : value;
}

void format_provenance(const struct strata_probed *probed, char *text, size_t size)
{
    char where[32] = "", busy[48] = "";
    if (probed->cpu >= 0)
        snprintf(where, sizeof where, " on cpu %d", probed->cpu);
    if (probed->busy >= 0.005)
        snprintf(busy, sizeof busy, ", %.0f%% of trials disturbed", probed->busy * 100);
    const char *source = probed->source ? probed->source : "unknown source";
    if (probed->method && strcmp(probed->method, "counters") == 0)
        snprintf(busy, sizeof busy, ", %.2f million accesses",
                 (double)probed->accesses / 1e6);
    snprintf(text, size, "%s%s%s, %.1f s%s", strcmp(source, "sim") ? source : "simulated",
             probed->method && strcmp(probed->method, "counters") == 0 ? ", counts" : "",
             where, isfinite(probed->seconds) ? probed->seconds : 0, busy);
}

void format_origin(const struct strata_probed *probed, char *text, size_t size)
{
    static const struct dataset none;
    const struct dataset *data = probed->data ? probed->data : &none;
    char provenance[128], whole[400];
    format_provenance(probed, provenance, sizeof provenance);
    snprintf(whole, sizeof whole, "%s%s%s%s%sstrata%s%s: %s", *data->host ? "host " : "",
             data->host, *data->host ? ", " : "", data->date, *data->date ? ", " : "",
             *data->version ? " " : "", data->version, provenance);
    utf8_clean(whole, text, size);
}
