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
 * inclusive cache evicts is taken from all nearer caches. Then prefetchers see it.
 *
 * The common case, a hit in the first TLB and the first cache, is inlined into the loop
 * of sim_chase(). */
#include "hierarchy.h"

#define HOT  static inline __attribute__((always_inline))
#define COLD static __attribute__((noinline))

/* An access to one line, or the part of a larger one that is in it. A depth is a place
 * on the path or route; at its end is memory or the page walk. */
struct part {
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

static void displace(struct sim *sim, const struct path *path, uint32_t i, uint64_t key);

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

/* What follows when a line had to leave level i; key may be CACHE_NONE. */
static void displace(struct sim *sim, const struct path *path, uint32_t i, uint64_t key)
{
    struct level *level = path->level[i];
    if (key == CACHE_NONE)
        return;
    sim->counts.evictions[level->id]++;
    if (!level->inclusive && !path->casts[i])
        return;
    uint64_t virtual = key << level->shift;
    bool huge = mapping_find_huge(&sim->mapping, virtual);
    uint64_t physical = mapping_physical(&sim->mapping, virtual, huge);
    if (level->inclusive)
        for (uint32_t j = 0; j < level->nnearer; j++)
            drop(level->nearer[j], virtual, physical, UINT64_C(1) << level->shift);
    if (path->casts[i])
        cast_out(sim, path, i + 1, virtual, physical);
}

/* Brings a line into level i alone, unless it is there; an exclusive cache also does
 * not take what a nearer one has, nor keep what a nearer one takes. */
static void prefetch_line(struct sim *sim, const struct path *path, uint32_t i,
                          uint64_t virtual, uint64_t physical)
{
    struct level *level = path->level[i];
    for (uint32_t j = level->exclusive ? 0 : i; j <= i; j++) {
        const struct level *near = path->level[j];
        if (cache_find(&near->lines, level_set(near, virtual, physical),
                       virtual >> near->shift) != CACHE_NO_WAY)
            return;
    }
    for (uint32_t j = i + 1; j < path->n; j++)
        if (path->level[j]->exclusive)
            drop(path->level[j], virtual, physical, UINT64_C(1) << level->shift);
    sim->counts.prefetches[level->id]++;
    displace(sim, path, i,
             cache_fill(&level->lines, level_set(level, virtual, physical),
                        virtual >> level->shift));
}

static void prefetch_at(struct sim *sim, const struct path *path, uint32_t i,
                        uint64_t address, uint64_t physical, bool missed)
{
    const struct level *level = path->level[i];
    uint64_t within = (UINT64_C(1) << sim->page_shift) - 1;
    struct prefetch_access access = {
        .page = address >> sim->page_shift,
        .line = (int64_t)((address & within) >> level->shift),
        .lines = (int64_t)((within + 1) >> level->shift),
        .missed = missed,
    };
    int64_t lines[PREFETCH_LINES];
    for (uint32_t j = 0; j < level->nprefetchers; j++) {
        uint32_t n = prefetcher_observe(level->prefetchers[j], &access, lines);
        for (uint32_t k = 0; k < n; k++) {
            uint64_t offset = (uint64_t)lines[k] << level->shift;
            prefetch_line(sim, path, i, (address & ~within) + offset,
                          (physical & ~within) + offset);
        }
    }
}

/* Shows an access to the prefetchers of all caches that it reached. */
COLD void prefetch(struct sim *sim, const struct path *path, uint64_t address, bool huge,
                   uint32_t depth)
{
    uint64_t physical = mapping_physical(&sim->mapping, address, huge);
    for (uint32_t i = 0; i < path->n && i <= depth; i++)
        if (path->level[i]->nprefetchers)
            prefetch_at(sim, path, i, address, physical, i < depth);
}

/* The rest of an access that missed in the first cache of its path, if there is one. */
COLD void miss(struct sim *sim, const struct path *path, uint64_t address, bool huge,
               struct part *part)
{
    uint64_t sets[STRATA_MAX_CACHES];
    uint64_t physical = address;
    uint32_t i = 0, way = CACHE_NO_WAY;
    if (path->translated)
        physical = mapping_physical(&sim->mapping, address, huge);
    for (; i < path->n; i++) {
        struct level *level = path->level[i];
        sets[i] = level_set(level, address, physical);
        if (i == 0)
            continue;
        way = cache_find(&level->lines, sets[i], address >> level->shift);
        if (way != CACHE_NO_WAY)
            break;
    }
    part->depth = i;
    if (way == CACHE_NO_WAY) {
        part->cycles += sim->memory_latency;
    } else {
        struct level *level = path->level[i];
        part->cycles += level->latency;
        if (level->exclusive)
            cache_remove(&level->lines, sets[i], address >> level->shift);
        else
            cache_touch(&level->lines, sets[i], way);
    }
    uint64_t gone = CACHE_NONE;
    while (i-- > 0) {
        struct level *level = path->level[i];
        if (i > 0 && level->exclusive)
            continue;
        gone = cache_fill(&level->lines, sets[i], address >> level->shift);
        displace(sim, path, i, gone);
    }
    part->victim = gone == CACHE_NONE ? SIM_NO_LINE : gone << path->level[0]->shift;
    if (path->prefetches)
        prefetch(sim, path, address, huge, part->depth);
}

/* The rest of a translation that is not in the first TLB of its route. */
COLD void translate_miss(struct sim *sim, const struct route *route, uint64_t address,
                         struct part *part)
{
    uint32_t i = 1;
    for (; i < route->n; i++) {
        struct cache *pages = &sim->tlbs[route->tlb[i]].pages;
        uint64_t page = address >> route->shift[i];
        if (cache_hit(pages, cache_set(pages, page), page | route->flag))
            break;
    }
    part->tlb_depth = i;
    part->cycles = i < route->n ? sim->tlbs[route->tlb[i]].latency : sim->walk_latency;
    while (i-- > 0) {
        struct cache *pages = &sim->tlbs[route->tlb[i]].pages;
        uint64_t page = address >> route->shift[i];
        cache_fill(pages, cache_set(pages, page), page | route->flag);
    }
}

/* Sets the cycles of a part to those of its translation. */
HOT void translate(struct sim *sim, const struct route *route, uint64_t address,
                   struct part *part)
{
    part->tlb_depth = 0;
    part->cycles = 0;
    if (route->n == 0)
        return;
    struct tlb *tlb = &sim->tlbs[route->tlb[0]];
    uint64_t page = address >> route->shift[0];
    part->cycles = tlb->latency;
    if (page == sim->last[route->id])
        return;
    for (int i = 0; i < ROUTES; i++)
        sim->last[i] = CACHE_NONE;
    sim->last[route->id] = page;
    if (!cache_hit(&tlb->pages, cache_set(&tlb->pages, page), page | route->flag))
        translate_miss(sim, route, address, part);
}

HOT void access_part(struct sim *sim, const struct path *path, uint64_t address,
                     struct part *part)
{
    bool huge = mapping_is_huge(&sim->mapping, address);
    part->route = &sim->routes[path->fetch][huge];
    translate(sim, part->route, address, part);
    if (path->n > 0) {
        struct level *level = path->level[0];
        uint64_t physical = address;
        if (level->translated)
            physical = mapping_physical(&sim->mapping, address, huge);
        if (cache_hit(&level->lines, level_set(level, address, physical),
                      address >> level->shift)) {
            part->depth = 0;
            part->victim = SIM_NO_LINE;
            part->cycles += level->latency;
            if (level->nprefetchers)
                prefetch(sim, path, address, huge, 0);
            return;
        }
    }
    miss(sim, path, address, huge, part);
}

static void count_caches(struct sim *sim, const struct path *path, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++)
        sim->counts.misses[path->level[i]->id]++;
    if (depth < path->n)
        sim->counts.hits[path->level[depth]->id]++;
}

static void count_tlbs(struct sim *sim, const struct route *route, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++)
        sim->counts.tlb_misses[route->tlb[i]]++;
    if (depth < route->n)
        sim->counts.tlb_hits[route->tlb[depth]]++;
    else if (route->n)
        sim->counts.walks++;
}

/* The TLB level of a result: 0 where translation is free. */
static uint32_t tlb_level(const struct sim *sim, const struct part *part)
{
    const struct route *route = part->route;
    if (part->tlb_depth < route->n)
        return sim->tlbs[route->tlb[part->tlb_depth]].level;
    return route->n ? sim->tlb_levels + 1 : 0;
}

/* Adds a further part to an access: the worst of each counts. */
static void merge(const struct sim *sim, struct part *part, const struct part *more)
{
    if (tlb_level(sim, more) > tlb_level(sim, part)) {
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

void sim_access(struct sim *sim, uint64_t address, uint32_t size, enum sim_op op,
                enum strata_types type, struct sim_result *result)
{
    uint32_t id = op == SIM_FETCH ? PATH_FETCH : type & STRATA_INT ? PATH_INT : PATH_FLOAT;
    const struct path *path = &sim->paths[id];
    uint64_t first = address >> path->grain;
    uint64_t more = ((address + size - 1) >> path->grain) - first;
    struct part part, next;
    access_part(sim, path, address, &part);
    if (__builtin_expect(more > 0, 0))
        for (uint64_t i = 1; i <= (more & UINT64_MAX >> path->grain); i++) {
            access_part(sim, path, (first + i) << path->grain, &next);
            merge(sim, &part, &next);
        }
    sim->counts.accesses[op]++;
    sim->counts.cycles += part.cycles;
    count_caches(sim, path, part.depth);
    count_tlbs(sim, part.route, part.tlb_depth);
    result->cycles = part.cycles;
    result->level = part.depth < path->n ? path->level[part.depth]->level
                                         : sim->cache_levels + 1;
    result->tlb = tlb_level(sim, &part);
    result->victim = part.victim;
}

uint64_t sim_chase(struct sim *sim, uint64_t base, const uint64_t *offsets, size_t n)
{
    const struct path *path = &sim->paths[PATH_INT];
    uint64_t cycles = 0, quick = 0;
    for (size_t i = 0; i < n; i++) {
        struct part part;
        access_part(sim, path, base + offsets[i], &part);
        cycles += part.cycles;
        if (part.depth | part.tlb_depth) {
        count_caches(sim, path, part.depth);
        count_tlbs(sim, part.route, part.tlb_depth);
        } else quick++;
    }
    sim->counts.accesses[SIM_LOAD] += n;
    sim->counts.cycles += cycles;
    return cycles;
}
