/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The simulated machine: what one access does.
 *
 * Translation: the TLBs of the route are asked in turn; the latency of the one that has
 * the page is charged, or that of a walk, and all that were asked in vain are filled.
 * Data: the caches of the path are asked in turn; the latency of the one that has the
 * line is charged, or that of memory. Then, from the outside in, all that missed are
 * filled, except exclusive ones, which are filled with the victims of the next nearer
 * cache of the path, and lose the line on a hit. (An exclusive cache that is the nearest
 * of its path has no such neighbour and behaves like any other.) A line that an
 * inclusive cache evicts is taken from all nearer caches. Then prefetchers see it; what
 * they name is brought in likewise, as if the access had begun at their cache.
 *
 * The common case, a hit in the first TLB and the first cache, is inlined into the loop
 * of sim_chase() and into sim_access(); all else is in functions of its own. */
#include "hierarchy.h"

#define HOT  static inline __attribute__((always_inline))
#define COLD static __attribute__((noinline))

/* An access to one line, or the part of a larger one that is in it. A depth is a place
 * on the path or route; at its end is memory or the page walk. */
struct part {
    bool huge;
    uint32_t cycles;
    uint32_t depth, tlb_depth;
    const struct route *route;
    uint64_t victim;
};

/* Takes all lines out of a cache that overlap a line of another. */
static void drop(struct level *level, uint64_t virtual, uint64_t physical, uint64_t size)
{
    for (uint64_t at = 0; at < size; at += UINT64_C(1) << level->shift)
        cache_remove(&level->lines, level_set(level, virtual + at, physical + at),
                     (virtual + at) >> level->shift);
}

HOT void displace(struct sim *sim, const struct path *path, uint32_t i, uint64_t key);

/* Puts a victim of the next nearer cache into an exclusive one. */
static void cast_out(struct sim *sim, const struct path *path, uint32_t i, uint64_t virtual,
                     uint64_t physical)
{
    struct level *level = path->level[i];
    uint64_t size = UINT64_C(1) << path->level[i - 1]->shift;
    for (uint64_t at = 0; at < size; at += UINT64_C(1) << level->shift) {
        uint64_t key = (virtual + at) >> level->shift;
        uint64_t set = level_set(level, virtual + at, physical + at);
        if (!cache_hit(&level->lines, set, key))
            displace(sim, path, i, cache_fill(&level->lines, set, key));
    }
}

/* Takes a line that left level i out of nearer caches, or puts it into the next, or both.
 */
COLD void pass_on(struct sim *sim, const struct path *path, uint32_t i, uint64_t key)
{
    struct level *level = path->level[i];
    uint64_t virtual = key << level->shift;
    bool huge = mapping_find_huge(&sim->mapping, virtual);
    uint64_t physical = mapping_physical(&sim->mapping, virtual, huge);
    if (level->inclusive)
        for (uint32_t j = 0; j < level->nnearer; j++)
            drop(level->nearer[j], virtual, physical, UINT64_C(1) << level->shift);
    if (path->casts[i])
        cast_out(sim, path, i + 1, virtual, physical);
}

/* What follows when a line had to leave level i; key may be CACHE_NONE. */
HOT void displace(struct sim *sim, const struct path *path, uint32_t i, uint64_t key)
{
    struct level *level = path->level[i];
    if (key == CACHE_NONE)
        return;
    sim->counts.evictions[level->id]++;
    if (level->inclusive || path->casts[i])
        pass_on(sim, path, i, key);
}

/* Brings a line that is not in level `from` into it, from the nearest level beyond that
 * has it, or memory; returns that depth, and the key that had to leave `from`. */
HOT uint32_t bring(struct sim *sim, const struct path *path, uint32_t from,
                   uint64_t virtual, uint64_t physical, uint64_t *gone)
{
    uint64_t sets[STRATA_MAX_CACHES];
    uint32_t depth = from;
    sets[from] = level_set(path->level[from], virtual, physical);
    while (++depth < path->n) {
        struct level *level = path->level[depth];
        sets[depth] = level_set(level, virtual, physical);
        uint32_t way = cache_find(&level->lines, sets[depth], virtual >> level->shift);
        if (way == CACHE_NO_WAY)
            continue;
        if (level->exclusive)
            cache_vacate(&level->lines, sets[depth], way);
        else
            cache_touch(&level->lines, sets[depth], way);
        break;
    }
    for (uint32_t i = depth; i-- > from;) {
        struct level *level = path->level[i];
        if (i > from && level->exclusive)
            continue;
        *gone = cache_fill(&level->lines, sets[i], virtual >> level->shift);
        displace(sim, path, i, *gone);
    }
    return depth;
}

/* Whether a line may be prefetched into level i: it is not there, nor, if that is
 * exclusive, in a nearer one. */
static bool is_wanted(const struct path *path, uint32_t i, uint64_t virtual,
                      uint64_t physical)
{
    for (uint32_t j = path->level[i]->exclusive ? 0 : i; j <= i; j++) {
        const struct level *level = path->level[j];
        if (cache_find(&level->lines, level_set(level, virtual, physical),
                       virtual >> level->shift) != CACHE_NO_WAY)
            return false;
    }
    return true;
}

/* Shows an access that hit to the prefetchers of a level. */
HOT void train(const struct level *level, uint64_t line)
{
    for (struct prefetcher *p = level->trained; p; p = p->next)
        prefetcher_train(p, line);
}

/* Shows an access that missed to the prefetchers of level i. */
static void prefetch(struct sim *sim, const struct path *path, uint32_t i, uint64_t address,
                     uint64_t physical)
{
    const struct level *level = path->level[i];
    uint64_t lines[PREFETCH_LINES], gone;
    for (uint32_t j = 0; j < level->nprefetchers; j++) {
        uint32_t n = prefetcher_miss(level->prefetchers[j], address >> level->shift, lines);
        for (uint32_t k = 0; k < n; k++) {
            /* the same page, so physical addresses are as far apart */
            uint64_t virtual = lines[k] << level->shift;
            uint64_t at = physical + (virtual - address);
            if (!is_wanted(path, i, virtual, at))
                continue;
            sim->counts.prefetches[level->id]++;
            bring(sim, path, i, virtual, at, &gone);
        }
    }
}

/* The rest of an access that missed in the first cache of its path, if there is one. */
static void miss(struct sim *sim, const struct path *path, uint64_t address,
                 uint64_t physical, struct part *part)
{
    uint64_t gone = CACHE_NONE;
    part->depth = path->n ? bring(sim, path, 0, address, physical, &gone) : 0;
    part->cycles += data_cycles(sim, path, part->depth);
    part->victim = gone == CACHE_NONE ? SIM_NO_LINE : gone << path->level[0]->shift;
    if (!path->prefetches)
        return;
    for (uint32_t i = 0; i < part->depth; i++)
        prefetch(sim, path, i, address, physical);
    if (part->depth < path->n)
        train(path->level[part->depth], address >> path->level[part->depth]->shift);
}

/* The rest of a translation that is not in the first TLB of its route. */
static void translate_miss(struct sim *sim, uint64_t address, struct part *part)
{
    const struct route *route = part->route;
    uint32_t i = 1;
    for (; i < route->n; i++) {
        struct cache *pages = &route->tlb[i]->pages;
        uint64_t page = address >> route->shift[i];
        if (cache_hit(pages, cache_set(pages, page), page | route->flag))
            break;
    }
    part->tlb_depth = i;
    part->cycles = translation_cycles(sim, route, i);
    while (i-- > 0) {
        struct cache *pages = &route->tlb[i]->pages;
        uint64_t page = address >> route->shift[i];
        cache_fill(pages, cache_set(pages, page), page | route->flag);
    }
}

/* Sets the cycles of a part to those of its translation. Says whether the first TLB had
 * it; then notes where. */
static bool translate(struct sim *sim, uint64_t address, struct part *part,
                      struct memo *memo)
{
    const struct route *route = part->route;
    part->tlb_depth = 0;
    part->cycles = route->latency;
    if (route->n == 0)
        return true;
    struct cache *pages = &route->tlb[0]->pages;
    uint64_t page = address >> route->shift[0], set = cache_set(pages, page);
    uint32_t way = cache_find(pages, set, page | route->flag);
    if (way == CACHE_NO_WAY) {
        translate_miss(sim, address, part);
        return false;
    }
    cache_touch(pages, set, way);
    memo->page = page | route->flag;
    struct cache_place place = cache_place(pages, set, way);
    memo->page_at = place.at;
    memo->page_key = place.key;
    memo->page_way = place.way;
    return true;
}

/* Adds the cycles of the data to those of a part. Says whether the first cache had the
 * line; then notes where. */
static bool look_up(struct sim *sim, const struct path *path, uint64_t address,
                    struct part *part, struct memo *memo)
{
    uint64_t physical = address;
    if (path->translated)
        physical = mapping_physical(&sim->mapping, address, part->huge);
    uint64_t set = path->n ? level_set(path->level[0], address, physical) : 0;
    uint32_t way =
        path->n ? cache_find(path->lines, set, address >> path->grain) : CACHE_NO_WAY;
    if (way == CACHE_NO_WAY) {
        miss(sim, path, address, physical, part);
        return false;
    }
    part->depth = 0;
    part->victim = SIM_NO_LINE;
    part->cycles += path->level[0]->latency;
    cache_touch(path->lines, set, way);
    memo->line = address >> path->grain;
    train(path->level[0], memo->line);
    struct cache_place place = cache_place(path->lines, set, way);
    memo->line_at = place.at;
    memo->line_key = place.key;
    memo->line_way = place.way;
    return true;
}

/* What an access to one line does. If it was quick, the next one may be quicker. */
COLD void access_part(struct sim *sim, const struct path *path, uint64_t address,
                      struct part *part)
{
    struct memo memo;
    part->huge = memo.huge = mapping_is_huge(&sim->mapping, address);
    part->route = &path->routes[part->huge];
    bool page = translate(sim, address, part, &memo);
    bool line = look_up(sim, path, address, part, &memo);
    if (!page || !line || part->route->n == 0)
        return;
    memo.line_touch = path->lines->touch;
    memo.page_touch = path->is_simple ? path->pages[memo.huge]->touch : TOUCH_OTHERWISE;
    path->memos[memo.line % MEMOS] = memo;
}

/* The memo of a line, if it is true, else NULL. */
HOT const struct memo *recall(const struct path *path, uint64_t line)
{
    const struct memo *memo = &path->memos[line % MEMOS];
    return memo->line == line && memo->line_at[memo->line_key] == line &&
                   memo->page_at[memo->page_key] == memo->page
               ? memo
               : NULL;
}

/* Whether what a quick access does is simple: no function need be called for it. */
HOT bool is_simple(const struct path *path, const struct memo *memo)
{
    return cache_is_simple(path->pages[memo->huge], memo->page_touch);
}

/* What a quick access does, if it is simple. Mostly the page is the newest already. */
HOT void touch_simply(const struct path *path, const struct memo *memo, uint64_t line)
{
    if (memo->page_touch != TOUCH_ORDER || !order_is_newest(*memo->page_at, memo->page_way))
        cache_touch_simply(path->pages[memo->huge], memo->page_touch, memo->page_at,
                           memo->page_way);
    cache_touch_simply(path->lines, memo->line_touch, memo->line_at, memo->line_way);
    if (path->trained)
        prefetcher_train(path->trained, line);
}

/* The same in all cases. */
static void touch(const struct path *path, const struct memo *memo, uint64_t line)
{
    cache_touch_at(path->lines, memo->line_at, memo->line_way);
    cache_touch_at(path->pages[memo->huge], memo->page_at, memo->page_way);
    train(path->level[0], line);
}

/* The TLB level of a result: 0 where translation is free. */
static uint32_t tlb_level(const struct sim *sim, const struct part *part)
{
    const struct route *route = part->route;
    return part->tlb_depth < route->n ? route->tlb[part->tlb_depth]->level
           : route->n                 ? sim->tlb_levels + 1
                                      : 0;
}

/* Adds a further part to an access: the worst of each counts. */
static void merge(const struct sim *sim, struct part *part, const struct part *more)
{
    if (tlb_level(sim, more) > tlb_level(sim, part)) {
        part->huge = more->huge;
        part->route = more->route;
        part->tlb_depth = more->tlb_depth;
    }
    if (more->depth > part->depth)
        part->depth = more->depth;
    if (more->cycles > part->cycles)
        part->cycles = more->cycles;
    if (part->victim == SIM_NO_LINE)
        part->victim = more->victim;
}

/* An access that is not quick, or ends `more` lines behind its first. */
static void access_parts(struct sim *sim, struct path *path, uint64_t address,
                         uint64_t more, struct sim_result *result)
{
    struct part part, next;
    uint64_t first = address >> path->grain;
    access_part(sim, path, address, &part);
    for (uint64_t i = 1; i <= more; i++) {
        access_part(sim, path, (first + i) << path->grain, &next);
        merge(sim, &part, &next);
    }
    path->ends[part.huge][part.tlb_depth][part.depth]++;
    if (more) /* the slower part need not be the worst in both */
        sim->counts.cycles += part.cycles -
                              translation_cycles(sim, part.route, part.tlb_depth) -
                              (uint64_t)data_cycles(sim, path, part.depth);
    result->cycles = part.cycles;
    result->level =
        part.depth < path->n ? path->level[part.depth]->level : sim->cache_levels + 1;
    result->tlb = tlb_level(sim, &part);
    result->victim = part.victim;
}

/* An access that is not simple. */
COLD void access_slowly(struct sim *sim, uint64_t address, uint32_t size, enum sim_op op,
                        enum strata_types type, struct sim_result *result)
{
    struct path *path = sim->path[op][type];
    uint64_t first = address >> path->grain, last = (address + size - 1) >> path->grain;
    const struct memo *memo = first == last ? recall(path, first) : NULL;
    if (!memo) {
        sim->counts.accesses[op]++;
        /* beyond the end of the address space is its beginning */
        access_parts(sim, path, address, (last - first) & UINT64_MAX >> path->grain,
                     result);
        return;
    }
    touch(path, memo, first);
    path->quick[memo->huge].n[op]++;
    *result = path->quick[memo->huge].result;
}

void sim_access(struct sim *sim, uint64_t address, uint32_t size, enum sim_op op,
                enum strata_types type, struct sim_result *result)
{
    struct path *path = sim->path[op][type];
    uint64_t first = address >> path->grain, last = (address + size - 1) >> path->grain;
    const struct memo *memo = recall(path, first);
    if (__builtin_expect(first == last && memo && is_simple(path, memo), 1)) {
        touch_simply(path, memo, first);
        path->quick[memo->huge].n[op]++;
        *result = path->quick[memo->huge].result;
        return;
    }
    access_slowly(sim, address, size, op, type, result);
}

/* The same for a load within a line; returns its cycles. */
static uint32_t load_slowly(struct sim *sim, struct path *path, uint64_t address)
{
    uint64_t line = address >> path->grain;
    const struct memo *memo = recall(path, line);
    struct part part;
    if (memo) {
        touch(path, memo, line);
        path->quick[memo->huge].n[SIM_LOAD]++;
        return path->quick[memo->huge].result.cycles;
    }
    access_part(sim, path, address, &part);
    sim->counts.accesses[SIM_LOAD]++;
    path->ends[part.huge][part.tlb_depth][part.depth]++;
    return part.cycles;
}

uint64_t sim_chase(struct sim *sim, uint64_t base, const uint64_t *offsets, size_t n)
{
    struct path *path = &sim->paths[PATH_INT];
    uint64_t cycles = 0, quick[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        uint64_t line = (base + offsets[i]) >> path->grain;
        const struct memo *memo = recall(path, line);
        if (__builtin_expect(memo && is_simple(path, memo), 1)) {
            touch_simply(path, memo, line);
            quick[memo->huge]++;
            continue;
        }
        cycles += load_slowly(sim, path, base + offsets[i]);
    }
    for (int huge = 0; huge < 2; huge++) {
        path->quick[huge].n[SIM_LOAD] += quick[huge];
        cycles += quick[huge] * path->quick[huge].result.cycles;
    }
    return cycles;
}
