/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a visit brings in to a level, by pairs of visits d apart, in random chunks of the
 * next level's memory: whether the second one still finds what the first one brought in,
 * by the line or by a prefetcher. The largest such distance is the effective line.
 *
 * A line brings in what lies before a visit as well as what lies behind it; a prefetcher of
 * next lines does not. So pairs are visited backwards, too, and what is brought in both
 * ways, the block, is at least the line. */
#include "probe/probing.h"

#include <math.h>

enum {
    PAIRS = 5,     /* of visits, at each distance… */
    FEW_PAIRS = 3, /* …or so many where time is short */
    SPACING = 8,
};

enum direction { FORWARDS, BACKWARDS };

/* From one pair to the next, in distances: a prefetcher that saw the second visit go on
 * from the first brings in what follows, and that must not be wanted. */
static uint64_t pair_spacing(const struct probing *p, double d)
{
    return SPACING * d <= (double)p->runner->ground[BASE_PAGES].page ? SPACING : 2;
}

/* Pairs at the beginnings of larger chunks. a: how many if they lay side by side; as they
 * do not, only some of the sets are used, and fewer fill them. b: whether both ends are
 * visited. x: the distance. */
static int build_pair(struct probing *p, const struct string *s, double x)
{
    uint64_t d = (uint64_t)x, spacing = pair_spacing(p, x);
    int status = refs_pair(&p->refs, &p->runner->ground[s->arena], &p->rng,
                           s->a * 2 / spacing + 1, d * spacing / 2, s->b);
    for (size_t i = 1; s->b && !status && i < p->refs.n; i += 2)
        p->refs.at[i] = p->refs.at[i - 1] + d;
    refs_changed(&p->refs, d);
    return status;
}

/* The same from the second place back to the first. */
static int build_pair_back(struct probing *p, const struct string *s, double x)
{
    int status = build_pair(p, s, x);
    uint64_t *at = p->refs.at, d = (uint64_t)x;
    for (size_t i = 0; !status && i < p->refs.n; i++)
        at[i] = s->b && i % 2 ? at[i] - d : at[i] + d;
    refs_changed(&p->refs, true);
    return status;
}

/* The cost of the second visit of a pair d apart. Both strings lie on the same pages: how
 * full the sets are depends on these. */
static int second_visit(struct probing *p, enum direction direction, size_t chunks,
                        double d, double *cycles)
{
    struct string both = {.build = direction == FORWARDS ? build_pair : build_pair_back,
                          .arena = BASE_PAGES,
                          .a = chunks,
                          .b = true},
                  first = both;
    const struct rng rng = p->rng;
    double two = 0, one = 0;
    first.b = false;
    int status = try_string(p, &both, d, &two);
    p->rng = rng;
    if (!status)
        status = try_string(p, &first, d, &one);
    *cycles = 2 * two - one;
    return status;
}

/* Chunks that are more than the level holds, if a visit takes up so much. */
static double chunks_of(const struct strata_probed_cache *cache, double taken)
{
    return floor(1.25 * cache->effective.value / taken);
}

/* The chunks for pairs d apart: a visit takes up what it brings in to the level before, and
 * where memory is short, up to `inner`, a distance that was inside, as well. 0: there is
 * not enough memory even so. */
static size_t chunks_for(const struct probing *p, const struct strata_probed_cache *cache,
                         double d, double inner)
{
    double taken = cache->level > 1 ? p->block[cache->level - 2] : first_line(p);
    double most = (double)p->runner->ground[BASE_PAGES].bytes / (2 * d) - SPACING;
    double least = chunks_of(cache, taken + inner);
    return least <= most ? (size_t)fmin(chunks_of(cache, taken), most) : 0;
}

/* Whether most second visits of a few pairs d apart are served by the level itself. The
 * confidence is that of a sign test. */
static int inside(struct probing *p, const struct strata_probed_cache *cache, double next,
                  enum direction direction, double d, size_t chunks,
                  struct decision *decision)
{
    double middle = sqrt(cache->latency_cycles.value * next), cycles;
    int votes = 0, n = 0;
    while (n < PAIRS && !late(p) && (n < FEW_PAIRS || time_left(p, 0))) {
        int status = second_visit(p, direction, chunks, d, &cycles);
        if (status)
            return status;
        votes += cycles > middle;
        n++;
    }
    decision->slower = 2 * votes > n;
    int against = decision->slower ? n - votes : votes;
    decision->confidence = 1 - exp2(against - n);
    return 0;
}

/* The width, from `from` on, of what one visit brings in. */
static int brought_in(struct probing *p, const struct strata_probed_cache *cache,
                      double next, enum direction direction, double from,
                      struct strata_value *width)
{
    const struct ground *ground = &p->runner->ground[BASE_PAGES];
    size_t chunks;
    double inner = 0;
    struct decision before = {.confidence = 1}, now;
    *width = unknown("not enough memory for pairs of visits");
    for (double d = from;
         2 * d <= (double)ground->page && (chunks = chunks_for(p, cache, d, inner));
         d *= 2) {
        int status = inside(p, cache, next, direction, d, chunks, &now);
        if (status)
            return status;
        if (late(p)) {
            *width = no_time();
            break;
        }
        if (now.slower) {
            *width = known(d, d, d, before.confidence * now.confidence);
            break;
        }
        before = now;
        inner = d;
    }
    return 0;
}

int effective_line(struct probing *p, struct strata_probed_cache *cache, double next)
{
    int i = cache->level - 1;
    struct strata_value *wide = &cache->effective_line, back;
    double before = i ? p->block[i - 1] : first_line(p);
    double from =
        i && cache[-1].effective_line.known ? cache[-1].effective_line.value : before;
    int status = brought_in(p, cache, next, FORWARDS, from, wide);
    p->block[i] = before;
    p->block_confidence[i] = wide->confidence;
    if (status || (wide->known && wide->value <= before))
        return status;
    status = brought_in(p, cache, next, BACKWARDS, before, &back);
    if (back.known || wide->known)
        p->block[i] = back.known ? back.value : wide->value;
    p->block_confidence[i] = back.confidence;
    return status;
}

int reach_of(struct probing *p, const struct strata_probed_cache *cache, double next,
             double *reach)
{
    const struct strata_value *wide = &cache->effective_line;
    double step = p->block[cache->level - 1];
    *reach = step;
    if (!wide->known || wide->value <= step)
        return 0;
    for (*reach = wide->value / 2 + step; *reach < wide->value; *reach += step) {
        struct decision decision;
        size_t chunks = chunks_for(p, cache, *reach, wide->value / 2);
        int status =
            chunks ? inside(p, cache, next, FORWARDS, *reach, chunks, &decision) : 0;
        if (status || !chunks || decision.slower)
            return status;
    }
    return 0;
}
