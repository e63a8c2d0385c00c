/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first cache by the gap test: ways, capacity and line.
 *
 * Locations k bytes apart fall into one set when k is a multiple of the way size; one more
 * of them than there are ways, and they miss. So for each k the least number that misses is
 * found; the least of these over all k is ways + 1, and the least such k is the way size.
 * Every walk is compared with a control of the same pages, so that a TLB is not taken for a
 * cache. An answer must hold for the doubled and quadrupled gap, too: those are multiples
 * of the way size as well. */
#include "probe/probing.h"

#include <math.h>
#include <string.h>

enum {
    MOST = 64,    /* ways that can be told from full associativity */
    GAPS = 64,    /* gaps tried at the most */
    TRIALS = 3,   /* for a decision in the search */
    CONFIRM = 10, /* for the confidence of the answer */
};

/* a: the gap; b: the offset of the last one. x: how many. */
static int build_gap(struct probing *p, const struct string *s, double x)
{
    return refs_gap(&p->refs, &p->runner->ground[s->arena], &p->rng, (size_t)x, s->a, s->b);
}

static int build_control(struct probing *p, const struct string *s, double x)
{
    return refs_gap_control(&p->refs, &p->runner->ground[s->arena], &p->rng, (size_t)x, s->a);
}

/* Whether n locations k apart (the last one o further) miss where the control does not, by
 * at least what rounding to cycles shows. */
static int conflict(struct probing *p, size_t n, uint64_t k, uint64_t o, bool *yes)
{
    struct string gap = {build_gap, BASE_PAGES, k, o}, control = {build_control, BASE_PAGES, k, 0};
    double with, without;
    int status = try_best(p, &gap, (double)n, TRIALS, &with);
    if (!status)
        status = try_best(p, &control, (double)n, TRIALS, &without);
    if (!status)
        *yes = with - without >= 0.5;
    return status;
}

/* The least n in 2..MOST+1 that conflicts at gap k; 0 if none does. */
static int least_conflict(struct probing *p, uint64_t k, size_t *least)
{
    size_t low = 1, high = MOST + 1; /* low never conflicts, high does */
    bool yes;
    int status = conflict(p, high, k, 0, &yes);
    *least = 0;
    if (status || !yes)
        return status;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        status = conflict(p, middle, k, 0, &yes);
        if (status)
            return status;
        *(yes ? &high : &low) = middle;
    }
    *least = high;
    return 0;
}

struct gaps {
    size_t n;
    uint64_t k[GAPS];
    size_t least[GAPS];
};

/* Odd multiples of powers of two, ascending: way sizes of real and of odd caches. */
static void list_gaps(struct gaps *gaps, double most)
{
    gaps->n = 0;
    for (uint64_t k = 256; (double)k <= most && gaps->n < GAPS; k += 256) {
        uint64_t odd = k;
        while (odd % 2 == 0)
            odd /= 2;
        if (odd <= 7)
            gaps->k[gaps->n++] = k;
    }
}

static size_t find_gap(const struct gaps *gaps, uint64_t k)
{
    size_t i = 0;
    while (i < gaps->n && gaps->k[i] != k)
        i++;
    return i;
}

/* Whether the double and quadruple of gap i say the same (as far as they were tried). */
static bool multiples_agree(const struct gaps *gaps, size_t i)
{
    for (int m = 2; m <= 4; m *= 2) {
        size_t j = find_gap(gaps, m * gaps->k[i]);
        if (j < gaps->n && gaps->least[j] != gaps->least[i])
            return false;
    }
    return true;
}

static size_t choose_gap(const struct gaps *gaps)
{
    size_t best = gaps->n;
    for (size_t i = 0; i < gaps->n; i++)
        if (gaps->least[i] && multiples_agree(gaps, i) &&
            (best == gaps->n || gaps->least[i] < gaps->least[best]))
            best = i;
    return best;
}

static int find_line(struct probing *p, size_t n, uint64_t k, struct strata_value *line)
{
    for (uint64_t o = sizeof(void *); o <= p->runner->ground[BASE_PAGES].page; o *= 2) {
        bool yes;
        int status = conflict(p, n, k, o, &yes);
        if (status)
            return status;
        if (!yes) {
            *line = o > sizeof(void *) ? known((double)o, (double)o, (double)o, 0)
                                       : unknown("the gap test lost its conflict");
            return 0;
        }
    }
    *line = unknown("no offset within a page ends the conflict");
    return 0;
}

/* The chance that the two samples differ as they do if they were really alike: of all
 * orders, those in which every one of `high` lies above every one of `low`, counted as the
 * share of pairs in the wrong order grows. Exact for complete separation. */
static double separation(const double *low, const double *high, size_t n)
{
    double orders = 1, wrong = 0;
    for (size_t i = 1; i <= n; i++)
        orders *= (double)(n + i) / (double)i;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            wrong += low[i] >= high[j];
    return fmin(1, exp2(wrong) / orders);
}

/* Confidence that n locations conflict and n - 1 do not. */
static int confirm(struct probing *p, size_t n, uint64_t k, uint64_t o, double *confidence)
{
    struct string fits = {build_gap, BASE_PAGES, k, o}, misses = fits;
    double low[CONFIRM], high[CONFIRM];
    misses.b = 0;
    for (size_t i = 0; i < CONFIRM; i++) {
        int status = try_string(p, &fits, (double)(o ? n : n - 1), &low[i]);
        if (!status)
            status = try_string(p, &misses, (double)n, &high[i]);
        if (status)
            return status;
    }
    *confidence = 1 - separation(low, high, CONFIRM);
    return 0;
}

int probe_gap(struct probing *p)
{
    struct strata_probed_cache *l1 = &p->probed->caches[0];
    struct gaps gaps;
    const char *why = "no gap up to %d locations conflicts: more ways than that, or an index "
                      "by physical address";
    int status = 0;
    l1->ways = unknown(why, MOST);
    l1->line = unknown(why, MOST);
    l1->size = unknown(why, MOST);
    memset(&gaps, 0, sizeof gaps);
    list_gaps(&gaps, fmin(256 << 10, (double)p->runner->ground[BASE_PAGES].bytes / (MOST + 4)));
    for (size_t i = 0; i < gaps.n; i++) {
        if (!time_left(p, (double)i / (double)gaps.n))
            break;
        status = least_conflict(p, gaps.k[i], &gaps.least[i]);
        if (status)
            return status;
    }
    size_t best = choose_gap(&gaps);
    if (best == gaps.n)
        return 0;
    size_t n = gaps.least[best];
    uint64_t k = gaps.k[best];
    double confidence, ways = (double)n - 1, size = ways * (double)k;
    status = confirm(p, n, k, 0, &confidence);
    if (status)
        return status;
    l1->ways = known(ways, ways, ways, confidence);
    l1->size = known(size, size, size, confidence);
    status = find_line(p, n, k, &l1->line);
    if (!status && l1->line.known)
        status = confirm(p, n, k, (uint64_t)l1->line.value, &l1->line.confidence);
    return status;
}
