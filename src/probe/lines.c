/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines of the caches behind the first.
 *
 * Lines do not get shorter from level to level, and none is longer than the block that a
 * visit brings in both ways (pairs.c). Where the block is as long as the line before, so is
 * the line. Else stripes tell: by their borders (borders.c), which bears prefetchers; or
 * where these make no difference, because the sets are chosen by a hash of the address, by
 * their width (stripes.c). */
#include "probe/probing.h"

enum {
    GUESS = 64, /* bytes: where the first cache's line is not known */
    ASK = 2,    /* times, where the first answer is not sure */
};

double first_line(const struct probing *p)
{
    const struct strata_value *line = &p->probed->caches[0].line;
    return line->known ? line->value : GUESS;
}

/* Whether the line is as long as that of the level before, by the width of stripes. These
 * do not tell a longer one from what a prefetcher brings in. */
static int same_line(struct probing *p, struct strata_probed_cache *cache)
{
    int status = striped_line(p, cache);
    const struct strata_value *line = &cache->line, *inner = &cache[-1].line;
    if (line->known && (!inner->known || line->value > inner->value))
        cache->line =
            unknown("prefetching hides it: %g bytes behave as one line", line->value);
    return status;
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
        struct decision across;
        bool shows;
        int asked = 0;
        do /* other pages may tell */
            status = line_across(p, cache, next - here->value, (uint64_t)line,
                                 (uint64_t)reach, &shows, &across);
        while (!status && shows && across.confidence < SURE && ++asked < ASK && !late(p));
        if (!status && !shows)
            return same_line(p, cache);
        confidence *= across.confidence;
        cache->line =
            unknown("prefetching hides it: lines that nobody wants are in the way");
        if (status || across.confidence < SURE)
            return status;
        cache->line = known(line, line, line, confidence);
        if (across.slower)
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
    p->rough_latency[i] = cache->latency_cycles.value;
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

/* Whether the level before i keeps some of any string, because it replaces at random, say:
 * then a visit cost less as long as nothing drove it out from there. */
static bool is_kept_before(const struct probing *p, int i)
{
    double roughly = p->rough_latency[i];
    const struct strata_value *pressed = &p->probed->caches[i].latency_cycles;
    return pressed->known && roughly > 0 && roughly < pressed->value &&
           noticeable(roughly, pressed->value);
}

/* A longer line than that of a level before is believed if it is sure; one that is shorter
 * than the block, if stripes that fit were served by this level. */
int judge_lines(struct probing *p)
{
    for (int i = 1; i < p->probed->ncaches; i++) {
        struct strata_value *line = &p->probed->caches[i].line;
        if (line->known && !p->line_by_gap[i] && line->value < p->block[i] &&
            is_kept_before(p, i) && !outgrows_inner(&p->probed->caches[i]))
            *line = unknown("the level before serves some of its stripes: %g bytes "
                            "behave as one line",
                            p->block[i]);
        if (line->known && line->value > sure_line(p, i) && line->confidence < SURE)
            *line = unknown("it may be longer than that of the level before, but trials "
                            "differ too much to tell");
    }
    return 0;
}
