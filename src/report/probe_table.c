/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of `strata probe`:
 *
 *     AMD EPYC: timing on cpu 1, 11.2 s
 *                size  usable        line  ways    latency
 *       L1 data   32K  32K             64     8   4 cycles    1.1 ns
 *       L2         1M  768K .. 896K    64     –  14 cycles    3.7 ns
 *       memory                                   388 cycles  105   ns
 *                entries  reach  ways  miss costs
 *       L1 dTLB       72   288K  full    7 cycles  1.9 ns  4K pages
 *
 * A dash is a value that is not known, and nothing else; a question mark stands behind one
 * that is less than 95% sure. probe_why.c has the reasons. */
#include "core/units.h"
#include "report/params.h"
#include "report/probe_report.h"
#include "report/terminal.h"

#include <math.h>
#include <string.h>

typedef void formatter(const struct strata_value *value, char *text, size_t size);

static void size_text(const struct strata_value *value, char *text, size_t size)
{
    char number[SIZE_TEXT];
    snprintf(text, size, "%s", format_size_short(value->value, number));
}

static void count_text(const struct strata_value *value, char *text, size_t size)
{
    snprintf(text, size, "%.0f", value->value);
}

static void put(struct grid *grid, int column, const struct strata_value *value,
                formatter *format, const struct style *style)
{
    char text[GRID_CELL];
    if (value_known(value))
        format(value, text, sizeof text);
    else
        snprintf(text, sizeof text, "%s", style_dash(style));
    grid_set(grid, column, text);
    if (value_doubtful(value))
        grid_mark(grid, column, '?');
}

/* "full" where every entry (or line) is in one set. */
static void put_ways(struct grid *grid, int column, const struct strata_value *ways,
                     double entries, const struct style *style)
{
    put(grid, column, ways, count_text, style);
    if (value_known(ways) && ways->value == entries && entries > 1)
        grid_set(grid, column, "full");
}

static void put_heading(struct grid *grid, const char *const *names)
{
    grid_row(grid);
    for (int i = 0; names[i]; i++)
        grid_set(grid, i, names[i]);
}

/* A narrow table has units in its heading: from `first` on, each name is that of a column,
 * and its cells keep their numbers. */
static void move_units(struct grid *grid, int first, const char *const *units, int width)
{
    enum { NARROW = 72 };
    for (int i = 0; width < NARROW && units[i]; i++) {
        for (int row = 1; row < grid->rows; row++) {
            char *cell = grid->cells[row][first + i], *unit = strrchr(cell, ' ');
            while (unit && unit >= cell && *unit == ' ')
                *unit-- = '\0';
        }
        snprintf(grid->cells[0][first + i], GRID_CELL, "%s", units[i]);
    }
}

static void print_caches(FILE *out, const struct strata_probed *probed,
                         const struct style *style, int width)
{
    static const char *const names[] = {"",     "size",    "usable", "line",
                                        "ways", "latency", "",       NULL};
    static const char *const units[] = {"cycles", "ns", NULL};
    struct grid grid = {.align = "lrlrrrr"};
    put_heading(&grid, names);
    for (int i = 0; i < cache_count(probed); i++) {
        const struct strata_probed_cache *cache = &probed->caches[i];
        char name[GRID_CELL];
        cache_name(cache->level, name, sizeof name);
        bool both = value_known(&cache->size) && value_known(&cache->line);
        grid_row(&grid);
        grid_set(&grid, 0, name);
        put(&grid, 1, &cache->size, size_text, style);
        put(&grid, 2, &cache->effective, format_interval, style);
        put(&grid, 3, &cache->line, size_text, style);
        put_ways(&grid, 4, &cache->ways, both ? cache->size.value / cache->line.value : NAN,
                 style);
        put(&grid, 5, &cache->latency_cycles, format_cycles, style);
        put(&grid, 6, &cache->latency_ns, format_ns, style);
    }
    grid_row(&grid);
    grid_set(&grid, 0, "memory");
    put(&grid, 5, &probed->memory_cycles, format_cycles, style);
    put(&grid, 6, &probed->memory_ns, format_ns, style);
    move_units(&grid, 5, units, width);
    grid_print(out, &grid, style, width);
}

static void put_tlb(struct grid *grid, const struct strata_probed_tlb *tlb,
                    const struct style *style)
{
    char text[GRID_CELL], page[SIZE_TEXT];
    snprintf(text, sizeof text, "L%d dTLB", tlb->level);
    struct strata_value reach = tlb->entries;
    bool doubtful = value_doubtful(&reach);
    reach.value *= (double)tlb->page;
    reach.low *= (double)tlb->page;
    reach.high *= (double)tlb->page;
    reach.confidence = 1; /* the mark is with the entries */
    grid_row(grid);
    grid_set(grid, 0, text);
    put(grid, 1, &tlb->entries, format_entries, style);
    put(grid, 2, &reach, doubtful ? format_interval : size_text, style);
    put_ways(grid, 3, &tlb->ways, value_known(&tlb->entries) ? tlb->entries.value : NAN,
             style);
    put(grid, 4, &tlb->penalty_cycles, format_cycles, style);
    put(grid, 5, &tlb->penalty_ns, format_ns, style);
    snprintf(text, sizeof text, "%s pages", format_size(tlb->page, page));
    grid_set(grid, 6, text);
}

static void print_tlbs(FILE *out, const struct strata_probed *probed,
                       const struct style *style, int width)
{
    static const char *const names[] = {"",           "entries", "reach", "ways",
                                        "miss costs", "",        "",      NULL};
    static const char *const units[] = {"cycles", "ns", "page", NULL};
    struct grid grid = {.align = "lrrrrrr"};
    put_heading(&grid, names);
    for (int i = 0; i < tlb_count(probed); i++)
        put_tlb(&grid, &probed->tlbs[i], style);
    move_units(&grid, 4, units, width);
    if (grid.rows > 1)
        grid_print(out, &grid, style, width);
}

static void print_title(FILE *out, const struct strata_probed *probed,
                        const struct style *style, int width)
{
    char text[256], provenance[128];
    format_provenance(probed, provenance, sizeof provenance);
    snprintf(text, sizeof text, "%s%s%s", probed->name, *probed->name ? ": " : "",
             provenance);
    fputs(paint_begin(style, PAINT_BOLD), out);
    print_folded(out, text, width, 2);
    fputs(paint_end(style, PAINT_BOLD), out);
}

void probe_table(FILE *out, const struct strata_probed *probed, bool colour, int width)
{
    struct style style = style_make(colour);
    width = bound(width, 40, 200);
    print_title(out, probed, &style, width);
    print_caches(out, probed, &style, width);
    print_tlbs(out, probed, &style, width);
}
