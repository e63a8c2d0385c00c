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
 * about half a cache for each run; with much more, prefetched lines that nobody wants
 * are in the way. So the least filling that shows a difference decides. */
#include "probe/probing.h"

#include <math.h>

enum {
    BLOCK = 8,  /* pages */
    TRIALS = 5, /* of each string, at least: a sign test of so many is sure */
    MOST_TRIALS = 15,
};

/* What a run takes of the level. */
static const double fillings[] = {0.4, 0.45, 0.5, 0.55, 0.65, 0.8, 0.95};

#define SHOWS     0.04 /* of all visits must miss with both runs at the same places */
#define DISTURBED 0.1  /* of the trials, at the most */
#define FEW       0.25 /* of the trials that overflow: so many may be the other way round */
#define FORGET    4    /* times what the level before holds: with random replacement, too */
#define MORE      2    /* times the misses that there can be: other lines are in the way */

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

/* Trials by turns, of all three on the same pages: how full the sets are depends on these.
 * Small caches, which are quick to fill, depend more on them. */
static int compare(struct probing *p, uint64_t bytes, struct comparison *comparison)
{
    size_t n = (size_t)fmax(TRIALS, fmin(MOST_TRIALS, (16 << 20) / (double)bytes));
    for (comparison->n = 0; comparison->n < n && !late(p); comparison->n++) {
        struct rng rng = p->rng;
        for (int i = 0; i < STRINGS; i++) {
            struct string string = {.build = build_line,
                                    .arena = BASE_PAGES,
                                    .a = bytes,
                                    .more = &comparison->stripes[i]};
            p->rng = rng;
            int status = try_string(p, &string, 0, &comparison->cycles[i][comparison->n]);
            if (status)
                return status;
        }
    }
    return 0;
}

/* The trials in which the sets overflow with both runs at the same places, and those of
 * them in which the moved string fits all the same. */
struct overflows {
    size_t n, fitting;
    size_t faster; /* trials the other way round: then it is the machine that is busy */
};

/* The moved string misses more than the runs together if it has more lines in a stripe,
 * unless a prefetcher brings in several at once. */
static struct overflows count_overflows(const struct comparison *comparison, uint64_t line,
                                        double miss)
{
    const struct stripes *stripes = comparison->stripes;
    double ratio = (double)lines_shared(stripes, line) / (double)lines_in(stripes, line);
    struct overflows count = {0};
    for (size_t i = 0; i < comparison->n; i++) {
        double aligned = comparison->cycles[ALIGNED][i];
        double moved = comparison->cycles[MOVED][i] - aligned;
        double all = comparison->cycles[TOGETHER][i] - aligned;
        if (fabs(all) < SHOWS * miss || !noticeable(aligned, aligned + all))
            continue;
        count.faster += all < 0;
        if (all < 0 || moved > MORE * fmax(1, ratio) * all)
            continue;
        count.n++;
        count.fitting += moved < fmin(1, ratio) * all / 2;
    }
    return count;
}

/* What such trials say of lines as long as that, if anything. If lines are so long, the
 * moved string never fits where the other does not, but for a disturbance. If they are not,
 * it fits at least half of the time: prefetched lines may be in the way. */
static bool conclude(const struct overflows *count, struct decision *decision)
{
    size_t n = count->n, fitting = count->fitting;
    if (n < TRIALS || FEW * (double)n < (double)count->faster)
        return false;
    double across = 1 - chance_of_at_most((int)fitting, (int)n, 0.5);
    double apart = fitting ? chance_of_at_most((int)fitting - 1, (int)n, DISTURBED) : 0;
    *decision = (struct decision){.slower = across > apart,
                                  .confidence = fmax(0.5, fmax(across, apart))};
    return true;
}

/* Whether so much of a cache is far more than what the level before keeps by chance. */
static bool is_forgotten(const struct strata_probed_cache *cache, double filling)
{
    return filling * cache->effective.value > FORGET * cache[-1].effective.value;
}

/* Whether a run of so many bytes shows what it should. More than half a cache may. */
static bool is_useful(const struct strata_probed_cache *cache, double filling)
{
    return filling > 0.5 || is_forgotten(cache, filling);
}

bool outgrows_inner(const struct strata_probed_cache *cache)
{
    return is_forgotten(cache, fillings[0]);
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
        if (!is_useful(cache, fillings[i]))
            continue;
        if (2 * (bytes + (double)ground->page) > (double)ground->bytes)
            break;
        int status = compare(p, (uint64_t)bytes, &comparison);
        if (status || late(p))
            return status;
        struct overflows count = count_overflows(&comparison, line, miss);
        *shows = conclude(&count, decision);
        if (*shows)
            break;
    }
    return 0;
}
