/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether lines are as long as that, by the borders of stripes.
 *
 * The two runs of pages of the line string are visited in stripes, the second one where the
 * first has its gaps. If no line lies across a border of two stripes, the runs need
 * different sets, and fit if one of them would. If the borders are moved into the middle of
 * lines, both runs need these lines, and their sets overflow. As many visits of as many
 * pages are made each time; and in the state that fits nothing misses, so the prefetchers
 * of this level keep quiet. Those of the levels before do not: so visits are as far apart
 * as what one of them brings in, and stripes are whole numbers of lines.
 *
 * What an overflow costs is seen when both runs are visited at the same places. It takes
 * more than half a cache for each run; with much more, prefetched lines that nobody wants
 * are in the way. So the least filling that shows a difference decides. */
#include "core/sort.h"
#include "probe/probing.h"

#include <math.h>

enum {
    BLOCK = 8,  /* pages */
    TRIALS = 5, /* of each string, at least: a sign test of so many is sure */
    MOST_TRIALS = 15,
};

/* What a run takes of the level. */
static const double fillings[] = {0.55, 0.65, 0.8, 0.95};

#define SHOWS 0.1 /* of all visits must miss with both runs at the same places */
#define MORE  2   /* times the misses that there can be: other lines are in the way */

/* a: bytes of a run. */
static int build_line(struct probing *p, const struct string *s, double x)
{
    (void)x;
    return refs_line(&p->refs, &p->runner->ground[s->arena], &p->rng, s->a, s->more, BLOCK);
}

/* Three strings, and their trials: with the borders of stripes at those of lines, with
 * borders in the middle of them, and with both runs at the same places. */
enum { ALIGNED, MOVED, TOGETHER, STRINGS };

struct comparison {
    struct stripes stripes[STRINGS];
    size_t n;
    double cycles[STRINGS][MOST_TRIALS];
};

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

static struct comparison plan(uint64_t line, uint64_t reach)
{
    struct comparison comparison = {.n = 0};
    for (int i = 0; i < STRINGS; i++)
        comparison.stripes[i] =
            (struct stripes){.s = reach, .visits = line / common_divisor(line, reach)};
    comparison.stripes[MOVED].shift = line / 2;
    comparison.stripes[TOGETHER].together = true;
    return comparison;
}

/* Lines of a stripe in which there are visits, if lines are so long. */
static size_t lines_in(const struct stripes *stripes, uint64_t line)
{
    return stripes->s < line ? stripes->visits * stripes->s / line : stripes->visits;
}

/* Those of them that both runs need if the stripe is moved: the first one, and the last if
 * there are visits in it. */
static size_t lines_shared(const struct stripes *stripes, uint64_t line)
{
    uint64_t last = (stripes->visits - 1) * stripes->s;
    return last >= line / 2 && stripes->s <= line / 2 ? 2 : 1;
}

/* Trials by turns; small caches, which are quick to fill, depend more on the pages that a
 * trial gets. */
static int compare(struct probing *p, uint64_t bytes, struct comparison *comparison)
{
    size_t n = (size_t)fmax(TRIALS, fmin(MOST_TRIALS, (16 << 20) / (double)bytes));
    for (comparison->n = 0; comparison->n < n && !late(p); comparison->n++)
        for (int i = 0; i < STRINGS; i++) {
            struct string string = {.build = build_line,
                                    .arena = BASE_PAGES,
                                    .a = bytes,
                                    .more = &comparison->stripes[i]};
            int status = try_string(p, &string, 0, &comparison->cycles[i][comparison->n]);
            if (status)
                return status;
        }
    return 0;
}

/* By how much a string is slower than the aligned one: the median. */
static double slower(const struct comparison *comparison, int string)
{
    double by[MOST_TRIALS];
    size_t n = comparison->n;
    for (size_t i = 0; i < n; i++)
        by[i] = comparison->cycles[string][i] - comparison->cycles[ALIGNED][i];
    sort_ascending(by, n);
    return (by[(n - 1) / 2] + by[n / 2]) / 2;
}

/* Whether a string is slower than the aligned one by `amount` or alike, by a sign test. */
static struct decision decide(const struct comparison *comparison, int string,
                              double amount)
{
    struct decision decision = {.by = slower(comparison, string)};
    int against = 0;
    decision.slower = decision.by > amount / 2;
    for (size_t i = 0; i < comparison->n; i++)
        against += (comparison->cycles[string][i] - comparison->cycles[ALIGNED][i] >
                    amount / 2) != decision.slower;
    decision.confidence = 1 - fmin(0.5, exp2(2 * against - (double)comparison->n));
    return decision;
}

/* What such trials say of lines as long as that, if anything. `miss` is what one costs. The
 * moved string misses more than the runs together if it has more lines in a stripe, unless
 * a prefetcher brings in several at once. */
static bool conclude(const struct comparison *comparison, uint64_t line, double miss,
                     struct decision *decision)
{
    const struct stripes *stripes = comparison->stripes;
    double all = slower(comparison, TOGETHER), moved = slower(comparison, MOVED);
    double ratio = (double)lines_shared(stripes, line) / (double)lines_in(stripes, line);
    if (moved > SHOWS * miss && moved > MORE * fmax(1, ratio) * all)
        return true;
    if (all < SHOWS * miss || decide(comparison, TOGETHER, all).confidence < SURE)
        return false;
    *decision = decide(comparison, MOVED, fmin(1, ratio) * all);
    return true;
}

int line_across(struct probing *p, const struct strata_probed_cache *cache, double miss,
                uint64_t line, uint64_t reach, bool *shows, struct decision *decision)
{
    const struct ground *ground = &p->runner->ground[BASE_PAGES];
    struct comparison comparison = plan(line, reach);
    *decision = (struct decision){.confidence = 0.5};
    *shows = false;
    if (2 * comparison.stripes->visits * reach > ground->page)
        return 0;
    for (size_t i = 0; i < sizeof fillings / sizeof *fillings; i++) {
        double bytes = fillings[i] * cache->effective.value;
        if (2 * (bytes + (double)ground->page) > (double)ground->bytes)
            break;
        int status = compare(p, (uint64_t)bytes, &comparison);
        *shows = !status && !late(p) && conclude(&comparison, line, miss, decision);
        if (status || late(p) || *shows)
            return status;
    }
    return 0;
}
