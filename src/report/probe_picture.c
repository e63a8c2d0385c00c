/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The latency curve in a terminal: log footprint against log cycles, with the levels
 * named above, their ends marked, and a bar at each latency that is told, which shows
 * where the curve is elsewhere.
 *
 *     cycles     L1 32K          L2 896K        L3 12M     memory
 *       500 ┤              ┊                ┊           ┊ ⣀⣀⠤⠤⠒⠒⠒
 *       100 ┤              ┊                ┊        ⡠⠔⠊⠉
 *        10 ┤              ┊ ⣀⣀⣀⣀⠤⠤⠤⠤⠤⠒⠒⠒⠒⠊⠉
 *         4 ┤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠊⠉
 *           └┬──────────┬──────────┬──────────┬──────────┬──────
 *            4K        32K        256K        2M         16M
 *
 * A braille character is a matrix of 2 x 4 dots; without UTF-8 a character is 1 x 2. */
#include "core/units.h"
#include "report/probe_levels.h"
#include "report/probe_report.h"
#include "report/terminal.h"

#include <math.h>
#include <string.h>

enum { MARGIN = 8, MAX_WIDTH = 200, MAX_HEIGHT = 60, NO_LEVEL = -1 };

struct scale {
    double low, high; /* logarithms */
    int dots;
};

struct picture {
    const struct style *style;
    int columns, rows; /* of the plot itself, in characters */
    int across, down;  /* dots in a character */
    struct scale x, y; /* y upwards */
    size_t nlevels;
    struct level levels[PROBE_LEVELS];
    unsigned char dots[MAX_HEIGHT][MAX_WIDTH]; /* bit set per character */
    signed char colour[MAX_WIDTH];             /* level by column, or NO_LEVEL */
    bool ends[MAX_WIDTH];                      /* a level ends in this column */
    signed char bars[MAX_WIDTH];               /* the row of its latency, or NO_LEVEL */
};

static int to_dot(const struct scale *scale, double value)
{
    if (!(value > 0))
        return 0;
    double part = (log2(value) - scale->low) / (scale->high - scale->low);
    return bound((int)(fmax(0, fmin(part, 1)) * scale->dots), 0, scale->dots - 1);
}

static int column_of(const struct picture *picture, double x)
{
    return to_dot(&picture->x, x) / picture->across;
}

static int row_of(const struct picture *picture, double y)
{
    return picture->rows - 1 - to_dot(&picture->y, y) / picture->down;
}

/* The bit of a dot in its character: braille numbers its dots down two columns of
 * three, and then along the fourth row; ASCII has an upper and a lower half. */
static unsigned char dot_bit(const struct picture *picture, int x, int y)
{
    static const unsigned char braille[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int below = picture->down - 1 - y % picture->down;
    return picture->style->utf8 ? braille[below][x % 2] : (unsigned char)(1 << below);
}

static void draw_dot(struct picture *picture, int x, int y)
{
    int row = picture->rows - 1 - y / picture->down;
    picture->dots[row][x / picture->across] |= dot_bit(picture, x, y);
}

/* A straight line of dots, one for every step along its longer side. */
static void draw_line(struct picture *picture, int x0, int y0, int x1, int y1)
{
    int dx = x1 - x0, dy = y1 - y0;
    int steps = dx > dy && dx > -dy ? dx : dy < 0 ? -dy : dy;
    for (int i = 0; i <= steps; i++) {
        double part = steps ? (double)i / steps : 0;
        draw_dot(picture, x0 + (int)lround(part * dx), y0 + (int)lround(part * dy));
    }
}

static void draw_curve(struct picture *picture, const struct curve *curve)
{
    for (size_t i = 0; i + 1 < curve->n; i++)
        draw_line(picture, to_dot(&picture->x, curve->x[i]),
                  to_dot(&picture->y, curve->y[i]), to_dot(&picture->x, curve->x[i + 1]),
                  to_dot(&picture->y, curve->y[i + 1]));
}

static void mark_levels(struct picture *picture)
{
    memset(picture->colour, NO_LEVEL, sizeof picture->colour);
    memset(picture->bars, NO_LEVEL, sizeof picture->bars);
    for (size_t i = 0; i < picture->nlevels; i++) {
        int begin = column_of(picture, picture->levels[i].begin);
        int end = column_of(picture, picture->levels[i].end);
        int row = row_of(picture, picture->levels[i].height);
        for (int column = begin; column <= end; column++) {
            picture->colour[column] = (signed char)i;
            picture->bars[column] = (signed char)row;
        }
        picture->ends[end] = i + 1 < picture->nlevels;
    }
}

static void set_scales(struct picture *picture, const struct curve *curve)
{
    double low = curve->y[0], high = curve->y[0];
    for (size_t i = 0; i < curve->n; i++) {
        low = fmin(low, curve->y[i]);
        high = fmax(high, curve->y[i]);
    }
    for (size_t i = 0; i < picture->nlevels; i++) {
        low = fmin(low, picture->levels[i].height);
        high = fmax(high, picture->levels[i].height);
    }
    picture->across = picture->style->utf8 ? 2 : 1;
    picture->down = picture->style->utf8 ? 4 : 2;
    picture->x = (struct scale){log2(curve->x[0]), log2(curve->x[curve->n - 1]),
                                picture->columns * picture->across};
    picture->y =
        (struct scale){log2(low) - 0.4, log2(high) + 0.4, picture->rows * picture->down};
}

/* The terminal's own colours, so that they suit its theme. */
static const char *const colours[] = {"\033[34m", "\033[32m", "\033[33m", "\033[35m",
                                      "\033[36m"};
static const char memory_colour[] = "\033[31m";

static const char *level_colour(const struct picture *picture, int level)
{
    if (!picture->style->colour || level < 0)
        return "";
    if (!strcmp(picture->levels[level].name, "memory"))
        return memory_colour;
    return colours[(size_t)level % (sizeof colours / sizeof *colours)];
}

static const char *colour_end(const struct picture *picture, int level)
{
    return picture->style->colour && level >= 0 ? "\033[0m" : "";
}

/* The longest of three labels that fits the room. */
static void level_label(const struct level *level, int room, char *text, size_t size)
{
    snprintf(text, size, "%s %s, %s", level->name, level->extent, level->cost);
    if (!*level->extent)
        snprintf(text, size, "%s, %s", level->name, level->cost);
    if (!*level->cost || (int)strlen(text) > room)
        snprintf(text, size, "%s%s%s", level->name, *level->extent ? " " : "",
                 level->extent);
    if ((int)strlen(text) > room)
        snprintf(text, size, "%s", level->name);
    if ((int)strlen(text) > room)
        *text = '\0';
}

/* The names, each in the middle of its level. */
static void print_names(FILE *out, const struct picture *picture)
{
    int at = 0;
    fprintf(out, "%-*s", MARGIN, "cycles");
    for (size_t i = 0; i < picture->nlevels; i++) {
        int begin = column_of(picture, picture->levels[i].begin) + (i > 0);
        int end = column_of(picture, picture->levels[i].end);
        char label[96];
        level_label(&picture->levels[i], end - begin, label, sizeof label);
        int start = begin + (end - begin - (int)strlen(label)) / 2;
        if (!*label || start < at)
            continue;
        fprintf(out, "%*s%s%s%s", start - at, "", level_colour(picture, (int)i), label,
                colour_end(picture, (int)i));
        at = start + (int)strlen(label);
    }
    putc('\n', out);
}

static void print_braille(FILE *out, unsigned char dots)
{
    /* U+2800 + dots in UTF-8 */
    putc(0xe2, out);
    putc(0xa0 | dots >> 6, out);
    putc(0x80 | (dots & 0x3f), out);
}

/* What a place shows: dots of the curve before a bar before the end of a level. */
static void print_character(FILE *out, const struct picture *picture, int row, int column)
{
    static const char halves[] = " '.:"; /* none, upper, lower, both */
    unsigned char dots = picture->dots[row][column];
    int level = picture->colour[column];
    bool utf8 = picture->style->utf8, bar = picture->bars[column] == row;
    if (dots || bar)
        fputs(level_colour(picture, level), out);
    if (dots && utf8)
        print_braille(out, dots);
    else if (dots)
        putc(halves[dots & 3], out);
    else if (bar)
        fputs(utf8 ? "━" : "=", out);
    else if (picture->ends[column])
        fprintf(out, "%s%s%s", paint_begin(picture->style, PAINT_DIM), utf8 ? "┊" : "|",
                paint_end(picture->style, PAINT_DIM));
    else
        putc(' ', out);
    if (dots || bar)
        fputs(colour_end(picture, level), out);
}

static bool row_is_blank(const struct picture *picture, int row, int from)
{
    for (int column = from; column < picture->columns; column++)
        if (picture->dots[row][column] || picture->ends[column] ||
            picture->bars[column] == row)
            return false;
    return true;
}

/* The round number (1, 2 or 5 times a power of ten) in a row, or 0. */
static double tick_in_row(const struct picture *picture, int row)
{
    static const double firsts[] = {1, 2, 5};
    for (int power = -3; power <= 9; power++)
        for (size_t i = 0; i < 3; i++) {
            double value = firsts[i] * pow(10, power);
            if (log2(value) >= picture->y.low && log2(value) <= picture->y.high &&
                row_of(picture, value) == row)
                return value;
        }
    return 0;
}

static void print_rows(FILE *out, const struct picture *picture)
{
    int last_tick = -2;
    for (int row = 0; row < picture->rows; row++) {
        double tick = row - last_tick > 1 ? tick_in_row(picture, row) : 0;
        const char *wall = picture->style->utf8 ? tick > 0 ? "┤" : "│"
                           : tick > 0           ? "+"
                                                : "|";
        if (tick > 0) {
            last_tick = row;
            fprintf(out, "%*.*g %s", MARGIN - 2, 5, tick, wall);
        } else {
            fprintf(out, "%*s%s", MARGIN - 1, "", wall);
        }
        for (int column = 0; column < picture->columns; column++) {
            if (row_is_blank(picture, row, column))
                break;
            print_character(out, picture, row, column);
        }
        putc('\n', out);
    }
}

/* Powers of two from the first in range, far enough apart for their labels. */
static void print_axis(FILE *out, const struct picture *picture)
{
    bool utf8 = picture->style->utf8;
    int first = (int)ceil(picture->x.low - 1e-9), at = 0, octaves = 1;
    double per_octave = picture->columns / (picture->x.high - picture->x.low);
    char labels[MAX_WIDTH + SIZE_TEXT] = "";
    while (octaves * per_octave < 8)
        octaves++;
    fprintf(out, "%*s%s", MARGIN - 1, "", utf8 ? "└" : "+");
    for (int power = first; power <= picture->x.high + 1e-9; power += octaves) {
        int column = column_of(picture, exp2(power));
        char size[SIZE_TEXT];
        format_size_short(exp2(power), size);
        int length = (int)strlen(size), start = column - length / 2;
        start = bound(start, 0, picture->columns - length);
        for (; at < column; at++)
            fputs(utf8 ? "─" : "-", out);
        fputs(utf8 ? "┬" : "+", out);
        at++;
        int used = (int)strlen(labels);
        snprintf(labels + used, sizeof labels - (size_t)used, "%*s%s",
                 start > used ? start - used : 0, "", size);
    }
    for (; at < picture->columns; at++)
        fputs(utf8 ? "─" : "-", out);
    fprintf(out, "\n%*s%s\n", MARGIN, "", labels);
}

void probe_picture(FILE *out, const struct strata_probed *probed, bool colour, int width,
                   int height)
{
    struct style style = style_make(colour);
    struct curve curve;
    if (curve_make(dataset_find(probed->data, "cache"), &curve) || curve.n < 2) {
        curve_release(&curve);
        return;
    }
    struct picture picture = {
        .style = &style,
        .columns = bound(width, 40, MAX_WIDTH) - MARGIN,
        .rows = bound(height, 8, MAX_HEIGHT) - 3,
    };
    picture.nlevels = list_levels(probed, picture.levels);
    set_scales(&picture, &curve);
    mark_levels(&picture);
    draw_curve(&picture, &curve);
    print_names(out, &picture);
    print_rows(out, &picture);
    print_axis(out, &picture);
    curve_release(&curve);
}
