/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plot of `strata probe`: on top the latency by footprint, every observation a dot,
 * their minima a line, each level a bar in colour at the latency that is told, with what
 * that was told from, and beside it, along the same axis of latencies, the density whose
 * peaks are the levels. Below, one panel for the TLBs of each page size that was measured.
 * Last, what all of that means, in words.
 *
 * Which series belong where follows from their names: "cache" is the curve on top, and
 * "latencyN" what was measured of the N-th level. Below are "tlbN", N lines in every page,
 * and its control "packedN", as many lines in as few pages as hold them; with "huge-"
 * before that, those for huge pages. */
#include "core/units.h"
#include "core/utf8.h"
#include "report/axes.h"
#include "report/counts_plot.h"
#include "report/params.h"
#include "report/probe_levels.h"
#include "report/probe_report.h"
#include "report/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 960,
    EDGE = 18,
    LEFT = 64,
    RIGHT = 56,
    GAP = 16,
    DENSITY_WIDTH = 120,
    CURVE_TOP = 118,
    CURVE_HEIGHT = 330,
    TLB_TOP = CURVE_TOP + CURVE_HEIGHT + 108,
    TLB_HEIGHT = 190,
    TLB_GAP = 72,
    CURVE_MARGIN = 60, /* below a panel, for its labels */
    TLB_MARGIN = 84,
    WORDS_LINE = 18, /* from one line of the explanation to the next */
    WORDS_LEFT = EDGE + 40,
};

static const struct font title_font = {19, true, ALIGN_LEFT},
                         text_font = {12, false, ALIGN_LEFT},
                         name_font = {13, true, ALIGN_CENTRE},
                         label_font = {11, false, ALIGN_CENTRE},
                         panel_font = {13, true, ALIGN_LEFT};

/* The TLBs of one page size. */
struct panel {
    bool huge;
    uint64_t page;
};

/* What follows the prefix, or NULL. */
static const char *behind(const char *text, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(text, prefix, n) ? NULL : text + n;
}

/* A curve of a TLB panel: how many lines a page it visits, and whether it is a control. */
struct tlb_curve {
    const char *lines;
    bool packed;
};

static bool belongs(const struct series *series, bool huge, struct tlb_curve *curve)
{
    const char *name = huge ? behind(series->name, "huge-") : series->name;
    const char *spread = name ? behind(name, "tlb") : NULL;
    const char *packed = name ? behind(name, "packed") : NULL;
    *curve = (struct tlb_curve){spread ? spread : packed, packed != NULL};
    return curve->lines && series->npoints;
}

static bool has_series(const struct strata_probed *probed, bool huge)
{
    struct tlb_curve curve;
    for (size_t i = 0; probed->data && i < probed->data->nseries; i++)
        if (belongs(probed->data->series[i], huge, &curve))
            return true;
    return false;
}

static void hold_series(struct axes *axes, const struct series *series)
{
    for (size_t i = 0; i < series->npoints; i++)
        axes_hold(axes, series->points[i].x, point_min(&series->points[i]));
}

static void draw_observations(struct canvas *canvas, const struct axes *axes,
                              const struct series *series)
{
    double top = exp2(axes->y_high);
    for (size_t i = 0; i < series->npoints; i++)
        for (size_t j = 0; j < series->points[i].n; j++) {
            double y = series->points[i].y[j];
            /* an interrupted trial is far off: it would only stick to the upper edge */
            if (y > 0 && y < top)
                canvas_dot(canvas, axes_x(axes, series->points[i].x), axes_y(axes, y));
        }
    canvas_dots(canvas, 2.6, ink_points);
}

static void draw_minima(struct canvas *canvas, const struct axes *axes,
                        const struct series *series, double width, struct ink ink)
{
    struct curve curve;
    if (curve_make(series, &curve))
        return; /* the observations are there, and canvas_save() will say it */
    for (size_t i = 0; i < curve.n; i++) {
        curve.x[i] = axes_x(axes, curve.x[i]);
        curve.y[i] = axes_y(axes, curve.y[i]);
    }
    canvas_path(canvas, curve.x, curve.y, curve.n, width, ink);
    curve_release(&curve);
}

static bool is_memory(const struct strata_probed *probed, size_t level)
{
    return level >= (size_t)cache_count(probed);
}

/* The level's ground: tinted, with a darker band where its capacity may end. */
static void shade_level(struct canvas *canvas, const struct axes *axes,
                        const struct strata_probed *probed, const struct level *level,
                        size_t i)
{
    bool memory = is_memory(probed, i);
    double from = axes_x(axes, level->begin), to = axes_x(axes, level->end);
    double bottom = axes->top + axes->height;
    canvas_box(canvas, from, axes->top, to - from, axes->height,
               ink_level(i, memory, 0.055));
    if (memory)
        return;
    const struct strata_value *end = &probed->caches[i].effective;
    if (value_known(end) && end->high > end->low && end->low > 0) {
        double low = axes_x(axes, end->low), high = axes_x(axes, end->high);
        canvas_box(canvas, low, axes->top, high - low, axes->height,
                   ink_level(i, false, 0.14));
    }
    canvas_line(canvas, to, axes->top, to, bottom, 1.2, true, ink_level(i, false, 0.8));
}

/* "L2" above "896K, 14 cycles", in two lines where the level is narrow. */
static void name_level(struct canvas *canvas, const struct axes *axes,
                       const struct level *level, struct ink ink)
{
    enum { LINE = 15 };
    double from = axes_x(axes, level->begin), to = axes_x(axes, level->end);
    double x = (from + to) / 2, y = axes->top - 8, room = to - from - 4;
    char both[80];
    snprintf(both, sizeof both, "%s%s%s", level->extent,
             *level->extent && *level->cost ? ", " : "", level->cost);
    if (canvas_text_width(canvas, both, label_font) <= room) {
        canvas_text(canvas, x, y, both, label_font, ink);
    } else {
        canvas_text(canvas, x, y, level->cost, label_font, ink);
        y -= *level->cost ? LINE : 0;
        canvas_text(canvas, x, y, level->extent, label_font, ink);
    }
    canvas_text(canvas, x, y - LINE - 1, level->name, name_font, ink);
}

/* The bar of a level at its latency, on a band of what that may be. */
static void draw_step(struct canvas *canvas, const struct axes *axes,
                      const struct level *level, size_t i, bool memory)
{
    double from = axes_x(axes, level->begin), to = axes_x(axes, level->end);
    double y = axes_y(axes, level->height), top = axes_y(axes, level->high);
    canvas_box(canvas, from, top, to - from, axes_y(axes, level->low) - top,
               ink_level(i, memory, 0.16));
    canvas_line(canvas, from, y, to, y, 4, false, ink_level(i, memory, 0.85));
}

/* A trial of the latency of a level, as a cross: the footprint is what its visits take up
 * in caches, as far as the level goes. */
static void draw_cross(struct canvas *canvas, double x, double y, struct ink ink)
{
    enum { ARM = 3 };
    canvas_line(canvas, x - ARM, y - ARM, x + ARM, y + ARM, 1.2, false, ink);
    canvas_line(canvas, x - ARM, y + ARM, x + ARM, y - ARM, 1.2, false, ink);
}

static void draw_latency(struct canvas *canvas, const struct axes *axes,
                         const struct strata_probed *probed, const struct level *level,
                         size_t i)
{
    const struct series *series = latency_series(probed, i);
    struct ink ink = ink_level(i, is_memory(probed, i), 1);
    for (size_t j = 0; series && j < series->npoints; j++) {
        double x = latency_footprint(probed, i, series->points[j].x);
        double y = point_min(&series->points[j]);
        if (y > 0 && isfinite(y))
            draw_cross(canvas, axes_x(axes, fmax(level->begin, fmin(x, level->end))),
                       axes_y(axes, y), ink);
    }
}

/* The greatest density that is a number. */
static double highest(const struct series *series)
{
    double most = 0;
    for (size_t i = 0; i < series->ndensity; i++)
        most = fmax(most, series->density[i].height);
    return isfinite(most) ? most : 0;
}

static size_t density_path(const struct axes *axes, const struct series *series, double *x,
                           double *y)
{
    size_t n = 0;
    double most = highest(series);
    for (size_t i = 0; most > 0 && i < series->ndensity; i++) {
        const struct step *d = &series->density[i];
        if (!(d->end > 0 && d->height >= 0) || log2(d->end) < axes->y_low ||
            log2(d->end) > axes->y_high)
            continue;
        x[n] = axes->left + d->height / most * (axes->width - 8);
        y[n++] = axes_y(axes, d->end);
    }
    return n;
}

static void draw_density(struct canvas *canvas, const struct axes *axes,
                         const struct series *series)
{
    size_t most = series->ndensity ? series->ndensity : 1;
    double *x = calloc(2 * most, sizeof *x);
    if (!x)
        return;
    double *y = x + most;
    size_t n = density_path(axes, series, x, y);
    canvas_area(canvas, x, y, n, axes->left, (struct ink){0x7b8794, 0.25});
    canvas_path(canvas, x, y, n, 1.4, ink_curve);
    free(x);
}

static void draw_density_panel(struct canvas *canvas, const struct axes *curve,
                               const struct series *series, double cycle_ns)
{
    struct axes axes = *curve;
    axes.left = curve->left + curve->width + GAP;
    axes.width = DENSITY_WIDTH;
    double bottom = axes.top + axes.height, right = axes.left + axes.width;
    if (cycle_ns > 0 && isfinite(cycle_ns)) {
        axes_decades(canvas, &axes, cycle_ns, true);
        canvas_text(canvas, right + 8, axes.top - 8, "ns", text_font, ink_quiet);
    }
    draw_density(canvas, &axes, series);
    axes_frame(canvas, &axes);
    canvas_text(canvas, axes.left + axes.width / 2, bottom + 34, "density", label_font,
                ink_quiet);
}

static void draw_levels(struct canvas *canvas, const struct axes *axes,
                        const struct strata_probed *probed, const struct level *levels,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool memory = is_memory(probed, i);
        draw_step(canvas, axes, &levels[i], i, memory);
        name_level(canvas, axes, &levels[i], ink_level(i, memory, 1));
    }
}

static void draw_curve_panel(struct canvas *canvas, const struct strata_probed *probed,
                             const struct series *series, struct axes *axes,
                             const struct level *levels, size_t n)
{
    axes_powers(canvas, axes, true);
    axes_decades(canvas, axes, 1, false);
    for (size_t i = 0; i < n; i++)
        shade_level(canvas, axes, probed, &levels[i], i);
    draw_observations(canvas, axes, series);
    draw_levels(canvas, axes, probed, levels, n);
    draw_minima(canvas, axes, series, 1.6, ink_curve);
    for (size_t i = 0; i < n; i++)
        draw_latency(canvas, axes, probed, &levels[i], i);
    axes_frame(canvas, axes);
    double middle = axes->left + axes->width / 2;
    canvas_text(canvas, middle, axes->top + axes->height + 34, "footprint, bytes",
                label_font, ink_quiet);
    canvas_text_up(canvas, EDGE, axes->top + axes->height / 2, "latency, cycles",
                   label_font, ink_quiet);
}

static void draw_curve(struct canvas *canvas, const struct strata_probed *probed)
{
    const struct series *series = dataset_find(probed->data, "cache");
    struct level levels[PROBE_LEVELS];
    size_t n = list_levels(probed, levels);
    struct axes axes = axes_empty(LEFT, CURVE_TOP,
                                  WIDTH - LEFT - RIGHT - GAP - DENSITY_WIDTH, CURVE_HEIGHT);
    if (series)
        hold_series(&axes, series);
    for (size_t i = 0; i < n; i++)
        axes_hold(&axes, levels[i].end, levels[i].height);
    if (!axes_finish(&axes)) {
        canvas_text(canvas, LEFT, CURVE_TOP + 40, "No curve was measured.", text_font,
                    ink_quiet);
        return;
    }
    draw_curve_panel(canvas, probed, series, &axes, levels, n);
    draw_density_panel(canvas, &axes, series, probed->cycle_ns);
}

/* Marks where a TLB ends; names of near neighbours alternate between two lines. */
static void mark_tlb(struct canvas *canvas, const struct axes *axes,
                     const struct strata_probed_tlb *tlb, size_t i, double *last)
{
    if (!value_known(&tlb->entries))
        return;
    char text[64], entries[40];
    double x = axes_x(axes, tlb->entries.value);
    struct ink ink = ink_level(i, false, 1);
    format_entries(&tlb->entries, entries, sizeof entries);
    snprintf(text, sizeof text, "L%d: %s%s", tlb->level, entries,
             value_doubtful(&tlb->entries) ? "?" : "");
    double half = canvas_text_width(canvas, text, name_font) / 2;
    double up = x - half < *last ? 22 : 8;
    canvas_line(canvas, x, axes->top - up + 4, x, axes->top + axes->height, 1.2, true, ink);
    canvas_text(canvas, x, axes->top - up, text, name_font, ink);
    *last = x + half + 6;
}

static const struct font key_font = {11, false, ALIGN_LEFT};
#define THIN    1.2
#define PALE    0.6
#define THINNER 1.1
enum { KEY_Y = TLB_TOP + TLB_HEIGHT + 56 };

/* A line of the key; returns where the next one may begin. */
static double draw_key(struct canvas *canvas, double x, const char *text, double width,
                       struct ink ink)
{
    canvas_line(canvas, x, KEY_Y - 4, x + 18, KEY_Y - 4, width, false, ink);
    canvas_text(canvas, x + 22, KEY_Y, text, key_font, ink_quiet);
    return x + 22 + canvas_text_width(canvas, text, key_font) + 12;
}

/* The colour of a number of lines a page. */
static struct ink lines_ink(const char *lines, double alpha)
{
    return ink_level((size_t)bound(atoi(lines), 1, 64) + 1, false, alpha);
}

/* The controls, thin and pale, each in the colour of the curve that it is for. */
static void draw_packed_series(struct canvas *canvas, const struct axes *axes,
                               const struct strata_probed *probed, bool huge)
{
    struct tlb_curve curve;
    size_t n = 0;
    for (size_t i = 0; i < probed->data->nseries; i++) {
        const struct series *series = probed->data->series[i];
        if (!belongs(series, huge, &curve) || !curve.packed)
            continue;
        draw_minima(canvas, axes, series, THIN, lines_ink(curve.lines, PALE));
        n++;
    }
    if (n)
        draw_key(canvas, axes->left + axes->width - 70, "packed", THIN, ink_frame);
}

static size_t count_spread(const struct strata_probed *probed, bool huge)
{
    struct tlb_curve curve;
    size_t n = 0;
    for (size_t i = 0; i < probed->data->nseries; i++)
        n += belongs(probed->data->series[i], huge, &curve) && !curve.packed;
    return n;
}

/* The curves: "lines a page: 1, 2, 3". Each is thinner than the one before, which shows on
 * both sides of it where they coincide. */
static void draw_tlb_series(struct canvas *canvas, const struct axes *axes,
                            const struct strata_probed *probed, bool huge)
{
    static const char title[] = "lines a page:";
    double key = axes->left + canvas_text_width(canvas, title, key_font) + 10;
    struct tlb_curve curve;
    double width = 2 + THINNER * (double)(count_spread(probed, huge) - 1);
    canvas_text(canvas, axes->left, KEY_Y, title, key_font, ink_quiet);
    for (size_t i = 0; i < probed->data->nseries; i++) {
        const struct series *series = probed->data->series[i];
        if (!belongs(series, huge, &curve) || curve.packed)
            continue;
        draw_minima(canvas, axes, series, width, lines_ink(curve.lines, 1));
        key = draw_key(canvas, key, curve.lines, width, lines_ink(curve.lines, 1));
        width = fmax(1, width - THINNER);
    }
}

static void draw_tlb_marks(struct canvas *canvas, const struct axes *axes,
                           const struct strata_probed *probed, uint64_t page)
{
    double last = -INFINITY;
    size_t n = 0;
    for (int i = 0; i < tlb_count(probed); i++)
        if (probed->tlbs[i].page == page)
            mark_tlb(canvas, axes, &probed->tlbs[i], n++, &last);
}

static void draw_tlb_panel(struct canvas *canvas, const struct strata_probed *probed,
                           const struct panel *panel, double left, double width)
{
    struct axes axes = axes_empty(left, TLB_TOP, width, TLB_HEIGHT);
    char title[64], page[SIZE_TEXT];
    struct tlb_curve curve;
    for (size_t i = 0; i < probed->data->nseries; i++)
        if (belongs(probed->data->series[i], panel->huge, &curve))
            hold_series(&axes, probed->data->series[i]);
    snprintf(title, sizeof title, "TLBs, %s pages", format_size(panel->page, page));
    canvas_text(canvas, left, TLB_TOP - 42, title, panel_font, ink_text);
    if (!axes_finish(&axes))
        return;
    axes_powers(canvas, &axes, false);
    axes_decades(canvas, &axes, 1, false);
    draw_tlb_marks(canvas, &axes, probed, panel->page);
    draw_packed_series(canvas, &axes, probed, panel->huge);
    draw_tlb_series(canvas, &axes, probed, panel->huge);
    axes_frame(canvas, &axes);
    canvas_text(canvas, left + width / 2, TLB_TOP + TLB_HEIGHT + 34, "footprint, pages",
                label_font, ink_quiet);
}

static void draw_tlbs(struct canvas *canvas, const struct strata_probed *probed)
{
    const struct panel all[] = {{false, probed->page}, {true, probed->huge}};
    struct panel shown[2];
    int n = 0;
    for (size_t i = 0; i < 2; i++)
        if (has_series(probed, all[i].huge))
            shown[n++] = all[i];
    double room = WIDTH - LEFT - RIGHT - (n - 1) * TLB_GAP;
    for (int i = 0; i < n; i++)
        draw_tlb_panel(canvas, probed, &shown[i], LEFT + i * (room / n + TLB_GAP),
                       room / n);
    if (n)
        canvas_text_up(canvas, EDGE, TLB_TOP + TLB_HEIGHT / 2.0, "latency, cycles",
                       label_font, ink_quiet);
}

/* What the picture means. Each has a sample of what it speaks of, drawn by its own hand. */

static void sample_trials(struct canvas *canvas, double x, double y)
{
    for (int i = 0; i < 5; i++)
        canvas_dot(canvas, x + 2 + 6 * i, y + (i % 2 ? -2 : 1));
    canvas_dots(canvas, 2.6, ink_quiet);
    canvas_line(canvas, x, y + 3, x + 28, y + 3, 1.6, false, ink_curve);
}

static void sample_latency(struct canvas *canvas, double x, double y)
{
    struct ink ink = ink_level(1, false, 0.85);
    canvas_box(canvas, x, y - 5, 28, 10, ink_level(1, false, 0.16));
    canvas_line(canvas, x, y, x + 28, y, 4, false, ink);
    draw_cross(canvas, x + 14, y, ink_level(1, false, 1));
}

static void sample_end(struct canvas *canvas, double x, double y)
{
    canvas_box(canvas, x + 6, y - 6, 16, 12, ink_level(1, false, 0.2));
    canvas_line(canvas, x + 14, y - 6, x + 14, y + 6, 1.2, true, ink_level(1, false, 0.8));
}

static void sample_density(struct canvas *canvas, double x, double y)
{
    const double px[] = {x, x + 10, x + 14, x + 18, x + 28};
    const double py[] = {y + 5, y + 4, y - 6, y + 4, y + 5};
    canvas_path(canvas, px, py, 5, 1.4, ink_curve);
}

static void sample_spread(struct canvas *canvas, double x, double y)
{
    for (size_t i = 0; i < 3; i++)
        canvas_line(canvas, x, y - 5 + 5 * (double)i, x + 28, y - 5 + 5 * (double)i, 2,
                    false, ink_level(i + 2, false, 0.9));
}

static void sample_packed(struct canvas *canvas, double x, double y)
{
    canvas_line(canvas, x, y, x + 28, y, THIN, false, ink_level(2, false, PALE));
}

static const struct words {
    bool tlbs; /* only where TLBs are shown */
    void (*sample)(struct canvas *canvas, double x, double y);
    const char *text;
} explanation[] = {
    {false, sample_trials,
     "Dots are trials, the line is the least of them: every line of the footprint is "
     "visited, in random order, a few pages at a time."},
    {false, sample_latency,
     "Bar: the latency of a hit, as in the table; around it, what it may be. Crosses: what "
     "it is told from, lines far apart that no prefetcher helps."},
    {false, sample_end,
     "Where the usable size of a level ends, and the range in which it may."},
    {false, sample_density,
     "Density: how much of the curve lies at a latency. Each peak is a level."},
    {true, sample_spread,
     "Lines a page: so many lines are visited in every page of the footprint. Where all of "
     "these rise at one number of pages, a TLB is full."},
    {true, sample_packed,
     "Packed, thin in the same colours: as many lines in as few pages as hold them, which "
     "is "
     "what the caches alone cost."},
};
enum { EXPLANATIONS = sizeof explanation / sizeof *explanation };

static double words_height(bool tlbs)
{
    double height = 0;
    for (size_t i = 0; i < EXPLANATIONS; i++)
        height += tlbs || !explanation[i].tlbs ? WORDS_LINE : 0;
    return height + EDGE;
}

static void draw_words(struct canvas *canvas, double top, bool tlbs)
{
    for (size_t i = 0; i < EXPLANATIONS; i++) {
        if (explanation[i].tlbs && !tlbs)
            continue;
        explanation[i].sample(canvas, EDGE, top + 8);
        canvas_text(canvas, WORDS_LEFT, top + 12, explanation[i].text, key_font, ink_quiet);
        top += WORDS_LINE;
    }
}

/* Processor; then host, date and how it was measured. */
static void draw_title(struct canvas *canvas, const char *name,
                       const struct strata_probed *probed)
{
    const struct dataset *data = probed->data;
    char provenance[128], text[400], clean[400];
    format_provenance(probed, provenance, sizeof provenance);
    snprintf(text, sizeof text, "%s%.63s%s%.15s%sstrata%s%.31s: %s",
             data && *data->host ? "host " : "", data ? data->host : "",
             data && *data->host ? ", " : "", data ? data->date : "",
             data && *data->date ? ", " : "", data && *data->version ? " " : "",
             data ? data->version : "", provenance);
    canvas_text(canvas, EDGE, 36, name, title_font, ink_text);
    canvas_text(canvas, EDGE, 58, utf8_clean(text, clean, sizeof clean), text_font,
                ink_quiet);
}

/* One sentence for those who cannot see the plot. */
static void describe(const struct strata_probed *probed, char *text, size_t size)
{
    struct level levels[PROBE_LEVELS];
    size_t n = list_levels(probed, levels);
    size_t used =
        (size_t)snprintf(text, size, "Latency by footprint; %zu levels found.", n);
    for (size_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, " %s: %s%s%s.", levels[i].name,
                                 levels[i].extent, *levels[i].extent ? ", " : "",
                                 levels[i].cost);
}

int probe_plot(const struct strata_probed *probed, const char *path,
               struct strata_error *error)
{
    if (has_counts(probed))
        return counts_plot(probed, path, error);
    struct canvas *canvas = NULL;
    char name[STRATA_NAME_SIZE + 1], text[1024];
    bool tlbs = has_series(probed, false) || has_series(probed, true);
    double words =
        tlbs ? TLB_TOP + TLB_HEIGHT + TLB_MARGIN : CURVE_TOP + CURVE_HEIGHT + CURVE_MARGIN;
    int status = canvas_open(path, WIDTH, words + words_height(tlbs), &canvas, error);
    if (status)
        return status;
    utf8_clean(*probed->name ? probed->name : "Memory hierarchy", name, sizeof name);
    draw_title(canvas, name, probed);
    draw_curve(canvas, probed);
    if (tlbs)
        draw_tlbs(canvas, probed);
    draw_words(canvas, words, tlbs);
    describe(probed, text, sizeof text);
    status = canvas_save(canvas, path, name, text, error);
    canvas_release(canvas);
    return status;
}
