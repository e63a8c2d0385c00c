/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines of the caches behind the first.
 *
 * Lines do not get shorter from level to level, and none is longer than the block that a
 * visit brings in both ways (pairs.c). Where the block is as long as the line before, so is
 * the line. Else the line string tells.
 *
 * Its two runs of pages are visited in stripes, the second one where the first has its
 * gaps. If no line lies across a border of two stripes, the runs need different sets, and
 * fit if one of them would. If the borders are moved into the middle of lines, both runs
 * need these lines, and their sets overflow. As many visits of as many pages are made each
 * time; and in the state that fits nothing misses, so the prefetchers of this level keep
 * quiet. Those of the levels before do not: so visits are as far apart as what one of them
 * brings in, and stripes are whole numbers of lines.
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
    GUESS = 64, /* bytes: where the first cache's line is not known */
};

/* What a run takes of the level. */
static const double fillings[] = {0.55, 0.65, 0.8, 0.95};

#define SHOWS                                                                              \
    0.1 /* of all visits must miss where both runs are visited at the same places */
#define MORE 1.5 /* times the misses that there can be: other lines are in the way */

double first_line(const struct probing *p)
{
    const struct strata_value *line = &p->probed->caches[0].line;
    return line->known ? line->value : GUESS;
}

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

/* Whether there are lines, as long as that, across borders that lie in their middle. */
static int is_line(struct probing *p, const struct strata_probed_cache *cache, double miss,
                   uint64_t line, uint64_t reach, struct decision *decision)
{
    const struct ground *ground = &p->runner->ground[BASE_PAGES];
    struct comparison comparison = plan(line, reach);
    *decision = (struct decision){.confidence = 0.5};
    if (2 * comparison.stripes->visits * reach > ground->page)
        return 0;
    for (size_t i = 0; i < sizeof fillings / sizeof *fillings; i++) {
        double bytes = fillings[i] * cache->effective.value;
        if (2 * (bytes + (double)ground->page) > (double)ground->bytes)
            break;
        int status = compare(p, (uint64_t)bytes, &comparison);
        if (status || late(p) || conclude(&comparison, line, miss, decision))
            return status;
    }
    return 0;
}

/* The line of a level with a longer block than the level before has: that long, or half of
 * that, and so on down to what comes from before. */
static int longer_line(struct probing *p, struct strata_probed_cache *cache, double next)
{
    int i = cache->level - 1;
    double before = p->block[i - 1], confidence = 1, reach;
    const struct strata_value *inner = &cache[-1].line, *here = &cache->latency_cycles;
    int status = reach_of(p, cache - 1, here->value, &reach);
    for (double line = p->block[i]; line > before && !status && !late(p); line /= 2) {
        struct decision decision;
        status = is_line(p, cache, next - here->value, (uint64_t)line, (uint64_t)reach,
                         &decision);
        confidence *= decision.confidence;
        cache->line = unknown("stripes of lines take about the same time at any place");
        if (status || decision.confidence < SURE)
            return status;
        cache->line = known(line, line, line, confidence);
        if (decision.slower)
            return 0;
    }
    if (late(p))
        cache->line = no_time();
    else if (inner->known && before <= inner->value)
        cache->line = known(before, before, before, confidence * inner->confidence);
    else
        cache->line = unknown("prefetching hides it: %g bytes behave as one line", before);
    return status;
}

/* The line of a level behind the first, which the gap test found. */
static int physical_line(struct probing *p, struct strata_probed_cache *cache, double next)
{
    int i = cache->level - 1;
    const struct strata_value *inner = &cache[-1].line;
    double block = p->block[i], confidence = p->block_confidence[i];
    if (confidence == 0)
        cache->line = cache->effective_line.known
                          ? no_time()
                          : unknown("%s", cache->effective_line.why);
    else if (inner->known && block <= inner->value)
        cache->line =
            known(inner->value, inner->value, inner->value, inner->confidence * confidence);
    else if (block > p->block[i - 1])
        return longer_line(p, cache, next);
    else /* every visit that comes here has missed before, and was prefetched there */
        cache->line = unknown("prefetching hides it: %g bytes behave as one line", block);
    return 0;
}

static int lines_of(struct probing *p, int i)
{
    struct strata_probed_cache *cache = &p->probed->caches[i];
    const struct strata_value *next = latency_behind(p, i);
    cache->effective_line = no_time();
    p->block[i] = i ? p->block[i - 1] : first_line(p);
    if (i)
        cache->line = no_time();
    if (!time_left(p, (double)i / p->probed->ncaches) || !next->known ||
        !cache->latency_cycles.known)
        return 0;
    int status = effective_line(p, cache, next->value);
    return !status && i ? physical_line(p, cache, next->value) : status;
}

/* From the first cache outwards: each begins with what was found of the one before. */
int probe_lines(struct probing *p)
{
    int status = 0;
    p->levels_fixed = true;
    for (int i = 0; i < p->probed->ncaches && !status; i++)
        status = lines_of(p, i);
    return status;
}

/* The line of the nearest level before i of which it is sure. */
static double sure_line(const struct probing *p, int i)
{
    while (--i >= 0) {
        const struct strata_value *line = &p->probed->caches[i].line;
        if (line->known && line->confidence >= SURE)
            return line->value;
    }
    return first_line(p);
}

/* A prefetcher that adapts itself passes for a longer line at one time and not at another:
 * so such a line is asked for again. */
int confirm_lines(struct probing *p)
{
    int status = 0;
    for (int i = 1; i < p->probed->ncaches && !status && !late(p); i++) {
        struct strata_value *line = &p->probed->caches[i].line, before = *line;
        const struct strata_value *next = latency_behind(p, i);
        if (!line->known || line->value <= sure_line(p, i) || p->line_by_gap[i] ||
            !next->known || !p->probed->caches[i].latency_cycles.known)
            continue;
        status = longer_line(p, &p->probed->caches[i], next->value);
        if (status || !line->known || line->value == before.value)
            *line = before;
        else
            *line = unknown("it seemed to be %g bytes at one time and %g at another",
                            before.value, line->value);
    }
    return status;
}

/* A longer line than that of a level before is believed if it is sure. */
int judge_lines(struct probing *p)
{
    for (int i = 1; i < p->probed->ncaches; i++) {
        struct strata_value *line = &p->probed->caches[i].line;
        if (line->known && line->value > sure_line(p, i) && line->confidence < SURE)
            *line = unknown("it may be longer than that of the level before, but trials "
                            "differ too much to tell");
    }
    return 0;
}
