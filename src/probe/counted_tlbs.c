/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probing by counts: the TLBs.
 *
 * Pages side by side fill the sets of a TLB evenly, so the most that fit are its entries.
 * Its ways are found like those of a cache: w + 1 pages that are entries / w apart overfill
 * a set if there are w ways, and none if there are more. The page that an entry maps is
 * what is swept, by small steps, from one miss to the next. */
#include "probe/counted.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_PAGES = 1 << 17,
    PATIENCE = 10, /* laps in which misses did not become fewer: they will not… */
    HASTE = 3,     /* …if that is asked again before it is believed */
};

struct tlb {
    int level;
    uint32_t bit;
    uint64_t page;
    double entries, ways;
    const struct tlb *inner; /* NULL: this is the first */
};

/* A line in page i, each at another place, so that caches matter little. */
static uint64_t place(const struct tlb *tlb, uint64_t i)
{
    return i * tlb->page + i % (tlb->page / 64) * 64;
}

/* Whether the pages all fit: two laps without a miss. */
static int fit(struct counted *c, const struct tlb *tlb, struct lines *pages, int patience,
               bool *yes)
{
    int clean = 0, quiet = 0, status = 0;
    size_t least = pages->n + 1;
    while (clean < 2 && quiet < patience && !status) {
        shuffle(c, pages);
        status = lap(c, pages);
        size_t misses = status ? 0 : lap_misses(c, pages, tlb->bit);
        quiet = misses < least ? 0 : quiet + 1;
        least = misses < least ? misses : least;
        clean = misses ? 0 : clean + 1;
        if (clean)
            quiet = 0;
    }
    *yes = clean >= 2;
    return status;
}

static int row_fits(struct counted *c, const struct tlb *tlb, double n, double stride,
                    double rows, int patience, bool *yes)
{
    struct lines pages = {0};
    int status = 0;
    for (uint64_t row = 0; row < (uint64_t)rows && !status; row++)
        for (uint64_t i = 0; i < (uint64_t)n && !status; i++)
            if (lines_add(&pages, place(tlb, i * (uint64_t)stride + row)))
                status = counted_no_memory(c);
    if (!status)
        status = fit(c, tlb, &pages, patience, yes);
    lines_release(&pages);
    return status;
}

/* The roundest number between two: a multiple of the highest power of two. */
static double roundest(double low, double high)
{
    double step = 1, n = low + 1;
    for (; n < high; step *= 2, n = (floor(low / step) + 1) * step)
        ;
    return (floor(2 * low / step) + 1) * step / 2;
}

/* The most pages that fit, from `low` on, which do. Numbers of entries are mostly round: so
 * the roundest are tried first, and when one fits, the next to it before all others. */
static int search_entries(struct counted *c, const struct tlb *tlb, double *low,
                          double *high, int patience)
{
    bool round = true, yes;
    int status = 0;
    while (*high - *low > 1 && !status) {
        double n = round ? *low + 1 : roundest(*low, *high);
        status = row_fits(c, tlb, n, 1, 1, patience, &yes);
        *(yes ? low : high) = n;
        round = yes && !round;
    }
    return status;
}

/* First in haste; then one page more than was found is tried with patience. */
static int find_entries(struct counted *c, struct tlb *tlb, double most)
{
    double low = tlb->inner ? tlb->inner->entries : 1, high = 2 * low;
    bool yes = true, more = true;
    int status = 0;
    while (yes && high <= most && !status) {
        status = row_fits(c, tlb, high, 1, 1, HASTE, &yes);
        low = yes ? high : low;
        high = yes ? 2 * high : high;
    }
    if (!yes && !status)
        status = search_entries(c, tlb, &low, &high, HASTE);
    while (!yes && more && low < most && !status) {
        status = row_fits(c, tlb, low + 1, 1, 1, PATIENCE, &more);
        low += more;
        high = 2 * low;
        if (more && !status)
            status = search_entries(c, tlb, &low, &high, PATIENCE);
    }
    tlb->entries = yes || more ? 0 : low; /* 0: all fit */
    return status;
}

static int find_ways(struct counted *c, struct tlb *tlb)
{
    double reach = (double)c->counting->ground[c->arena].bytes / (double)tlb->page;
    double inner = tlb->inner ? tlb->inner->entries : 0;
    int status = 0;
    tlb->ways = tlb->entries;
    for (double w = 1; w < tlb->entries && !status; w++) {
        double stride = tlb->entries / w, rows = floor(1.5 * inner / (w + 1)) + 1;
        bool yes;
        if (stride != (double)(uint64_t)stride || w * stride + rows > reach)
            continue;
        rows = fmin(rows, fmin(stride, floor(tlb->entries / (w + 1))));
        status = row_fits(c, tlb, w + 1, stride, rows, PATIENCE, &yes);
        if (!status && !yes) {
            tlb->ways = w;
            break;
        }
    }
    return status;
}

/* The page of an entry, from a sweep over memory that was not visited for long. */
static int find_page(struct counted *c, struct tlb *tlb)
{
    const struct ground *ground = &c->counting->ground[c->arena];
    enum { STEPS = 32, SWEPT = 16 };
    struct lines sweep = {0};
    int status = 0;
    uint64_t from = ground->bytes - 2 * SWEPT * (uint64_t)tlb->level * ground->page;
    for (uint64_t at = 0; at < SWEPT * ground->page && !status; at += ground->page / STEPS)
        if (lines_add(&sweep, from + at))
            status = counted_no_memory(c);
    if (!status)
        status = lap(c, &sweep);
    size_t misses = status ? 0 : lap_misses(c, &sweep, tlb->bit);
    tlb->page = misses ? SWEPT * ground->page / misses : 0;
    lines_release(&sweep);
    return status;
}

static void add(struct counted *c, const struct tlb *tlb)
{
    struct strata_probed *probed = c->probed;
    if (probed->ntlbs == STRATA_MAX_TLBS)
        return;
    struct strata_probed_tlb *to = &probed->tlbs[probed->ntlbs++];
    *to = (struct strata_probed_tlb){.level = tlb->level, .page = tlb->page};
    if (tlb->entries > 0) {
        to->entries = counted_value(c, TLB_EVENT(tlb->level), tlb->entries);
        to->ways = counted_value(c, TLB_EVENT(tlb->level), tlb->ways);
    } else {
        to->entries = to->ways =
            unknown("all pages that could be had for it fit: it has more entries");
    }
}

int count_tlbs(struct counted *c, enum arena arena)
{
    const struct ground *ground = &c->counting->ground[arena];
    struct tlb tlbs[COUNTED_LEVELS];
    const struct tlb *last = NULL;
    int status = 0;
    c->arena = arena;
    for (int i = 0; i < COUNTED_LEVELS && !status && ground->bytes; i++) {
        struct tlb *tlb = &tlbs[i];
        *tlb =
            (struct tlb){.level = i + 1, .bit = EVENT_BIT(TLB_EVENT(i + 1)), .inner = last};
        if (!c->counting->events[TLB_EVENT(i + 1)].present)
            break;
        if (!is_counted(c, TLB_EVENT(i + 1)))
            continue; /* bypassed */
        status = find_page(c, tlb);
        if (status || !tlb->page)
            break; /* pages of this size do not use it */
        double most = (double)(ground->bytes / tlb->page);
        if (!status)
            status = find_entries(c, tlb, most < MOST_PAGES ? most : MOST_PAGES);
        if (!status)
            status = find_ways(c, tlb);
        if (status)
            break;
        add(c, tlb);
        last = tlb;
        if (tlb->entries <= 0)
            break;
    }
    return status;
}
