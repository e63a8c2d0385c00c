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
 *     L2 ways: not known: its index is hashed.
 *
 * A dash is a value that is not known; below, a line says why. A question mark is a
 * value that is less than 95% sure. */
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

static void cycles_text(const struct strata_value *value, char *text, size_t size)
{
    format_cycles(value->value, text, size);
}

static void ns_text(const struct strata_value *value, char *text, size_t size)
{
    format_ns(value->value, text, size);
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

static void print_caches(FILE *out, const struct strata_probed *probed,
                         const struct style *style, int width)
{
    static const char *const names[] = {"",     "size",    "usable", "line",
                                        "ways", "latency", "",       NULL};
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
        put(&grid, 5, &cache->latency_cycles, cycles_text, style);
        put(&grid, 6, &cache->latency_ns, ns_text, style);
    }
    grid_row(&grid);
    grid_set(&grid, 0, "memory");
    put(&grid, 5, &probed->memory_cycles, cycles_text, style);
    put(&grid, 6, &probed->memory_ns, ns_text, style);
    grid_print(out, &grid, style, width);
}

static void put_tlb(struct grid *grid, const struct strata_probed_tlb *tlb,
                    const struct style *style)
{
    char text[GRID_CELL], page[SIZE_TEXT];
    snprintf(text, sizeof text, "L%d dTLB", tlb->level);
    struct strata_value reach = tlb->entries;
    reach.value *= (double)tlb->page;
    reach.confidence = 1; /* the mark is with the entries */
    grid_row(grid);
    grid_set(grid, 0, text);
    put(grid, 1, &tlb->entries, count_text, style);
    put(grid, 2, &reach, size_text, style);
    put_ways(grid, 3, &tlb->ways, value_known(&tlb->entries) ? tlb->entries.value : NAN,
             style);
    put(grid, 4, &tlb->penalty_cycles, cycles_text, style);
    put(grid, 5, &tlb->penalty_ns, ns_text, style);
    snprintf(text, sizeof text, "%s pages", format_size(tlb->page, page));
    grid_set(grid, 6, text);
}

static void print_tlbs(FILE *out, const struct strata_probed *probed,
                       const struct style *style, int width)
{
    static const char *const names[] = {"",           "entries", "reach", "ways",
                                        "miss costs", "",        "",      NULL};
    struct grid grid = {.align = "lrrrrrr"};
    put_heading(&grid, names);
    for (int i = 0; i < tlb_count(probed); i++)
        put_tlb(&grid, &probed->tlbs[i], style);
    if (grid.rows > 1)
        grid_print(out, &grid, style, width);
}

/* Whether a line is due for it: not known, and its twin has no line already. */
static bool needs_reason(const struct owner *owner, const struct param *param)
{
    bool covered =
        param->twin && !value_known(param_value(owner->values, param - param->twin));
    return !value_known(param_value(owner->values, param)) && !covered;
}

static const char *why_of(const struct owner *owner, const struct param *param)
{
    return param_value(owner->values, param)->why;
}

/* The labels of all from `first` on that have its reason: "size, line, ways". */
static void list_labels(const struct owner *owner, const struct param *first, char *text,
                        size_t size)
{
    size_t used = 0;
    for (const struct param *p = first; p->key && used < size; p++)
        if (needs_reason(owner, p) && !strcmp(why_of(owner, p), why_of(owner, first)))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     p->label);
}

/* "L2 line, ways: not known: prefetching hides it." */
static void print_reason(FILE *out, const struct owner *owner, const struct param *param,
                         int width)
{
    const char *why = why_of(owner, param);
    char text[512], labels[128];
    size_t length = strlen(why);
    bool stop = length && strchr(".!?", why[length - 1]);
    list_labels(owner, param, labels, sizeof labels);
    snprintf(text, sizeof text, "%.31s %s: not known%s%s%s", owner->name, labels,
             length ? ": " : "", why, stop ? "" : ".");
    print_folded(out, text, width, 2);
}

/* Whether one before it in the table has the same reason, and so named this one. */
static bool was_named(const struct owner *owner, const struct param *param)
{
    for (const struct param *p = owner->params; p < param; p++)
        if (needs_reason(owner, p) && !strcmp(why_of(owner, p), why_of(owner, param)))
            return true;
    return false;
}

static void print_reasons(FILE *out, const struct owner *owners, size_t n, int width)
{
    for (size_t i = 0; i < n; i++)
        for (const struct param *p = owners[i].params; p->key; p++)
            if (needs_reason(&owners[i], p) && !was_named(&owners[i], p))
                print_reason(out, &owners[i], p, width);
}

/* Where prefetching makes several lines behave as one. */
static void print_wide_lines(FILE *out, const struct strata_probed *probed, int width)
{
    for (int i = 0; i < cache_count(probed); i++) {
        const struct strata_probed_cache *cache = &probed->caches[i];
        const struct strata_value *wide = &cache->effective_line;
        if (!value_known(wide) ||
            (value_known(&cache->line) && cache->line.value == wide->value))
            continue;
        char name[32], bytes[SIZE_TEXT], text[160];
        cache_name(cache->level, name, sizeof name);
        snprintf(text, sizeof text,
                 "%s line: %s bytes behave as one line (effective line).", name,
                 format_size_short(wide->value, bytes));
        print_folded(out, text, width, 2);
    }
}

static void print_line_of_doubts(FILE *out, const struct owner *owners, size_t n, int width)
{
    char text[1000];
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        for (const struct param *p = owners[i].params; p->key; p++) {
            const struct strata_value *value = param_value(owners[i].values, p);
            if (!value_doubtful(value) ||
                (p->twin && value_doubtful(param_value(owners[i].values, p - p->twin))))
                continue;
            double sure = value->confidence > 0 ? value->confidence : 0;
            if (used + 64 < sizeof text)
                used +=
                    (size_t)snprintf(text + used, sizeof text - used, "%s%s %s %.0f%%",
                                     used ? ", " : "? less than 95% sure: ", owners[i].name,
                                     p->label, floor(sure * 100));
        }
    if (used) {
        snprintf(text + used, sizeof text - used, ".");
        print_folded(out, text, width, 2);
    }
}

/* Intervals of times that are wide enough to matter; those of capacities are in the
 * table. */
static void print_wide_times(FILE *out, const struct owner *owners, size_t n, int width)
{
    for (size_t i = 0; i < n; i++)
        for (const struct param *p = owners[i].params; p->key; p++) {
            const struct strata_value *value = param_value(owners[i].values, p);
            bool covered =
                p->twin && value_known(param_value(owners[i].values, p - p->twin));
            bool time = p->unit == PARAM_CYCLES || p->unit == PARAM_NS;
            /* to half a cycle is to the cycle */
            bool exact = p->unit == PARAM_CYCLES && value->high - value->low <= 1;
            if (!time || covered || exact || !value_known(value) ||
                !(value->high - value->low > 0.2 * value->value))
                continue;
            char text[160];
            snprintf(text, sizeof text, "%.31s %s: between %.0f and %.0f %s.",
                     owners[i].name, p->label, value->low, value->high,
                     p->unit == PARAM_NS ? "ns" : "cycles");
            print_folded(out, text, width, 2);
        }
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

/* The parameters of one owner that something told: "; L2 size, line, ways". */
static size_t list_told(const struct owner *owner, const char *by, char *text, size_t size)
{
    size_t used = 0;
    for (const struct param *p = owner->params; p->key && used < size; p++) {
        const struct strata_value *value = param_value(owner->values, p);
        if (value_known(value) && !p->twin && strcmp(value->by, by) == 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s%s",
                                     used ? ", " : owner->name, used ? "" : " ", p->label);
    }
    return used;
}

/* "by l2_misses, standard: L2 size, line, ways." */
static void print_source(FILE *out, const struct owner *owners, size_t n, const char *by,
                         int width)
{
    char text[1000], told[160];
    size_t used = (size_t)snprintf(text, sizeof text, "by %s:", by);
    const char *gap = " ";
    for (size_t i = 0; i < n; i++)
        if (list_told(&owners[i], by, told, sizeof told) && used + 200 < sizeof text) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", gap, told);
            gap = "; ";
        }
    print_folded(out, text, width, 2);
}

/* Whether an owner before this one, or a parameter before this one, has the same source. */
static bool source_named(const struct owner *owners, size_t i, const struct param *param)
{
    const char *by = param_value(owners[i].values, param)->by;
    for (size_t j = 0; j <= i; j++)
        for (const struct param *p = owners[j].params; p->key; p++) {
            if (j == i && p == param)
                break;
            const struct strata_value *value = param_value(owners[j].values, p);
            if (value_known(value) && !p->twin && strcmp(value->by, by) == 0)
                return true;
        }
    return false;
}

/* What told which parameter, where that was not simply the clock. */
static void print_sources(FILE *out, const struct owner *owners, size_t n, int width)
{
    for (size_t i = 0; i < n; i++)
        for (const struct param *p = owners[i].params; p->key; p++) {
            const struct strata_value *value = param_value(owners[i].values, p);
            if (value_known(value) && *value->by && !p->twin && !source_named(owners, i, p))
                print_source(out, owners, n, value->by, width);
        }
}

void probe_table(FILE *out, const struct strata_probed *probed, bool colour, int width)
{
    struct style style = style_make(colour);
    struct owner owners[MAX_OWNERS];
    size_t n = list_owners(probed, owners);
    width = bound(width, 40, 200);
    print_title(out, probed, &style, width);
    print_caches(out, probed, &style, width);
    print_tlbs(out, probed, &style, width);
    print_reasons(out, owners, n, width);
    print_wide_lines(out, probed, width);
    print_wide_times(out, owners, n, width);
    print_line_of_doubts(out, owners, n, width);
    print_sources(out, owners, n, width);
    for (int i = 0; i < note_count(probed); i++)
        print_folded(out, probed->notes[i], width, 2);
}
