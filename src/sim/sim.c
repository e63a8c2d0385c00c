/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The simulated machine: building it from its description, emptying it, its counts.
 * access.c walks it. */
#include "sim.h"
#include "hierarchy.h"

static uint32_t log2_of(uint64_t x)
{
    return x ? 63 - (uint32_t)__builtin_clzll(x) : 0;
}

static bool takes(uint32_t kind, bool fetch)
{
    return kind == STRATA_UNIFIED || kind == (fetch ? STRATA_INSTRUCTION : STRATA_DATA);
}

/* Whether the set of a line depends on which physical page it is on. */
static bool is_translated(const struct strata_machine *machine,
                          const struct strata_cache *cache)
{
    uint64_t span = cache->size / cache->ways; /* bytes after which the index repeats */
    bool within_page = (span & (span - 1)) == 0 && span <= machine->page;
    return cache->index == STRATA_PHYSICAL && machine->mapping != STRATA_MAP_CONTIGUOUS &&
           !within_page;
}

/* Inclusion is towards every nearer cache that can hold the same lines. */
static void find_nearer(struct sim *sim, const struct strata_machine *machine, uint32_t id)
{
    const struct strata_cache *cache = &machine->caches[id];
    struct level *level = &sim->caches[id];
    for (uint32_t i = 0; i < machine->ncaches; i++) {
        const struct strata_cache *other = &machine->caches[i];
        bool shared = cache->kind == STRATA_UNIFIED || other->kind == STRATA_UNIFIED ||
                      cache->kind == other->kind;
        if (other->level < cache->level && shared)
            level->nearer[level->nnearer++] = &sim->caches[i];
    }
}

/* Whether accesses of a path may use a cache. */
static bool path_takes(uint32_t path, const struct strata_cache *cache)
{
    uint32_t type = path == PATH_FLOAT ? STRATA_FLOAT : STRATA_INT;
    return path == PATH_FETCH ? takes(cache->kind, true)
                              : takes(cache->kind, false) && (cache->types & type);
}

/* Whether a cache is the first of some path. */
static bool is_first_cache(const struct strata_machine *machine, uint32_t id)
{
    for (uint32_t path = 0; path < PATHS; path++) {
        uint32_t first = UINT32_MAX;
        for (uint32_t i = 0; i < machine->ncaches; i++)
            if (path_takes(path, &machine->caches[i]) &&
                (first == UINT32_MAX ||
                 machine->caches[i].level < machine->caches[first].level))
                first = i;
        if (first == id)
            return true;
    }
    return false;
}

static int build_caches(struct sim *sim, const struct strata_machine *machine)
{
    for (uint32_t i = 0; i < machine->ncaches; i++) {
        const struct strata_cache *cache = &machine->caches[i];
        struct level *level = &sim->caches[i];
        *level = (struct level){
            .id = i,
            .shift = log2_of(cache->line),
            .in_page = sim->page_shift - log2_of(cache->line),
            .translated = is_translated(machine, cache),
            .inclusive = cache->inclusion == STRATA_INCLUSIVE,
            .exclusive = cache->inclusion == STRATA_EXCLUSIVE,
        };
        struct cache_shape shape = {.sets = cache->size / cache->line / cache->ways,
                                    .ways = cache->ways,
                                    .policy = cache->policy,
                                    .occupied = cache->occupied,
                                    .near = is_first_cache(machine, i),
                                    .clock = &sim->clock};
        sim->ncaches++;
        if (cache_init(&level->lines, &shape, &sim->allocator))
            return -1;
        find_nearer(sim, machine, i);
        if (cache->level > sim->cache_levels)
            sim->cache_levels = cache->level;
    }
    return 0;
}

/* Whether a TLB is the first for its pages, of instructions or of data. */
static bool is_first_tlb(const struct strata_machine *machine, uint32_t id)
{
    const struct strata_tlb *tlb = &machine->tlbs[id];
    for (int fetch = 0; fetch < 2; fetch++) {
        bool first = takes(tlb->kind, fetch);
        for (uint32_t i = 0; i < machine->ntlbs; i++) {
            const struct strata_tlb *other = &machine->tlbs[i];
            bool before =
                other->level < tlb->level || (other->level == tlb->level && i < id);
            bool alike = (other->page <= machine->page) == (tlb->page <= machine->page);
            first &= !(before && alike && takes(other->kind, fetch));
        }
        if (first)
            return true;
    }
    return false;
}

static int build_tlbs(struct sim *sim, const struct strata_machine *machine)
{
    for (uint32_t i = 0; i < machine->ntlbs; i++) {
        const struct strata_tlb *tlb = &machine->tlbs[i];
        struct cache_shape shape = {.sets = tlb->entries / tlb->ways,
                                    .ways = tlb->ways,
                                    .policy = tlb->policy,
                                    .near = is_first_tlb(machine, i),
                                    .clock = &sim->clock};
        sim->ntlbs++;
        if (cache_init(&sim->tlbs[i], &shape, &sim->allocator))
            return -1;
        sim->tlbs[i].index = (uint8_t)tlb->index;
        sim->tlbs[i].fold = (uint8_t)log2_of(shape.sets);
        if (tlb->level > sim->tlb_levels)
            sim->tlb_levels = tlb->level;
    }
    return 0;
}

static void build_results(struct sim *sim, const struct strata_machine *machine,
                          struct path *path)
{
    for (uint32_t end = 0; end < ENDS; end++) {
        const struct route *route = &path->routes[end / END_HUGE];
        uint32_t tlb = end % END_HUGE / END_TLB, depth = end % END_TLB;
        bool cached = depth < path->n;
        const struct strata_cache *cache = machine->caches;
        if (cached)
            cache += path->level[depth]->id;
        path->results[end] = (struct sim_result){
            .cycles =
                route->cycles[tlb] + (cached ? cache->latency : machine->memory_latency),
            .level = cached ? cache->level : sim->cache_levels + 1,
            .tlb = route->level[tlb],
            .victim = SIM_NO_LINE,
        };
    }
}

static void clear_ways(struct sim_way *ways, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        ways[i].key = CACHE_NONE;
}

/* Forgets what was near where there is no TLB; arrays know it themselves. */
static void clear_quick(struct sim *sim)
{
    for (uint32_t i = 0; i < PATHS; i++) {
        clear_ways(sim->quick[i].without, SIM_QUICK_PAGES);
        clear_ways(sim->quick[i].huge_without, SIM_QUICK_HUGE);
    }
}

static void lead_nowhere(struct sim_quick *quick)
{
    clear_ways(&quick->nothing, 1);
    for (uint32_t i = 0; i < SIM_QUICK_LINES; i++)
        quick->lines[i] = &quick->nothing;
    for (uint32_t i = 0; i < SIM_QUICK_PAGES; i++)
        quick->pages[i] = &quick->nothing;
    for (uint32_t i = 0; i < SIM_QUICK_HUGE; i++)
        quick->huge[i] = &quick->nothing;
}

/* Whether the oldest stamp says what goes, and a mask the set. */
static bool is_simple_near(const struct cache *cache)
{
    return cache->stamped && !cache->modulo && !cache->index;
}

/* Whether that is so in the first cache, nothing follows when a line leaves it, and a hit
 * in the second cache, if there is one, is a matter of its order alone. */
static bool is_simple(const struct path *path)
{
    const struct level *first = path->level[0], *second = path->level[1];
    if (path->n == 0 || path->tables || path->passes[0] || first->translated ||
        !is_simple_near(&first->lines))
        return false;
    return path->n == 1 || (second->lines.plain && !second->lines.modulo &&
                            second->translated == path->translated);
}

static struct sets sets_of(const struct cache *cache)
{
    bool near = cache->near;
    return (struct sets){
        .first = near ? (char *)cache->nodes : (char *)cache->heads,
        .mask = cache->mask,
        .stride = near ? cache->ways * sizeof *cache->nodes : cache->stride,
        .ways = cache->ways,
    };
}

static void build_simple(struct path *path)
{
    path->simple = is_simple(path);
    if (!path->simple)
        return;
    path->near = sets_of(&path->level[0]->lines);
    if (path->routes[0].n && is_simple_near(path->routes[0].tlb[0]))
        path->pages = sets_of(path->routes[0].tlb[0]);
    if (path->n == 1)
        return;
    path->next = sets_of(&path->level[1]->lines);
    path->next_shift = path->level[1]->shift;
}

/* Paths with the same first cache and the same TLBs share their tables. */
static void build_quick(struct sim *sim, struct path *path)
{
    const struct path *integers = &sim->paths[PATH_INT];
    path->quick = &sim->quick[path - sim->paths];
    if (path->n && path->level[0] == integers->level[0] && path->routes == integers->routes)
        path->quick = &sim->quick[PATH_INT];
    struct sim_quick *quick = path->quick;
    lead_nowhere(quick);
    quick->clock = &sim->clock;
    quick->line_shift = path->grain;
    quick->page_shift = sim->page_shift;
    quick->huge_shift = sim->huge_shift;
    quick->huge_mark = path->routes[1].flag;
    quick->result = &path->results[0];
    if (path->n && path->level[0]->trains)
        quick->trails = path->level[0]->trails;
}

static void build_path(struct sim *sim, const struct strata_machine *machine, uint32_t id)
{
    struct path *path = &sim->paths[id];
    path->grain = sim->page_shift;
    path->routes = sim->routes[id == PATH_FETCH];
    for (uint32_t at = 1; at <= sim->cache_levels; at++)
        for (uint32_t i = 0; i < machine->ncaches; i++) {
            const struct strata_cache *cache = &machine->caches[i];
            struct level *level = &sim->caches[i];
            if (cache->level != at || !path_takes(id, cache))
                continue;
            if (path->n)
                path->casts[path->n - 1] = level->exclusive;
            path->level[path->n++] = level;
            path->translated |= level->translated;
            path->prefetches |= level->nprefetchers > 0;
        }
    path->tables = machine->walk_tables && path->n && id != PATH_FETCH;
    if (path->n)
        path->grain = path->level[0]->shift;
    for (uint32_t i = 0; i < path->n; i++)
        path->passes[i] = path->casts[i] || path->level[i]->inclusive;
    build_results(sim, machine, path);
    build_quick(sim, path);
    build_simple(path);
}

static bool has_tlb(const struct strata_machine *machine, bool fetch, uint64_t page)
{
    for (uint32_t i = 0; i < machine->ntlbs; i++)
        if (takes(machine->tlbs[i].kind, fetch) && machine->tlbs[i].page == page)
            return true;
    return false;
}

/* Huge pages have TLBs of their own, or else share those of base pages. */
static void build_route(struct sim *sim, const struct strata_machine *machine, bool fetch,
                        bool huge)
{
    struct route *route = &sim->routes[fetch][huge];
    bool own = huge && has_tlb(machine, fetch, machine->huge);
    uint64_t page = own ? machine->huge : machine->page;
    bool shared = huge && page != machine->huge;
    route->flag = shared ? UINT64_C(1) << 63 : 0;
    for (uint32_t at = 1; at <= sim->tlb_levels; at++)
        for (uint32_t i = 0; i < machine->ntlbs; i++) {
            const struct strata_tlb *tlb = &machine->tlbs[i];
            bool mine = own ? tlb->page == page : tlb->page <= page;
            if (tlb->level != at || !takes(tlb->kind, fetch) || !mine)
                continue;
            route->shift[route->n] = log2_of(shared ? machine->huge : tlb->page);
            route->cycles[route->n] = tlb->latency;
            route->level[route->n] = tlb->level;
            route->tlb[route->n++] = &sim->tlbs[i];
        }
    if (route->n) {
        route->cycles[route->n] = machine->walk_latency;
        route->level[route->n] = sim->tlb_levels + 1;
    }
}

static bool same_name(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* A prefetcher bears the name of the cache that it fills. */
static void build_prefetcher(struct sim *sim, const struct strata_machine *machine,
                             uint32_t id)
{
    const struct strata_prefetcher *from = &machine->prefetchers[id];
    struct level *level = NULL;
    for (uint32_t i = 0; i < machine->ncaches; i++)
        if (same_name(machine->caches[i].name, from->name))
            level = &sim->caches[i];
    if (!level || from->kind == STRATA_PREFETCH_NONE)
        return;
    struct prefetcher *prefetcher = &level->prefetchers[level->nprefetchers++];
    prefetcher_init(prefetcher, from);
    level->trains |= prefetcher->trains;
}

/* Prefetchers forget all pages. */
static void clear_trails(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->ncaches; i++)
        for (int page = 0; page < SIM_QUICK_TRAILS; page++)
            sim->caches[i].trails[page] =
                (struct sim_trail){SIM_QUICK_NOWHERE, SIM_QUICK_NOWHERE};
}

static void seed_all(struct sim *sim, uint64_t seed)
{
    mapping_seed(&sim->mapping, seed);
    for (uint32_t i = 0; i < sim->ncaches; i++)
        cache_seed(&sim->caches[i].lines, mix64(seed + i + 1));
    for (uint32_t i = 0; i < sim->ntlbs; i++)
        cache_seed(&sim->tlbs[i], mix64(seed + STRATA_MAX_CACHES + i + 1));
}

/* What an entry of the first TLBs maps: a base page, or a part of one. */
static uint64_t first_page(const struct strata_machine *machine)
{
    uint64_t page = machine->page;
    for (uint32_t i = 0; i < machine->ntlbs; i++)
        if (machine->tlbs[i].page < page)
            page = machine->tlbs[i].page;
    return page;
}

struct sim *sim_create(const struct strata_machine *machine, uint64_t seed,
                       const struct allocator *allocator)
{
    struct sim *sim = allocator->allocate(allocator->context, sizeof *sim);
    if (!sim)
        return NULL;
    unsigned char *bytes = (unsigned char *)sim; /* no memset() here */
    for (size_t i = 0; i < sizeof *sim; i++)
        bytes[i] = 0;
    sim->allocator = *allocator;
    sim->page_shift = log2_of(first_page(machine));
    sim->huge_shift = log2_of(machine->huge);
    if (build_caches(sim, machine) || build_tlbs(sim, machine)) {
        sim_release(sim);
        return NULL;
    }
    for (uint32_t i = 0; i < machine->nprefetchers; i++)
        build_prefetcher(sim, machine, i);
    for (int i = 0; i < 4; i++)
        build_route(sim, machine, i / 2, i % 2);
    for (uint32_t i = 0; i < PATHS; i++)
        build_path(sim, machine, i);
    clear_quick(sim);
    clear_trails(sim);
    for (int type = 0; type < 4; type++) {
        sim->path[SIM_FETCH][type] = &sim->paths[PATH_FETCH];
        sim->path[SIM_LOAD][type] = sim->path[SIM_STORE][type] =
            &sim->paths[type == STRATA_FLOAT ? PATH_FLOAT : PATH_INT];
    }
    mapping_init(&sim->mapping, machine, seed);
    seed_all(sim, seed);
    return sim;
}

void sim_release(struct sim *sim)
{
    if (!sim)
        return;
    struct allocator allocator = sim->allocator;
    for (uint32_t i = 0; i < sim->ncaches; i++)
        cache_release(&sim->caches[i].lines, &allocator);
    for (uint32_t i = 0; i < sim->ntlbs; i++)
        cache_release(&sim->tlbs[i], &allocator);
    allocator.release(allocator.context, sim);
}

/* Drops what caches and TLBs hold of a range whose mapping changes. */
static void purge(struct sim *sim, uint64_t first, uint64_t last)
{
    for (uint32_t i = 0; i < sim->ncaches; i++) {
        struct level *level = &sim->caches[i];
        cache_purge(&level->lines, first >> level->shift, last >> level->shift);
    }
    for (int fetch = 0; fetch < 2; fetch++) {
        const struct route *route = &sim->routes[fetch][0];
        for (uint32_t j = 0; j < route->n; j++)
            cache_purge(route->tlb[j], first >> route->shift[j], last >> route->shift[j]);
    }
}

int sim_map_huge(struct sim *sim, uint64_t address, uint64_t size)
{
    uint64_t huge = sim->mapping.huge;
    if (huge == 0)
        return -1;
    uint64_t room = UINT64_MAX - address;
    uint64_t end = size > room ? UINT64_MAX : address + size; /* not in the range */
    uint64_t before = (huge - address % huge) % huge;
    if (end - address < before || (end - address - before) < huge)
        return 0;
    uint64_t first = address + before, last = end - end % huge - 1;
    int changed = mapping_add_huge(&sim->mapping, first, last);
    if (changed > 0) {
        purge(sim, first, last);
        clear_quick(sim);
    }
    return changed < 0 ? -1 : 0;
}

void sim_flush(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->ncaches; i++)
        cache_clear(&sim->caches[i].lines);
    for (uint32_t i = 0; i < sim->ntlbs; i++)
        cache_clear(&sim->tlbs[i]);
    clear_quick(sim);
    clear_trails(sim);
}

void sim_remap(struct sim *sim, uint64_t seed)
{
    seed_all(sim, seed);
    sim_flush(sim);
}

/* Adds n accesses that ended so to the counts. */
static void count_end(struct sim *sim, const struct path *path, uint32_t end, uint64_t n)
{
    const struct route *route = &path->routes[end / END_HUGE];
    uint32_t tlb_depth = end % END_HUGE / END_TLB, depth = end % END_TLB;
    for (uint32_t i = 0; i < depth; i++)
        sim->counts.misses[path->level[i]->id] += n;
    if (depth < path->n)
        sim->counts.hits[path->level[depth]->id] += n;
    for (uint32_t i = 0; i < tlb_depth; i++)
        sim->counts.tlb_misses[route->tlb[i] - sim->tlbs] += n;
    if (tlb_depth < route->n)
        sim->counts.tlb_hits[route->tlb[tlb_depth] - sim->tlbs] += n;
    else if (route->n)
        sim->counts.walks += n;
    sim->counts.cycles += n * path->results[end].cycles;
}

struct sim_quick *sim_quick_for(struct sim *sim, enum sim_op op, enum strata_types type)
{
    return sim->path[op][type]->quick;
}

void sim_add_hits(struct sim *sim, enum sim_op op, enum strata_types type, uint64_t n)
{
    sim->hits[op][type] += n;
}

/* Hits of the quick path are accesses that ended at depth 0 of both. */
static void count_hits(struct sim *sim)
{
    for (int op = 0; op < 3; op++)
        for (int type = 0; type < 4; type++) {
            uint64_t n = sim->hits[op][type];
            sim->hits[op][type] = 0;
            sim->counts.accesses[op] += n;
            sim->path[op][type]->ends[0] += n;
        }
}

const struct sim_counts *sim_counts(struct sim *sim)
{
    count_hits(sim);
    for (uint32_t i = 0; i < PATHS; i++)
        for (uint32_t end = 0; end < ENDS; end++) {
            uint64_t n = sim->paths[i].ends[end];
            sim->paths[i].ends[end] = 0;
            if (n)
                count_end(sim, &sim->paths[i], end, n);
        }
    return &sim->counts;
}

void sim_reset_counts(struct sim *sim)
{
    sim_counts(sim);
    sim->counts = (struct sim_counts){0};
}
