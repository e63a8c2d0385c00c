/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What was measured beside what the operating system and hwloc claim:
 *
 *                     measured       OS   hwloc  verdict
 *       L1 data size  32K           32K     32K  same
 *       L3 usable     8.5M .. 12M   32M     32M  smaller: 27% to 38% of it is usable
 *       L3 ways       –              16      16  unknown: not measured
 *
 * The verdict is on the OS's claim, or on hwloc's where the OS makes none. */
#include "core/units.h"
#include "host/claims.h"
#include "report/params.h"
#include "report/probe_report.h"
#include "report/terminal.h"

#include <math.h>
#include <string.h>

enum { MEASURED = 1, OS, HWLOC, VERDICT };

/* A row of the comparison for one cache. */
struct figure {
    const char *label;
    size_t measured; /* offset in strata_probed_cache */
    enum { CLAIM_SIZE, CLAIM_LINE, CLAIM_WAYS } claimed;
    bool bytes, usable;
};

static const struct figure figures[] = {
    {"size", offsetof(struct strata_probed_cache, size), CLAIM_SIZE, true, false},
    {"usable", offsetof(struct strata_probed_cache, effective), CLAIM_SIZE, true, true},
    {"line", offsetof(struct strata_probed_cache, line), CLAIM_LINE, true, false},
    {"ways", offsetof(struct strata_probed_cache, ways), CLAIM_WAYS, false, false},
};

/* 0: not claimed. */
static double claimed(const struct claim_list *list, int level, const struct figure *figure)
{
    const struct claim *claim = claims_find(list, level);
    if (!claim)
        return 0;
    const double values[] = {
        [CLAIM_SIZE] = (double)claim->size,
        [CLAIM_LINE] = claim->line,
        [CLAIM_WAYS] = claim->ways,
    };
    return values[figure->claimed];
}

static void put_claim(struct grid *grid, int column, double value, bool bytes,
                      const struct style *style)
{
    char text[GRID_CELL], size[SIZE_TEXT];
    if (!(value > 0))
        snprintf(text, sizeof text, "%s", style_dash(style));
    else if (bytes)
        snprintf(text, sizeof text, "%s", format_size_short(value, size));
    else
        snprintf(text, sizeof text, "%.0f", value);
    grid_set(grid, column, text);
}

static void put_measured(struct grid *grid, const struct strata_value *value,
                         const struct figure *figure, const struct style *style)
{
    char text[GRID_CELL];
    if (value_known(value) && figure->usable) {
        format_interval(value, text, sizeof text);
        grid_set(grid, MEASURED, text);
    } else {
        put_claim(grid, MEASURED, value_known(value) ? value->value : 0, figure->bytes,
                  style);
    }
    if (value_doubtful(value))
        grid_mark(grid, MEASURED, '?');
}

/* "27% to 38% of it is usable" */
static void usable_verdict(const struct strata_value *value, double claim, char *text,
                           size_t size)
{
    double low = isfinite(value->low) ? value->low : value->value;
    double high = isfinite(value->high) ? value->high : value->value;
    double from = round(100 * low / claim), to = round(100 * high / claim);
    if (from >= 100 && to <= 100)
        snprintf(text, size, "same: all of it is usable");
    else if (to < 100 && from == to)
        snprintf(text, size, "smaller: %.0f%% is usable", from);
    else if (to < 100)
        snprintf(text, size, "smaller: %.0f to %.0f%% is usable", from, to);
    else if (from <= 100)
        snprintf(text, size, "same within %.0f to %.0f%%", from, to);
    else
        snprintf(text, size, "larger: %.0f%% of the claim", from);
}

static void verdict(const struct strata_value *value, double os, double hwloc,
                    const struct figure *figure, char *text, size_t size)
{
    double claim = os > 0 ? os : hwloc;
    if (!value_known(value))
        snprintf(text, size, "unknown: not measured");
    else if (!(claim > 0))
        snprintf(text, size, "unknown: no claim");
    else if (figure->usable)
        usable_verdict(value, claim, text, size);
    else if (value->value == claim)
        snprintf(text, size, "same%s",
                 hwloc > 0 && hwloc != claim ? ", but not as hwloc" : "");
    else
        snprintf(text, size, "%s%s", value->value < claim ? "smaller" : "larger",
                 value->value == hwloc ? ", as hwloc says" : "");
}

static void put_cache(struct grid *grid, const struct strata_probed_cache *cache,
                      const struct claims *claims, const struct style *style)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const struct figure *figure = &figures[i];
        const struct strata_value *value =
            (const struct strata_value *)((const char *)cache + figure->measured);
        double os = claimed(&claims->os, cache->level, figure);
        double hwloc = claimed(&claims->hwloc, cache->level, figure);
        char name[32], text[GRID_CELL];
        cache_name(cache->level, name, sizeof name);
        snprintf(text, sizeof text, "%s %s", name, figure->label);
        grid_row(grid);
        grid_set(grid, 0, text);
        put_measured(grid, value, figure, style);
        put_claim(grid, OS, os, figure->bytes, style);
        put_claim(grid, HWLOC, hwloc, figure->bytes, style);
        verdict(value, os, hwloc, figure, text, sizeof text);
        grid_set(grid, VERDICT, text);
    }
}

static bool was_measured(const struct strata_probed *probed, int level)
{
    for (int i = 0; i < cache_count(probed); i++)
        if (probed->caches[i].level == level)
            return true;
    return false;
}

/* Levels that someone claims and the probe did not find. */
static void put_missing(struct grid *grid, const struct strata_probed *probed,
                        const struct claims *claims, const struct style *style)
{
    for (int level = 1; level <= 16; level++) {
        double os = claimed(&claims->os, level, &figures[0]);
        double hwloc = claimed(&claims->hwloc, level, &figures[0]);
        bool listed = claims_find(&claims->os, level) || claims_find(&claims->hwloc, level);
        if (!listed || was_measured(probed, level))
            continue;
        char text[GRID_CELL];
        cache_name(level, text, sizeof text);
        grid_row(grid);
        grid_set(grid, 0, text);
        grid_set(grid, MEASURED, style_dash(style));
        put_claim(grid, OS, os, true, style);
        put_claim(grid, HWLOC, hwloc, true, style);
        grid_set(grid, VERDICT, "not found by measurement");
    }
}

static void print_pages(FILE *out, const struct strata_probed *probed,
                        const struct claims *claims, int width)
{
    char text[256], size[SIZE_TEXT];
    size_t used = (size_t)snprintf(text, sizeof text, "Pages: %s measured",
                                   format_size(probed->page, size));
    if (probed->huge)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, " with, and %s for huge ones",
                             format_size(probed->huge, size));
    used += (size_t)snprintf(text + used, sizeof text - used, "; the OS offers");
    for (int i = 0; i < claims->npages; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %s", i ? "," : "",
                                 format_size(claims->pages[i], size));
    snprintf(text + used, sizeof text - used,
             claims->npages ? "." : " none that it names.");
    print_folded(out, text, width, 2);
}

static void print_why(FILE *out, const char *who, const struct claim_list *list, int width)
{
    char text[256];
    if (list->n)
        return;
    snprintf(text, sizeof text, "%s claims nothing: %s.", who, list->why);
    print_folded(out, text, width, 2);
}

void probe_compare(FILE *out, const struct strata_probed *probed,
                   const struct claims *claims, bool colour, int width)
{
    static const char *const names[] = {"", "measured", "OS", "hwloc", "verdict"};
    struct style style = style_make(colour);
    struct grid grid = {.align = "llrrl"};
    width = bound(width, 40, 200);
    grid_row(&grid);
    for (int i = 0; i < 5; i++)
        grid_set(&grid, i, names[i]);
    for (int i = 0; i < cache_count(probed); i++)
        put_cache(&grid, &probed->caches[i], claims, &style);
    put_missing(&grid, probed, claims, &style);
    grid_print(out, &grid, &style);
    print_pages(out, probed, claims, width);
    print_why(out, "The OS", &claims->os, width);
    print_why(out, "hwloc", &claims->hwloc, width);
}
