/* SPDX-License-Identifier: BSD-3-Clause
 *
 * TLBs with sets: their entries and ways by pages far apart.
 *
 * Of pages that are a stride apart, c fit into the sets that they share. If the stride
 * divides the number of sets, stride * c is the number of entries; if not, it is more. So
 * the entries are the least product, and a stride of as many pages as there are sets tells
 * it best: there one page too many makes all of them miss, and few lines are visited, so
 * that the caches stay out of it. (Side by side, one page too many makes a single set miss
 * among hundreds.) Strides are powers of two, as numbers of sets are, or have as a factor.
 *
 * The ways are found like those of a cache: w + 1 pages that are entries / w apart fall
 * into one set if there are w ways, and into none that is too small if there are more. At
 * twice that distance they must fall into one set, too, and w of them must fit: where
 * misses only become more frequent as pages do, which is what a hashed index looks like,
 * that is not so.
 *
 * That no distance shows sets does not mean that there are none: their index may be hashed.
 * Pages by chance tell. They fit as well as those side by side only where any page can be
 * anywhere; sets, however they are chosen, would be filled unevenly. */
#include "probe/tlbs.h"

#include <math.h>

/* a: the stride in pages. b: neighbouring rows. x: pages in a row. */
static int build_rows(struct probing *p, const struct string *s, double x)
{
    return refs_tlb_gap(&p->refs, &p->runner->ground[s->arena], &p->rng, (size_t)x, s->a,
                        s->b);
}

/* So many rows of n pages do not fit into the level before. */
static double rows_of(const struct tlb_edge *edge, double n)
{
    return floor(2 * edge->inner / n) + 1;
}

/* Whether rows of n pages, a stride apart, can be made and be compared with as many side by
 * side, which must fit. */
static bool can_be_made(struct probing *p, const struct tlb_edge *edge, double n,
                        double stride)
{
    const struct ground *ground = &p->runner->ground[edge->arena];
    double rows = rows_of(edge, n);
    double bytes = ((n - 1) * stride + rows) * (double)ground->page;
    return rows <= stride && n * rows <= edge->fit && bytes <= (double)ground->bytes;
}

/* Whether n pages that are a stride apart miss: `amount` more cycles than as many side by
 * side. */
static int miss_apart(struct probing *p, const struct tlb_edge *edge, double n,
                      double stride, double amount, struct decision *d)
{
    double rows = fmin(rows_of(edge, n), stride); /* with so many, none is apart */
    struct string row = {.build = build_rows,
                         .arena = edge->arena,
                         .a = (uint64_t)stride,
                         .b = (uint64_t)rows};
    struct string beside = {.build = build_spread, .arena = edge->arena, .a = 1};
    return decide_slower(p, &row, n, &beside, n * rows, amount, d);
}

/* Half of the pages may lie in another set, and policies other than LRU let some hit. */
static double least_miss(const struct tlb_edge *edge)
{
    return edge->height / 4;
}

/* Pages that are a stride apart: how many fit. */
struct apart {
    double stride, fit, fits, misses; /* the last two: with what confidence, of one more */
};

/* From low, which fits, to below high, which misses. */
static int fit_apart(struct probing *p, const struct tlb_edge *edge, double low,
                     double high, struct apart *apart)
{
    struct decision d;
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        int status = miss_apart(p, edge, middle, apart->stride, least_miss(edge), &d);
        if (status)
            return status;
        *(d.slower ? &high : &low) = middle;
        *(d.slower ? &apart->misses : &apart->fits) = d.confidence;
    }
    apart->fit = low;
    return 0;
}

/* The largest stride at which not all pages up to the edge fit, and how many do. 0: there
 * is none. */
static int largest_stride(struct probing *p, const struct tlb_edge *edge,
                          struct apart *apart)
{
    double stride = exp2(floor(log2(edge->high)));
    for (; stride > 1; stride /= 2) {
        double n = floor(edge->high / stride) + 1, low = ceil(edge->low / stride) - 1;
        struct decision d;
        if (!can_be_made(p, edge, n, stride))
            continue;
        int status = miss_apart(p, edge, n, stride, least_miss(edge), &d);
        if (status)
            return status;
        if (!d.slower || d.confidence < SURE)
            continue;
        *apart = (struct apart){stride, 0, low > 1 ? 0.5 : 1, d.confidence};
        return fit_apart(p, edge, fmax(1, low), n, apart);
    }
    *apart = (struct apart){.stride = 0};
    return 0;
}

/* Whether conflicts at a stride are those of sets of w ways: w pages fit, and one more
 * misses at twice the stride, too. */
static int are_sets(struct probing *p, const struct tlb_edge *edge, double w, double stride,
                    bool *yes)
{
    struct decision d;
    *yes = true;
    if (w > 1 && can_be_made(p, edge, w, stride)) {
        int status = miss_apart(p, edge, w, stride, edge->height / 2, &d);
        *yes = !d.slower;
        if (status || !*yes)
            return status;
    }
    if (!can_be_made(p, edge, w + 1, 2 * stride))
        return 0;
    int status = miss_apart(p, edge, w + 1, 2 * stride, edge->height / 2, &d);
    *yes = d.slower;
    return status;
}

int tlb_by_sets(struct probing *p, const struct tlb_edge *edge,
                struct strata_value *entries)
{
    struct apart apart;
    struct decision d;
    int status = largest_stride(p, edge, &apart);
    *entries = unknown("pages far apart do not miss before those side by side do");
    /* At half a stride that divides the sets, twice as many pages fit. */
    while (!status && apart.stride > 1) {
        double half = apart.stride / 2, twice = 2 * apart.fit;
        if (!can_be_made(p, edge, twice + 1, half))
            break;
        status = miss_apart(p, edge, twice, half, least_miss(edge), &d);
        if (status)
            break;
        if (d.slower) { /* it was a multiple of the sets */
            apart = (struct apart){half, 0, apart.fits, d.confidence};
            status = fit_apart(p, edge, twice / 2, twice, &apart);
            continue;
        }
        double fits = d.confidence;
        bool sets = false;
        status = miss_apart(p, edge, twice + 1, half, least_miss(edge), &d);
        if (!status && d.slower)
            status = are_sets(p, edge, apart.fit, apart.stride, &sets);
        if (!status && sets) {
            double found = apart.stride * apart.fit;
            *entries =
                known(found, found, found, apart.fits * apart.misses * fits * d.confidence);
        }
        break;
    }
    return status;
}

/* x: pages. a: of how many neighbours they keep the places. */
static int build_scattered(struct probing *p, const struct string *s, double x)
{
    return refs_scattered(&p->refs, &p->runner->ground[s->arena], &p->rng, (size_t)x, s->a);
}

/* Pages whose lines the first cache tells apart by their page numbers. */
static double index_pages(const struct probing *p, enum arena arena)
{
    const struct strata_probed_cache *first = p->probed->caches;
    if (!p->probed->ncaches || !first->size.known || !first->ways.known)
        return 1;
    double way = first->size.value / first->ways.value;
    return fmax(1, exp2(ceil(log2(way / (double)p->runner->ground[arena].page))));
}

/* Whether pages by chance fit as those side by side do. A sixteenth of the entries is left
 * to others: where any page can be anywhere, one too many makes all miss. */
static int find_full(struct probing *p, const struct tlb_edge *edge, double entries,
                     double confidence, struct strata_value *ways)
{
    const struct ground *ground = &p->runner->ground[edge->arena];
    double keep = index_pages(p, edge->arena), n = entries - ceil(entries / 16);
    struct string scattered = {
        .build = build_scattered, .arena = edge->arena, .a = (uint64_t)keep};
    struct string beside = {.build = build_spread, .arena = edge->arena, .a = 1};
    struct decision d;
    *ways = unknown("no distance between pages shows its sets: its index may be hashed");
    if (n < 1 || 2 * n * keep > (double)(ground->bytes / ground->page))
        return 0;
    int status = decide_slower(p, &scattered, n, &beside, n, least_miss(edge), &d);
    if (!status && !d.slower && d.confidence >= SURE)
        *ways = known(entries, entries, entries, confidence * d.confidence);
    return status;
}

int tlb_ways(struct probing *p, const struct tlb_edge *edge,
             const struct strata_value *found, struct strata_value *ways)
{
    double entries = found->value, confidence = found->confidence;
    struct tlb_edge full = *edge;
    struct decision d;
    full.fit = entries;
    for (double w = 1; w < entries; w++) {
        if (fmod(entries, w) || !can_be_made(p, &full, w + 1, entries / w))
            continue;
        int status = miss_apart(p, &full, w + 1, entries / w, edge->height / 2, &d);
        if (status)
            return status;
        confidence *= d.confidence;
        if (d.slower) {
            bool yes;
            status = are_sets(p, &full, w, entries / w, &yes);
            *ways = yes ? known(w, w, w, confidence)
                        : unknown("pages far apart miss, but not as those of one set do: "
                                  "its index may be hashed");
            return status;
        }
    }
    return find_full(p, &full, entries, confidence, ways);
}
