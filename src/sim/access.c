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
    if (path->passes[i])
        pass_on(sim, path, i, key);
}

/* Asks the memory of this computer for the set in which a line will be that level i - 1
 * casts out to make room for another. */
HOT void expect_victim(const struct sim *sim, const struct path *path, uint32_t i,
                       uint64_t virtual, uint64_t physical)
{
    const struct level *from = path->level[i - 1], *level = path->level[i];
    uint64_t key = cache_victim(&from->lines, level_set(from, virtual, physical));
    if (key == CACHE_NONE)
        return;
    uint64_t gone = key << from->shift;
    bool huge = mapping_find_huge(&sim->mapping, gone);
    uint64_t to = mapping_physical(&sim->mapping, gone, huge);
    cache_expect(&level->lines, level_set(level, gone, to));
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
        if (depth > 1 && path->casts[depth - 1])
            expect_victim(sim, path, depth, virtual, physical);
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
HOT void train(struct level *level, uint64_t line)
{
    if (level->trains)
        sim_trail_visit(level->trails, line >> level->in_page, line);
}

/* Brings in what a prefetcher of level i makes of a miss, and a step from there. */
COLD void prefetch(struct sim *sim, const struct path *path, uint32_t i,
                   const struct prefetcher *prefetcher, int64_t step, uint64_t address,
                   uint64_t physical)
{
    const struct level *level = path->level[i];
    uint64_t line = address >> level->shift, page = line >> level->in_page, gone;
    for (uint32_t n = 0; n < prefetcher->degree; n++) {
        line += (uint64_t)step;
        if (line >> level->in_page != page)
            return;
        /* the same page, so physical addresses are as far apart */
        uint64_t virtual = line << level->shift, at = physical + (virtual - address);
        if (!is_wanted(path, i, virtual, at))
            continue;
        sim->counts.prefetches[level->id]++;
        bring(sim, path, i, virtual, at, &gone);
    }
}

/* Shows an access that missed in all levels before a depth to the prefetchers. */
HOT void show_miss(struct sim *sim, const struct path *path, uint32_t depth,
                   uint64_t address, uint64_t physical)
{
    for (uint32_t i = 0; i < depth; i++) {
        struct level *level = path->level[i];
        uint64_t line = address >> level->shift;
        struct prefetch_steps steps = {0, 0};
        if (level->trains)
            steps = prefetch_visit(level->trails, line, level->in_page);
        for (uint32_t j = 0; j < level->nprefetchers; j++) {
            const struct prefetcher *prefetcher = &level->prefetchers[j];
            int64_t step = prefetcher_step(prefetcher, line, steps);
            if (step)
                prefetch(sim, path, i, prefetcher, step, address, physical);
        }
    }
    if (depth < path->n)
        train(path->level[depth], address >> path->level[depth]->shift);
}

HOT struct sim_way **slot_of_line(struct sim_quick *quick, uint64_t line)
{
    return &quick->lines[sim_slot_of(line, SIM_LINE_BITS)];
}

/* The rest of an access that missed in the first cache of its path. Returns its depth. */
HOT uint32_t miss(struct sim *sim, const struct path *path, uint64_t address,
                  uint64_t physical, uint64_t set)
{
    struct cache *lines = &path->level[0]->lines;
    uint64_t gone, line = address >> path->grain;
    uint32_t depth = bring(sim, path, 0, address, physical, &gone);
    sim->victim = gone == CACHE_NONE ? SIM_NO_LINE : gone << path->grain;
    *slot_of_line(path->quick, line) = cache_ways(lines, set) + lines->filled;
    if (path->prefetches)
        show_miss(sim, path, depth, address, physical);
    return depth;
}

/* The rest of a translation that is not in the first TLB of its route: asks the others, and
 * fills those that do not have it from place `first` on. Returns its depth. */
COLD uint32_t translate_miss(const struct route *route, uint64_t address, uint32_t first)
{
    uint32_t depth = 1;
    for (; depth < route->n; depth++) {
        uint64_t page = address >> route->shift[depth];
        struct cache *pages = route->tlb[depth];
        if (cache_hit(pages, cache_set_of_page(pages, page), page | route->flag))
            break;
    }
    for (uint32_t i = depth; i-- > first;) {
        uint64_t page = address >> route->shift[i];
        struct cache *pages = route->tlb[i];
        uint64_t set = cache_set_of_page(pages, page);
        if (pages->stamped)
            cache_fill_stamped(pages, set, page | route->flag);
        else
            cache_fill(pages, set, page | route->flag);
    }
    return depth;
}

/* Translates an address; returns the depth of that. Notes where the page is now. */
HOT uint32_t translate(const struct path *path, uint64_t address, bool huge)
{
    const struct route *route = &path->routes[huge];
    struct sim_quick *quick = path->quick;
    uint64_t page = address >> (huge ? quick->huge_shift : quick->page_shift);
    uint64_t at = sim_slot_of(page, huge ? SIM_HUGE_BITS : SIM_PAGE_BITS);
    struct sim_way **slot = huge ? &quick->huge[at] : &quick->pages[at];
    if ((*slot)->key == (page | route->flag)) { /* most miss a line of a near page */
        (*slot)->stamp = cache_tick(quick->clock);
        return 0;
    }
    if (route->n == 0) {
        *slot = huge ? &quick->huge_without[at] : &quick->without[at];
        (*slot)->key = page | route->flag;
        return 0;
    }
    struct cache *pages = route->tlb[0];
    uint64_t set = cache_set_of_page(pages, page);
    uint32_t way = cache_find(pages, set, page | route->flag), depth = 0;
    if (way != CACHE_NO_WAY) {
        cache_touch(pages, set, way);
    } else {
        depth = translate_miss(route, address, 0);
        way = pages->filled;
    }
    *slot = cache_ways(pages, set) + way;
    return depth;
}

/* Looks up a line; returns the depth where it was. Notes where it is now. */
HOT uint32_t look_up(struct sim *sim, const struct path *path, uint64_t address,
                     uint64_t physical)
{
    if (path->n == 0)
        return 0;
    struct level *level = path->level[0];
    uint64_t line = address >> level->shift;
    uint64_t set = level_set(level, address, physical);
    uint32_t way = cache_find(&level->lines, set, line);
    if (way == CACHE_NO_WAY)
        return miss(sim, path, address, physical, set);
    cache_touch(&level->lines, set, way);
    train(level, line);
    *slot_of_line(path->quick, line) = cache_ways(&level->lines, set) + way;
    return 0;
}

/* The last step of a walk: a load of the page's entry, 8 bytes, side by side as the pages
 * are. Tables lie where no program's addresses are, those of huge pages apart. */
COLD void read_table(struct sim *sim, const struct path *path, uint64_t address, bool huge)
{
    enum { ENTRY = 8, TABLES = 62, HUGE_TABLES = 61 };
    uint64_t base = UINT64_C(1) << TABLES | (uint64_t)huge << HUGE_TABLES;
    uint64_t at = base + (address >> sim->mapping.shift[huge]) * ENTRY;
    uint64_t victim = sim->victim;
    uint32_t depth = look_up(sim, path, at, mapping_physical(&sim->mapping, at, false));
    sim->walked += path->results[depth].cycles - path->routes[0].cycles[0];
    sim->victim = victim;
}

/* The cycles that tables cost since they were taken last; those count. */
HOT uint32_t take_walked(struct sim *sim)
{
    uint32_t walked = sim->walked;
    sim->counts.cycles += walked;
    sim->walked = 0;
    return walked;
}

/* Levels beyond the first whose sets the memory of this computer is asked for as soon as
 * they are known; an access that stays nearer does that for nothing. */
enum { EXPECTED = 2 };

/* Does an access to one line; returns its end. The next one to it may be quicker. */
COLD uint32_t access_slowly(struct sim *sim, const struct path *path, uint64_t address)
{
    bool huge = mapping_is_huge(&sim->mapping, address);
    uint64_t physical = address;
    if (path->translated)
        physical = mapping_physical(&sim->mapping, address, huge);
    for (uint32_t i = 1; i <= EXPECTED && i < path->n; i++)
        cache_expect(&path->level[i]->lines, level_set(path->level[i], address, physical));
    uint32_t depth = translate(path, address, huge);
    if (path->tables && depth && depth == path->routes[huge].n)
        read_table(sim, path, address, huge);
    uint32_t end = huge * END_HUGE + depth * END_TLB;
    return end + look_up(sim, path, address, physical);
}

/* As show_miss(), or for a hit at depth 0. */
COLD void show(struct sim *sim, const struct path *path, uint32_t depth, uint64_t address,
               uint64_t physical)
{
    show_miss(sim, path, depth, address, physical);
}

/* As bring_simply(), for a line that is not in the second cache either. */
COLD uint32_t bring_from_afar(struct sim *sim, const struct path *path, uint64_t address,
                              uint64_t physical)
{
    uint64_t gone;
    return bring(sim, path, 1, address, physical, &gone);
}

/* Where the set of a line or page number begins. */
HOT void *set_of(const struct sets *sets, uint64_t number)
{
    return sets->first + (number & sets->mask) * sets->stride;
}

/* Finds a line beyond the first cache of a simple path and fills those that do not have it;
 * returns its depth. The second cache has a head where its set begins, if there is one. */
HOT uint32_t bring_simply(struct sim *sim, const struct path *path, struct cache_head *head,
                          uint64_t address, uint64_t physical)
{
    const struct level *level = path->level[1];
    if (!level)
        return 1;
    uint32_t way = cache_way_in(&level->lines, head, address >> path->next_shift);
    if (way == CACHE_NO_WAY)
        return bring_from_afar(sim, path, address, physical);
    if (level->lines.touch == TOUCH_ORDER)
        cache_promote(head, way);
    return 1;
}

/* As translate(), for a base page that the table does not know. */
COLD uint32_t translate_otherwise(const struct path *path, uint64_t address)
{
    return translate(path, address, false);
}

/* The same, at a time, where the first TLB is simple. */
HOT uint32_t translate_simply(const struct path *path, uint64_t address, uint64_t page,
                              struct sim_way **slot, uint64_t now)
{
    if (!path->pages.ways)
        return translate_otherwise(path, address);
    struct sim_way *ways = set_of(&path->pages, page);
    uint32_t number = cache_way_near(ways, path->pages.ways, page);
    if (number != CACHE_NO_WAY) {
        *slot = ways + number;
        ways[number].stamp = now;
        return 0;
    }
    *slot = cache_victim_near(ways, path->pages.ways);
    **slot = (struct sim_way){page, now};
    return path->routes->n == 1 ? 1 : translate_miss(path->routes, address, 1);
}

/* Brings a line into the first cache of a simple path; returns its way there. */
HOT struct sim_way *enter(struct sim *sim, const struct path *path, struct sim_way *ways,
                          uint64_t line)
{
    struct sim_way *way = cache_victim_near(ways, path->near.ways);
    if (way->key != CACHE_NONE) {
        sim->counts.evictions[path->level[0]->id]++;
        sim->victim = way->key << path->grain;
    }
    way->key = line;
    return way;
}

/* As access_slowly(), for a base page on a simple path. The same steps with all that
 * cannot happen left out: real programs spend most of their simulated time in here. */
HOT uint32_t access_simply(struct sim *sim, const struct path *path, uint64_t address)
{
    struct sim_quick *quick = path->quick;
    uint64_t physical = address;
    if (path->translated)
        physical = mapping_physical(&sim->mapping, address, false);
    struct cache_head *next = set_of(&path->next, physical >> path->next_shift);
    cache_expect_at(next);
    if (path->n > 2)
        cache_expect(&path->level[2]->lines, level_set(path->level[2], address, physical));
    uint64_t page = address >> quick->page_shift, line = address >> path->grain;
    uint64_t now = cache_tick(quick->clock);
    struct sim_way **slot = &quick->pages[sim_slot_of(page, SIM_PAGE_BITS)], *way = *slot;
    uint32_t end = 0, depth = 0;
    if (way->key == page)
        way->stamp = now;
    else
        end = translate_simply(path, address, page, slot, now) * END_TLB;
    struct sim_way *ways = set_of(&path->near, line);
    uint32_t number = cache_way_near(ways, path->near.ways, line);
    if (number != CACHE_NO_WAY) {
        way = ways + number;
    } else {
        depth = bring_simply(sim, path, next, address, physical);
        way = enter(sim, path, ways, line);
    }
    way->stamp = now;
    *slot_of_line(quick, line) = way;
    if (path->prefetches)
        show(sim, path, depth, address, physical);
    return end + depth;
}

/* As sim_quick(), for an access to one line on a huge page. */
HOT bool quick_huge(struct sim_quick *quick, uint64_t address)
{
    uint64_t line = address >> quick->line_shift, page = address >> quick->huge_shift;
    struct sim_way *line_way = *slot_of_line(quick, line);
    struct sim_way *page_way = quick->huge[sim_slot_of(page, SIM_HUGE_BITS)];
    if (line_way->key != line || page_way->key != (page | quick->huge_mark))
        return false;
    sim_quick_visit(quick, line_way, page_way);
    if (quick->trails)
        sim_trail_visit(quick->trails, address >> quick->page_shift, line);
    return true;
}

/* Does an access to one line that is not quick on a base page; returns its end. */
HOT uint32_t access_line(struct sim *sim, const struct path *path, uint64_t address)
{
    sim->victim = SIM_NO_LINE;
    if (path->simple && !mapping_is_huge(&sim->mapping, address))
        return access_simply(sim, path, address);
    return quick_huge(path->quick, address) ? END_HUGE : access_slowly(sim, path, address);
}

/* The worse end of two: by TLB level and by depth. */
static uint32_t worse(const struct path *path, uint32_t end, uint32_t other)
{
    uint32_t depth = end % END_TLB, deeper = other % END_TLB;
    uint32_t route = end - depth;
    if (path->results[other].tlb > path->results[end].tlb)
        route = other - deeper;
    return route + (deeper > depth ? deeper : depth);
}

/* An access that ends `more` lines behind its first. */
COLD const struct sim_result *access_lines(struct sim *sim, struct path *path,
                                           uint64_t address, uint64_t more)
{
    uint64_t first = address >> path->grain;
    uint32_t end = access_line(sim, path, address);
    uint32_t cycles = path->results[end].cycles;
    uint64_t victim = sim->victim;
    for (uint64_t i = 1; i <= more; i++) {
        uint32_t next = access_line(sim, path, (first + i) << path->grain);
        if (path->results[next].cycles > cycles)
            cycles = path->results[next].cycles;
        if (victim == SIM_NO_LINE)
            victim = sim->victim;
        end = worse(path, end, next);
    }
    path->ends[end]++;
    struct sim_result *result = &sim->straddling;
    *result = path->results[end];
    /* the slower part need not be the worst in both */
    sim->counts.cycles += cycles - (uint64_t)result->cycles;
    result->cycles = cycles + take_walked(sim);
    result->victim = victim;
    return result;
}

/* The result of an access that also read tables. */
COLD const struct sim_result *walked_result(struct sim *sim, const struct sim_result *from)
{
    struct sim_result *result = &sim->straddling;
    *result = *from;
    result->cycles += take_walked(sim);
    return result;
}

const struct sim_result *sim_access_otherwise(struct sim *sim, uint64_t address,
                                              uint32_t size, enum sim_op op,
                                              enum strata_types type)
{
    struct path *path = sim->path[op][type];
    uint64_t first = address >> path->grain, last = (address + size - 1) >> path->grain;
    sim->counts.accesses[op]++;
    if (__builtin_expect(first != last, 0)) {
        /* beyond the end of the address space is its beginning */
        uint64_t more = (last - first) & UINT64_MAX >> path->grain;
        return access_lines(sim, path, address, more);
    }
    uint32_t end = access_line(sim, path, address);
    path->ends[end]++;
    path->results[end].victim = sim->victim;
    if (__builtin_expect(sim->walked, 0))
        return walked_result(sim, &path->results[end]);
    return &path->results[end];
}

void sim_access(struct sim *sim, uint64_t address, uint32_t size, enum sim_op op,
                enum strata_types type, struct sim_result *result)
{
    struct sim_quick *quick = sim->path[op][type]->quick;
    if (__builtin_expect(!sim_quick(quick, address, size), 0)) {
        *result = *sim_access_otherwise(sim, address, size, op, type);
        return;
    }
    sim->hits[op][type]++;
    *result = *quick->result;
}

enum { PIECE = 16 }; /* loads of a chase: enough to have several memory accesses at once */

/* Asks it for the sets of a piece of a chase in all levels from the third on: their
 * directories are larger than the near caches of this computer. */
COLD void expect(const struct sim *sim, const struct path *path, uint64_t base,
                 const uint64_t *offsets, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t address = base + offsets[i];
        bool huge = mapping_find_huge(&sim->mapping, address);
        uint64_t physical = mapping_physical(&sim->mapping, address, huge);
        for (uint32_t j = 2; j < path->n; j++) {
            const struct level *level = path->level[j];
            cache_expect(&level->lines, level_set(level, address, physical));
            if (path->casts[j - 1])
                expect_victim(sim, path, j, address, physical);
        }
    }
}

/* Up to PIECE loads; adds their cycles and says how many went beyond the second cache. */
HOT uint32_t chase(struct sim *sim, struct path *path, uint64_t base,
                   const uint64_t *offsets, size_t n, uint64_t *cycles)
{
    uint64_t quick = 0;
    uint32_t far = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t address = base + offsets[i];
        if (sim_quick(path->quick, address, 1)) {
            quick++;
            continue;
        }
        uint32_t end = access_line(sim, path, address);
        path->ends[end]++;
        *cycles += path->results[end].cycles + take_walked(sim);
        far += end % END_TLB > 1;
    }
    path->ends[0] += quick;
    *cycles += quick * path->results[0].cycles;
    return far;
}

uint64_t sim_chase(struct sim *sim, uint64_t base, const uint64_t *offsets, size_t n)
{
    struct path *path = &sim->paths[PATH_INT];
    uint64_t cycles = 0;
    uint32_t far = 0;
    for (size_t at = 0; at < n; at += PIECE) {
        size_t more = n - at < PIECE ? n - at : PIECE;
        if (far > PIECE / 4) /* else that costs more than it gains */
            expect(sim, path, base, offsets + at, more);
        far = chase(sim, path, base, offsets + at, more, &cycles);
    }
    sim->counts.accesses[SIM_LOAD] += n;
    return cycles;
}
