/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ways and nominal size of the second cache without huge pages that are contiguous in
 * physical memory, by group testing.
 *
 * Which physical page is behind a virtual one is not known, so blocks of memory, each as
 * long as a way of the first cache, are taken at random. All lines of a block go to
 * neighbouring sets of the second cache, and blocks that share one of these share all. So
 * one block is visited at a few lines, then others at the same lines, and as many as it
 * takes to drive it out of the first cache, all of these twice: few policies spare a line
 * for that long. Then it is seen whether the block's lines are still in the second cache.
 * The control has the others in the same pages, but moved by some lines into other sets.
 *
 * The fewer lines are visited, the less comes between two visits to the block, of what
 * prefetchers or neighbours bring in: edges that are sharp with two lines in a block are
 * blurred with sixteen. One lap is a short time for the clock; the middle half of many is
 * not (run/timing.c).
 *
 * Of a pool that does evict the block, the shortest part from its beginning on that still
 * does ends with a block that takes part in it. This one goes to the front, and the next is
 * looked for, until those at the front suffice: they are as many as there are ways. A
 * disturbed look may cut the pool too short: then it grows again. (Blocks of the pressure
 * may take part, too: they are found, and count.)
 *
 * Of random blocks, one in as many as a way has blocks is evicted by these: that gives the
 * size. */
#include "core/sort.h"
#include "probe/probing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_WAYS = 64,
    MOST_KINDS = 256,   /* blocks in a way of the first cache */
    POOL = 4,           /* times the effective capacity */
    LEAST_PRESSURE = 1, /* times the ways of the first cache, in each pass… */
    MOST_PRESSURE = 2,
    PRESSURE = 4, /* …where the second is so many times as large */
    SKIP = 4,     /* lines from one visit in a block to the next, at least… */
    FAR = 2,      /* …and so many times what a visit brings in */
    LINES = 2,    /* that are visited in a block */
    PASSES = 2,   /* over the others */
    FIRST = 8,    /* blocks of the pool that are tried */
    LOOKS = 5,
    ENOUGH = 2,   /* looks that agree, if none is clear */
    PAIRS = 96,   /* of trials, to be sure */
    HUNTS = 6,    /* until two tell… */
    VAIN = 4,     /* …or so many end without an edge */
    WRONG = 24,   /* cuts that were too short, before a hunt is given up… */
    GROW = 4,     /* …and by what part of itself the pool then grows */
    TOGETHER = 4, /* random blocks at a time */
};

#define EVICTED    0.5   /* of the lines of a block */
#define CLEAR      0.2   /* as far off that, a look is enough */
#define MORE       0.06  /* of the budget: gaps have used up what was meant for both */
#define CHANCE_OFF 0.001 /* of another number of blocks in a way than the likeliest */
#define FAR_OFF    3     /* standard errors: then none of the numbers is the right one */

struct hunt {
    struct strata_probed_cache *cache;
    double miss;     /* what a miss costs more than a hit */
    uint64_t block;  /* bytes */
    uint64_t inner;  /* bytes of a way of the first cache */
    size_t pressure; /* blocks that drive out what a set of the first cache holds */
    uint64_t apart;
    uint64_t *places; /* all blocks, in random order; from `fresh` on, they were not used */
    size_t nplaces, fresh;
    uint64_t *target, *press, *pool; /* of the present hunt, among them */
    size_t npress, npool;
    size_t found; /* at the front of the pool: they take part… */
    size_t known; /* …and what is behind them, up to here, does not */
};

/* b: whether the set lies aside. */
static int build_eviction(struct probing *p, const struct string *s, double x)
{
    struct eviction e = *(const struct eviction *)s->more;
    (void)x;
    e.shift = s->b ? e.apart / 2 : 0;
    return refs_eviction(&p->refs, &p->runner->ground[s->arena], &p->rng, &e);
}

static struct string string_of(const struct eviction *e, bool aside)
{
    return (struct string){
        .build = build_eviction, .arena = BASE_PAGES, .b = aside, .more = e};
}

/* What a visit to what is timed loses by the set, in one pair of trials, as a share of a
 * miss. */
static int loss(struct probing *p, const struct hunt *hunt, const struct eviction *e,
                double *share)
{
    struct string with = string_of(e, false), aside = string_of(e, true);
    double cycles, control;
    int status = try_string(p, &with, 0, &cycles);
    if (!status)
        status = try_string(p, &aside, 0, &control);
    *share = status ? 0 : (cycles - control) / hunt->miss;
    return status;
}

/* Whether the set evicts so much of what is timed: a look, which may err. */
static int seems_to_evict(struct probing *p, const struct hunt *hunt,
                          const struct eviction *e, double least, bool *yes)
{
    int above = 0, below = 0;
    double share = 0;
    while (above < ENOUGH && below < ENOUGH) {
        int status = loss(p, hunt, e, &share);
        if (status)
            return status;
        *(share > least ? &above : &below) += fabs(share - least) > CLEAR ? ENOUGH : 1;
    }
    *yes = above >= ENOUGH;
    return 0;
}

/* Whether what is timed loses so much, for sure. */
static int evicts(struct probing *p, const struct hunt *hunt, const struct eviction *e,
                  double share, struct decision *d)
{
    struct string with = string_of(e, false), aside = string_of(e, true);
    return decide_within(p, &with, 0, &aside, 0, 2 * share * hunt->miss, PAIRS, d);
}

/* The target against the first n of the pool. */
static struct eviction against(const struct hunt *hunt, size_t n)
{
    return (struct eviction){.timed = {hunt->target, 1},
                             .set = {hunt->pool, n},
                             .press = {hunt->press, hunt->npress},
                             .lines = LINES,
                             .passes = PASSES,
                             .apart = hunt->apart};
}

static int pool_evicts(struct probing *p, const struct hunt *hunt, size_t n, bool *yes)
{
    struct eviction e = against(hunt, n);
    *yes = false;
    return n ? seems_to_evict(p, hunt, &e, EVICTED, yes) : 0;
}

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t t = *a;
    *a = *b;
    *b = t;
}

/* Takes as much of the pool as evicts the target, in large steps: the fewer there are, the
 * quicker and the quieter it is. *from do not. */
static int begin_pool(struct probing *p, struct hunt *hunt, size_t most, size_t *from,
                      bool *yes)
{
    int status = 0;
    *from = 0;
    *yes = false;
    for (size_t n = FIRST; !*yes && !status && *from < most; n *= 2) {
        hunt->npool = n < most ? n : most;
        status = pool_evicts(p, hunt, hunt->npool, yes);
        *from = *yes ? *from : hunt->npool;
    }
    return status;
}

/* The least part of the pool that evicts the target, of which `low` do not. *yes: whether
 * it still does at a second look. */
static int cut(struct probing *p, const struct hunt *hunt, size_t low, size_t *high,
               bool *yes)
{
    int status = 0;
    for (*high = hunt->npool; *high - low > 1 && !status && time_left(p, 0);) {
        size_t middle = low + (*high - low) / 2;
        status = pool_evicts(p, hunt, middle, yes);
        *(*yes ? high : &low) = middle;
    }
    return status ? status : pool_evicts(p, hunt, *high, yes);
}

/* Puts the last of the first n of the pool to those that take part. */
static void take(struct hunt *hunt, size_t n)
{
    swap(&hunt->pool[hunt->found++], &hunt->pool[n - 1]);
    hunt->npool = n;
    hunt->known = hunt->known ? hunt->known : n;
}

/* Brings those of the pool that it takes to its front. *all: whether they were found. */
static int reduce(struct probing *p, struct hunt *hunt, bool *all)
{
    size_t most = hunt->npool, from, high;
    bool yes, more;
    int wrong = 0, status = begin_pool(p, hunt, most, &from, &more);
    *all = false;
    hunt->found = hunt->known = 0;
    while (!status && more && !*all && hunt->found < MOST_WAYS && time_left(p, 0)) {
        status = cut(p, hunt, hunt->found ? hunt->found : from, &high, &yes);
        if (!status && !yes) {
            size_t grown = hunt->npool + hunt->npool / GROW + 1;
            hunt->npool = grown < most ? grown : most;
            more = wrong++ < WRONG;
        } else if (!status) {
            take(hunt, high);
            status = pool_evicts(p, hunt, hunt->found, all);
            more = hunt->found < high;
        }
    }
    return status;
}

/* The set of the first cache that a block goes to. */
static size_t kind_of(const struct hunt *hunt, uint64_t place)
{
    return place % hunt->inner / hunt->block;
}

/* Takes a block of the pressure that takes part to the others. Another one of its kind,
 * which is known not to take part, steps in if there is one. */
static void replace(struct hunt *hunt, size_t i)
{
    size_t kind = kind_of(hunt, hunt->press[i]), j = hunt->found;
    while (j < hunt->known && kind_of(hunt, hunt->pool[j]) != kind)
        j++;
    bool another = j < hunt->known;
    swap(&hunt->pool[hunt->found], &hunt->pool[another ? j : hunt->found]);
    swap(&hunt->press[i], &hunt->pool[hunt->found++]);
    if (!another)
        swap(&hunt->press[i], &hunt->press[--hunt->npress]);
}

/* Blocks of the pressure that take part are found as being evicted by all the others, the
 * target too. */
static int cleanse(struct probing *p, struct hunt *hunt)
{
    for (size_t i = 0; i < hunt->npress && hunt->found < MOST_WAYS && time_left(p, 0);
         i++) {
        uint64_t others[MOST_WAYS + 1], *last = &hunt->press[hunt->npress - 1];
        struct eviction e = against(hunt, hunt->found);
        bool yes;
        memcpy(others, hunt->pool, hunt->found * sizeof *others);
        others[hunt->found] = *hunt->target;
        swap(&hunt->press[i], last);
        e.timed.at = last;
        e.set = (struct blocks){others, hunt->found + 1};
        e.press.n--;
        int status = seems_to_evict(p, hunt, &e, EVICTED, &yes);
        swap(&hunt->press[i], last);
        if (status)
            return status;
        if (yes)
            replace(hunt, i--);
    }
    return 0;
}

/* Whether the pressure drives the target out of the first cache even without the others: it
 * does not where all blocks that would are among them. */
static int is_pressed(struct probing *p, const struct hunt *hunt, bool *yes)
{
    const struct strata_probed_cache *cache = hunt->cache;
    struct eviction e = against(hunt, hunt->found);
    struct string aside = string_of(&e, true);
    double cycles;
    int status = try_best(p, &aside, 0, LOOKS, &cycles);
    *yes = !status &&
           2 * cycles > cache[-1].latency_cycles.value + cache->latency_cycles.value;
    return status;
}

/* Whether just the found ones evict the target, and one less does nothing to it. */
static int confirm(struct probing *p, struct hunt *hunt, double *confidence)
{
    struct eviction e = against(hunt, hunt->found);
    struct decision all, less = {.slower = true};
    bool pressed = false;
    int status = evicts(p, hunt, &e, EVICTED, &all);
    swap(&hunt->pool[rng_below(&p->rng, hunt->found)], &hunt->pool[hunt->found - 1]);
    e.set.n--;
    if (!status && all.slower)
        status = evicts(p, hunt, &e, EVICTED / 2, &less);
    if (!status && !less.slower)
        status = is_pressed(p, hunt, &pressed);
    *confidence = pressed ? all.confidence * less.confidence : 0;
    return status;
}

/* Takes as many of the next blocks for the pressure as drive out all that a set of the
 * first cache holds, in each of its sets. */
static bool take_press(struct hunt *hunt)
{
    size_t taken[MOST_KINDS] = {0};
    hunt->press = hunt->places + hunt->fresh;
    hunt->npress = 0;
    size_t kinds = hunt->inner / hunt->block;
    for (size_t i = hunt->fresh; i < hunt->nplaces && hunt->npress < kinds * hunt->pressure;
         i++) {
        size_t kind = kind_of(hunt, hunt->places[i]);
        if (taken[kind]++ < hunt->pressure)
            swap(&hunt->places[i], &hunt->press[hunt->npress++]);
    }
    hunt->fresh += hunt->npress;
    return hunt->npress == kinds * hunt->pressure;
}

/* One hunt, for a random block. */
static int hunt_once(struct probing *p, struct hunt *hunt, double *confidence)
{
    double effective = hunt->cache->effective.value / (double)hunt->block;
    bool all;
    *confidence = 0;
    hunt->npool = (size_t)(POOL * effective) + MOST_WAYS;
    hunt->found = 0;
    if (!take_press(hunt) || hunt->fresh + 1 + hunt->npool > hunt->nplaces)
        return 0;
    hunt->target = hunt->places + hunt->fresh;
    hunt->pool = hunt->target + 1;
    hunt->fresh += 1 + hunt->npool;
    int status = reduce(p, hunt, &all);
    if (!status && all)
        status = cleanse(p, hunt);
    if (!status && all) { /* again: with another pressure, fewer may do */
        hunt->npool = hunt->found;
        status = reduce(p, hunt, &all);
    }
    return status || !all ? status : confirm(p, hunt, confidence);
}

/* Hunts until two agree. Where chance decides what is replaced, they end without an edge.
 */
static int find_ways(struct probing *p, struct hunt *hunt)
{
    struct strata_value *ways = &hunt->cache->ways;
    double confidence, surest = 0;
    size_t found = 0;
    int vain = 0;
    for (int i = 0; i < HUNTS && vain < VAIN && time_left(p, 0); i++) {
        int status = hunt_once(p, hunt, &confidence);
        if (status)
            return status;
        double n = (double)hunt->found;
        if (confidence < SURE) {
            vain += hunt->found > 0;
        } else if (found == hunt->found) {
            *ways = known(n, n, n, fmin(surest, confidence));
            return 0;
        } else if (found) {
            break;
        } else {
            found = hunt->found;
            surest = confidence;
        }
    }
    if (time_left(p, 0))
        *ways = hunt->cache->size =
            unknown("no set of pages is seen to evict another just when it is full: it is "
                    "replaced at random, hashed or shared");
    return 0;
}

/* Of random blocks, how many the found ones evict. */
struct count {
    size_t n, evicted;
};

/* A few blocks at a time: one by one only if one of them is evicted. Those that are join
 * the others first, until these are twice as many as the ways: PLRU may spare a block at
 * times if they are just as many. Only then do they count, and nearly all of such a block
 * is lost: what is prefetched with so many evicts some lines of others, too. */
static int add_blocks(struct probing *p, struct hunt *hunt, struct count *count)
{
    struct eviction e = against(hunt, hunt->found);
    bool all = (double)hunt->found >= 2 * hunt->cache->ways.value;
    uint64_t *at = hunt->places + hunt->fresh;
    double share;
    e.timed = (struct blocks){at, TOGETHER};
    int status = loss(p, hunt, &e, &share);
    bool any = share > EVICTED / TOGETHER;
    e.timed.n = 1;
    for (int i = 0; any && i < TOGETHER && !status; i++) {
        bool yes;
        e.timed.at = &at[i];
        status = seems_to_evict(p, hunt, &e, EVICTED, &yes);
        if (!status && yes && all)
            count->evicted++;
        if (!status && yes && !all)
            swap(&at[i], &hunt->pool[hunt->found++]);
    }
    hunt->fresh += TOGETHER;
    count->n += all ? TOGETHER : 0;
    return status;
}

/* The likeliest number of blocks in a way, of those that a cache may have: one or two
 * leading bits, then zeros. (Nearer ones could not be told apart: chance alone puts some
 * hundredths more or less of the memory into one place of a way than into another.) Returns
 * 0 if none is likely, or if another one is, too. (Ratios of likelihoods may be looked at
 * as often as one likes.) */
static uint64_t blocks_in_way(const struct count *count, double *confidence)
{
    enum { MOST_BLOCKS = 1 << 16, LEADING = 4, MOST_TRIED = LEADING / 2 * 17 };
    double yes = (double)count->evicted, no = (double)count->n - yes;
    double likely[MOST_TRIED], all = 0;
    uint64_t blocks[MOST_TRIED];
    size_t n = 0, likeliest = 0;
    for (uint64_t odd = 1; odd < LEADING; odd += 2)
        for (uint64_t m = odd; m <= MOST_BLOCKS; m *= 2) {
            if (m == 1 && no > 0)
                continue;
            blocks[n] = m;
            likely[n] = m == 1 ? 0 : -yes * log((double)m) + no * log1p(-1 / (double)m);
            likeliest = likely[n] > likely[likeliest] ? n : likeliest;
            n++;
        }
    for (size_t i = 0; i < n; i++)
        all += exp(likely[i] - likely[likeliest]);
    *confidence = 1 / all;
    uint64_t best = blocks[likeliest];
    double share = 1 / (double)best, expected = share * (double)count->n;
    bool far = fabs(yes - expected) > FAR_OFF * sqrt(expected * (1 - share)) + 1;
    return *confidence >= 1 - CHANCE_OFF && !far ? best : 0;
}

static int find_size(struct probing *p, struct hunt *hunt)
{
    struct strata_probed_cache *cache = hunt->cache;
    struct count count = {0};
    uint64_t blocks = 0;
    double confidence = 0;
    while (!blocks && hunt->fresh + TOGETHER <= hunt->nplaces && time_left(p, 0)) {
        int status = add_blocks(p, hunt, &count);
        if (status)
            return status;
        blocks = count.n ? blocks_in_way(&count, &confidence) : 0;
    }
    double size = (double)(blocks * hunt->block) * cache->ways.value;
    cache->size = unknown("its ways are known, but not how large one of them is");
    if (size >= cache->effective.low && size <= 2 * cache->effective.high)
        cache->size = known(size, size, size, confidence * cache->ways.confidence);
    return 0;
}

/* All blocks of the arena, in random order. */
static int take_places(struct probing *p, struct hunt *hunt)
{
    hunt->nplaces = p->runner->ground[BASE_PAGES].bytes / hunt->block;
    hunt->places = malloc(hunt->nplaces * sizeof *hunt->places);
    if (!hunt->places)
        return out_of_memory(p);
    for (size_t i = 0; i < hunt->nplaces; i++)
        hunt->places[i] = i * hunt->block;
    refs_shuffle(hunt->places, hunt->nplaces, &p->rng);
    return 0;
}

/* How far apart visits to a block are: nothing that comes with one may be wanted later, or
 * take room from another. */
static uint64_t apart(const struct probing *p, const struct strata_probed_cache *cache)
{
    const struct strata_value *wide = &cache->effective_line,
                              *inner = &cache[-1].effective_line;
    double bytes = SKIP * (double)p->runner->ground[BASE_PAGES].line;
    if (wide->known)
        bytes = fmax(bytes, FAR * wide->value);
    if (inner->known)
        bytes = fmax(bytes, FAR * inner->value);
    return (uint64_t)exp2(ceil(log2(bytes)));
}

/* Times the ways of the first cache: as many as may be, for policies other than LRU, but
 * few of them may share a set of the second one. */
static double pressure(const struct strata_probed_cache *cache)
{
    double room = cache->effective.value / cache[-1].size.value / PRESSURE;
    return fmin(MOST_PRESSURE, fmax(LEAST_PRESSURE, floor(room)));
}

int ways_by_evictions(struct probing *p)
{
    struct strata_probed_cache *cache = &p->probed->caches[1], *inner = cache - 1;
    const struct strata_value *next = latency_behind(p, 1);
    if (!inner->ways.known || !inner->size.known || !inner->latency_cycles.known ||
        !next->known || !cache->latency_cycles.known || !cache->effective.known || late(p))
        return 0;
    uint64_t way = (uint64_t)(inner->size.value / inner->ways.value);
    uint64_t page = p->runner->ground[BASE_PAGES].page;
    struct hunt hunt = {.cache = cache,
                        .miss = next->value - cache->latency_cycles.value,
                        .block = way < page ? way : page,
                        .inner = way,
                        .apart = apart(p, cache)};
    hunt.pressure = (size_t)(inner->ways.value * pressure(cache));
    if (hunt.block / hunt.apart < LINES || page % hunt.block || way % hunt.block ||
        way / hunt.block > MOST_KINDS)
        return 0;
    cache->ways = cache->size = no_time();
    more_time(p, MORE);
    int status = take_places(p, &hunt);
    if (!status)
        status = find_ways(p, &hunt);
    if (!status && cache->ways.known)
        status = find_size(p, &hunt);
    free(hunt.places);
    return status;
}
