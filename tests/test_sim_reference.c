/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The simulated machine beside a slow and obvious one, over random machines and random
 * accesses: every result and, at the end, every count must be the same.
 *
 * The reference knows lines by their physical address, as hardware does, keeps naive
 * arrays (test_sim_naive.h) and does one thing after the other as sim.h, access.c's notes
 * and prefetch.h say in words. It shares with the simulator only the page mapping and
 * where random numbers come from.
 *
 * Accesses go through sim_access(), through sim_chase(), and through sim_quick() with
 * sim_access() for what that leaves over, as a machine's seed has it. STRATA_FULL=1 takes
 * fifty times as many machines. */
#include "test_sim_machine.h"
#include "test_sim_naive.h"

#include "sim/mapping.h"
#include "sim/quick.h"

enum { MACHINES = 400, STEPS = 1500, LOADS = 70, SLOTS = 64 };

struct steps {
    uint64_t page; /* NAIVE_NONE: nothing known */
    int64_t line, last, before;
};

struct page_followed {
    uint64_t page, when; /* when: 0, it is none yet */
    int64_t line;
};

struct reference {
    struct strata_machine machine;
    struct mapping mapping;
    struct naive caches[STRATA_MAX_CACHES], tlbs[STRATA_MAX_TLBS];
    struct steps steps[STRATA_MAX_PREFETCHERS][SLOTS];
    struct page_followed followed[STRATA_MAX_PREFETCHERS][SLOTS];
    uint64_t now; /* misses that streamers have seen */
    struct sim_counts counts;
};

/* The caches or TLBs that an access may use, nearest first. */
struct chain {
    uint32_t n, id[STRATA_MAX_TLBS];
};

static void reference_flush(struct reference *r)
{
    for (uint32_t i = 0; i < r->machine.ncaches; i++)
        naive_clear(&r->caches[i]);
    for (uint32_t i = 0; i < r->machine.ntlbs; i++)
        naive_clear(&r->tlbs[i]);
    for (uint32_t i = 0; i < STRATA_MAX_PREFETCHERS; i++)
        for (int slot = 0; slot < SLOTS; slot++)
            r->steps[i][slot] = (struct steps){.page = NAIVE_NONE};
    memset(r->followed, 0, sizeof r->followed);
}

/* Every array has random numbers of its own. */
static void reference_seed(struct reference *r, uint64_t seed)
{
    for (uint32_t i = 0; i < r->machine.ncaches; i++)
        r->caches[i].rng.state = mix64(seed + i + 1);
    for (uint32_t i = 0; i < r->machine.ntlbs; i++)
        r->tlbs[i].rng.state = mix64(seed + STRATA_MAX_CACHES + i + 1);
}

static void reference_init(struct reference *r, const struct strata_machine *machine,
                           uint64_t seed)
{
    memset(r, 0, sizeof *r);
    r->machine = *machine;
    mapping_init(&r->mapping, machine, seed);
    for (uint32_t i = 0; i < machine->ncaches; i++) {
        const struct strata_cache *c = &machine->caches[i];
        naive_init(&r->caches[i], c->size / c->line / c->ways, c->ways, c->policy,
                   c->occupied);
    }
    for (uint32_t i = 0; i < machine->ntlbs; i++) {
        const struct strata_tlb *t = &machine->tlbs[i];
        naive_init(&r->tlbs[i], t->entries / t->ways, t->ways, t->policy, 0);
    }
    reference_seed(r, seed);
    reference_flush(r);
}

static void reference_release(struct reference *r)
{
    for (uint32_t i = 0; i < r->machine.ncaches; i++)
        naive_release(&r->caches[i]);
    for (uint32_t i = 0; i < r->machine.ntlbs; i++)
        naive_release(&r->tlbs[i]);
}

static bool is_huge(const struct reference *r, uint64_t address)
{
    for (uint32_t i = 0; i < r->mapping.nranges; i++)
        if (address >= r->mapping.ranges[i].first && address <= r->mapping.ranges[i].last)
            return true;
    return false;
}

static uint64_t physical_of(const struct reference *r, uint64_t address)
{
    return mapping_physical(&r->mapping, address, is_huge(r, address));
}

static bool kind_takes(uint32_t kind, enum sim_op op)
{
    return kind == STRATA_UNIFIED || (op == SIM_FETCH) == (kind == STRATA_INSTRUCTION);
}

static struct chain caches_for(const struct reference *r, enum sim_op op, uint32_t type)
{
    struct chain chain = {0};
    for (uint32_t level = 1; level <= STRATA_MAX_CACHES; level++)
        for (uint32_t i = 0; i < r->machine.ncaches; i++) {
            const struct strata_cache *c = &r->machine.caches[i];
            if (c->level == level && kind_takes(c->kind, op) &&
                (op == SIM_FETCH || (c->types & type)))
                chain.id[chain.n++] = i;
        }
    return chain;
}

/* Lines are named by their physical address. */
static uint64_t line_of(const struct reference *r, uint32_t cache, uint64_t address)
{
    return physical_of(r, address) / r->machine.caches[cache].line;
}

static uint64_t set_of(const struct reference *r, uint32_t cache, uint64_t address)
{
    const struct strata_cache *c = &r->machine.caches[cache];
    uint64_t indexed = c->index == STRATA_PHYSICAL ? physical_of(r, address) : address;
    return indexed / c->line % r->caches[cache].sets;
}

static int find_line(const struct reference *r, uint32_t cache, uint64_t address)
{
    return naive_find(&r->caches[cache], set_of(r, cache, address),
                      line_of(r, cache, address));
}

/* The virtual address of a physical line is looked up in this: all that were ever seen. */
struct seen {
    uint64_t physical, virtual;
};
static struct {
    size_t n;
    struct seen page[1 << 14];
} seen;

static void note_page(const struct reference *r, uint64_t address)
{
    uint64_t virtual = address - address % r->machine.page;
    uint64_t physical = physical_of(r, virtual);
    for (size_t i = seen.n; i-- > 0;)
        if (seen.page[i].physical == physical) {
            seen.page[i].virtual = virtual;
            return;
        }
    assert_true(seen.n < sizeof seen.page / sizeof *seen.page);
    seen.page[seen.n++] = (struct seen){physical, virtual};
}

static uint64_t virtual_of(const struct reference *r, uint64_t physical)
{
    uint64_t page = physical - physical % r->machine.page;
    for (size_t i = seen.n; i-- > 0;)
        if (seen.page[i].physical == page)
            return seen.page[i].virtual + (physical - page);
    fail_msg("a line from nowhere");
    return 0;
}

static void left(struct reference *r, const struct chain *chain, uint32_t at,
                 uint64_t line);

static void put(struct reference *r, const struct chain *chain, uint32_t at,
                uint64_t address, uint64_t *gone)
{
    uint32_t id = chain->id[at];
    *gone = naive_fill(&r->caches[id], set_of(r, id, address), line_of(r, id, address));
    if (*gone != NAIVE_NONE)
        left(r, chain, at, *gone);
}

/* Takes a line of `size` bytes out of every nearer cache that may share it. */
static void take_from_nearer(struct reference *r, uint32_t id, uint64_t address,
                             uint64_t size)
{
    const struct strata_cache *from = &r->machine.caches[id];
    for (uint32_t i = 0; i < r->machine.ncaches; i++) {
        const struct strata_cache *c = &r->machine.caches[i];
        if (c->level >= from->level ||
            (c->kind != from->kind && c->kind != STRATA_UNIFIED &&
             from->kind != STRATA_UNIFIED))
            continue;
        for (uint64_t at = 0; at < size; at += c->line)
            naive_remove(&r->caches[i], set_of(r, i, address + at),
                         line_of(r, i, address + at));
    }
}

/* A line had to leave a cache. */
static void left(struct reference *r, const struct chain *chain, uint32_t at, uint64_t line)
{
    uint32_t id = chain->id[at];
    const struct strata_cache *c = &r->machine.caches[id];
    uint64_t address = virtual_of(r, line * c->line), gone;
    r->counts.evictions[id]++;
    if (c->inclusion == STRATA_INCLUSIVE)
        take_from_nearer(r, id, address, c->line);
    if (at + 1 == chain->n ||
        r->machine.caches[chain->id[at + 1]].inclusion != STRATA_EXCLUSIVE)
        return;
    uint32_t next = chain->id[at + 1];
    for (uint64_t a = address; a < address + c->line; a += r->machine.caches[next].line) {
        int way = find_line(r, next, a);
        if (way >= 0)
            naive_touch(&r->caches[next], set_of(r, next, a), way);
        else
            put(r, chain, at + 1, a, &gone);
    }
}

/* Brings a line into the cache at a place of the chain, through all beyond that lack it.
 * Returns the place that had it, and what had to leave the first. */
static uint32_t fetch_line(struct reference *r, const struct chain *chain, uint32_t from,
                           uint64_t address, uint64_t *gone)
{
    uint32_t at = from + 1;
    while (at < chain->n && find_line(r, chain->id[at], address) < 0)
        at++;
    if (at < chain->n) {
        uint32_t id = chain->id[at];
        uint64_t set = set_of(r, id, address);
        if (r->machine.caches[id].inclusion == STRATA_EXCLUSIVE)
            naive_remove(&r->caches[id], set, line_of(r, id, address));
        else
            naive_touch(&r->caches[id], set, find_line(r, id, address));
    }
    for (uint32_t i = at; i-- > from;)
        if (i == from || r->machine.caches[chain->id[i]].inclusion != STRATA_EXCLUSIVE)
            put(r, chain, i, address, gone);
    return at;
}

/* A streamer keeps every page with the time of its last miss; a new page takes the place of
 * the oldest, where all are taken. */
static int64_t follow_page(struct reference *r, uint32_t prefetcher, uint64_t page,
                           int64_t line)
{
    struct page_followed *pages = r->followed[prefetcher], *found = NULL;
    struct page_followed *oldest = &pages[0];
    for (uint32_t i = 0; i < r->machine.prefetchers[prefetcher].pages; i++) {
        if (pages[i].when && pages[i].page == page)
            found = &pages[i];
        if (pages[i].when < oldest->when)
            oldest = &pages[i];
    }
    int64_t from = found ? found->line : line;
    *(found ? found : oldest) =
        (struct page_followed){.page = page, .line = line, .when = ++r->now};
    return line > from ? 1 : line < from ? -1 : 0;
}

/* Notes a step of prefetchers that learn; returns how to go on, 0: not. */
static int64_t next_step(struct reference *r, uint32_t prefetcher, uint64_t address,
                         uint64_t line_size, bool missed)
{
    uint32_t kind = r->machine.prefetchers[prefetcher].kind;
    int64_t line = (int64_t)(address % r->machine.page / line_size);
    uint64_t page = address / r->machine.page;
    struct steps *steps = &r->steps[prefetcher][page % SLOTS];
    if (kind == STRATA_PREFETCH_NEXT_LINE)
        return 1;
    if (kind == STRATA_PREFETCH_ADJACENT)
        return line % 2 ? -1 : 1;
    if (kind == STRATA_PREFETCH_STREAMER)
        return missed ? follow_page(r, prefetcher, page, line) : 0;
    if (steps->page != page)
        *steps = (struct steps){.page = page, .line = line};
    if (steps->line == line)
        return 0;
    steps->before = steps->last;
    steps->last = line - steps->line;
    steps->line = line;
    if (kind == STRATA_PREFETCH_STRIDE)
        return steps->last == steps->before ? steps->last : 0;
    return steps->last == 1 || steps->last == -1 ? steps->last : 0;
}

static void prefetch_from(struct reference *r, const struct chain *chain, uint32_t at,
                          uint64_t address, int64_t step, uint32_t degree)
{
    uint32_t id = chain->id[at];
    uint64_t size = r->machine.caches[id].line, gone;
    uint64_t page = address - address % r->machine.page;
    int64_t line = (int64_t)((address - page) / size) + step;
    for (uint32_t i = 0; i < degree; i++, line += step) {
        if (line < 0 || line >= (int64_t)(r->machine.page / size))
            return;
        uint64_t target = page + (uint64_t)line * size;
        bool there = find_line(r, id, target) >= 0;
        if (r->machine.caches[id].inclusion == STRATA_EXCLUSIVE)
            for (uint32_t near = 0; near < at; near++)
                there |= find_line(r, chain->id[near], target) >= 0;
        if (there)
            continue;
        r->counts.prefetches[id]++;
        fetch_line(r, chain, at, target, &gone);
    }
}

/* Shows an access that ended at a place to the prefetchers of all caches that it reached.
 */
static void run_prefetchers(struct reference *r, const struct chain *chain, uint32_t end,
                            uint64_t address)
{
    for (uint32_t at = 0; at < chain->n && at <= end; at++)
        for (uint32_t p = 0; p < r->machine.nprefetchers; p++) {
            const struct strata_prefetcher *prefetcher = &r->machine.prefetchers[p];
            const struct strata_cache *c = &r->machine.caches[chain->id[at]];
            if (prefetcher->kind == STRATA_PREFETCH_NONE ||
                strcmp(prefetcher->name, c->name) != 0)
                continue;
            uint32_t kind = prefetcher->kind;
            int64_t step = next_step(r, p, address, c->line, at < end);
            if (at < end && step)
                prefetch_from(r, chain, at, address, step,
                              kind == STRATA_PREFETCH_ADJACENT ? 1 : prefetcher->degree);
        }
}

struct outcome {
    uint32_t cycles, level, tlb, depth, tlb_depth;
    uint64_t victim;
    struct chain tlbs;
};

static bool has_own_tlbs(const struct reference *r, enum sim_op op)
{
    for (uint32_t i = 0; i < r->machine.ntlbs; i++)
        if (kind_takes(r->machine.tlbs[i].kind, op) &&
            r->machine.tlbs[i].page == r->machine.huge)
            return true;
    return false;
}

/* Huge pages share the TLBs of base pages where they have none of their own. */
static struct chain tlbs_for(const struct reference *r, enum sim_op op, bool huge)
{
    struct chain chain = {0};
    bool own = huge && has_own_tlbs(r, op);
    for (uint32_t level = 1; level <= STRATA_MAX_TLBS; level++)
        for (uint32_t i = 0; i < r->machine.ntlbs; i++) {
            const struct strata_tlb *t = &r->machine.tlbs[i];
            if (t->level == level && kind_takes(t->kind, op) &&
                own == (t->page == r->machine.huge))
                chain.id[chain.n++] = i;
        }
    return chain;
}

static uint32_t naive_walk(const struct strata_machine *machine, bool huge)
{
    uint32_t own = huge ? machine->walk_huge_latency : 0;
    return own ? own : machine->walk_latency;
}

static void translate(struct reference *r, uint64_t address, enum sim_op op,
                      struct outcome *out)
{
    bool huge = is_huge(r, address);
    struct chain chain = tlbs_for(r, op, huge);
    uint32_t at = 0, levels = 0;
    uint64_t numbers[STRATA_MAX_TLBS], keys[STRATA_MAX_TLBS];
    for (uint32_t i = 0; i < chain.n; i++) {
        uint64_t page = huge ? r->machine.huge : r->machine.tlbs[chain.id[i]].page;
        numbers[i] = address / page;
        keys[i] = 2 * numbers[i] + huge; /* a shared TLB tells them apart */
    }
    for (; at < chain.n; at++) {
        struct naive *tlb = &r->tlbs[chain.id[at]];
        int way = naive_find(tlb, numbers[at] % tlb->sets, keys[at]);
        if (way < 0)
            continue;
        naive_touch(tlb, numbers[at] % tlb->sets, way);
        break;
    }
    for (uint32_t i = 0; i < r->machine.ntlbs; i++)
        levels = r->machine.tlbs[i].level > levels ? r->machine.tlbs[i].level : levels;
    out->tlbs = chain;
    out->tlb_depth = at;
    out->tlb = at < chain.n ? r->machine.tlbs[chain.id[at]].level
               : chain.n    ? levels + 1
                            : 0;
    out->cycles = at < chain.n ? r->machine.tlbs[chain.id[at]].latency
                  : chain.n    ? naive_walk(&r->machine, huge)
                               : 0;
    while (at-- > 0) {
        struct naive *tlb = &r->tlbs[chain.id[at]];
        naive_fill(tlb, numbers[at] % tlb->sets, keys[at]);
    }
}

static void look_up(struct reference *r, const struct chain *chain, uint64_t address,
                    struct outcome *out)
{
    uint64_t gone = NAIVE_NONE;
    uint32_t end = 0, levels = 0;
    if (chain->n) {
        uint32_t first = chain->id[0];
        int way = find_line(r, first, address);
        if (way >= 0)
            naive_touch(&r->caches[first], set_of(r, first, address), way);
        else
            end = fetch_line(r, chain, 0, address, &gone);
    }
    for (uint32_t i = 0; i < r->machine.ncaches; i++)
        levels = r->machine.caches[i].level > levels ? r->machine.caches[i].level : levels;
    out->depth = end;
    out->level = end < chain->n ? r->machine.caches[chain->id[end]].level : levels + 1;
    out->cycles += end < chain->n ? r->machine.caches[chain->id[end]].latency
                                  : r->machine.memory_latency;
    out->victim = SIM_NO_LINE;
    if (gone != NAIVE_NONE)
        out->victim = virtual_of(r, gone * r->machine.caches[chain->id[0]].line);
    run_prefetchers(r, chain, end, address);
}

static void count_outcome(struct reference *r, const struct chain *chain, enum sim_op op,
                          const struct outcome *out)
{
    struct sim_counts *counts = &r->counts;
    counts->accesses[op]++;
    counts->cycles += out->cycles;
    for (uint32_t i = 0; i < out->depth; i++)
        counts->misses[chain->id[i]]++;
    if (out->depth < chain->n)
        counts->hits[chain->id[out->depth]]++;
    for (uint32_t i = 0; i < out->tlb_depth; i++)
        counts->tlb_misses[out->tlbs.id[i]]++;
    if (out->tlb_depth < out->tlbs.n)
        counts->tlb_hits[out->tlbs.id[out->tlb_depth]]++;
    else if (out->tlbs.n) {
        counts->walks++;
        counts->fetch_walks += op == SIM_FETCH;
    }
}

/* One access, in as many parts as it touches lines of the nearest cache, or pages. */
static struct outcome reference_access(struct reference *r, uint64_t address, uint32_t size,
                                       enum sim_op op, uint32_t type)
{
    struct chain chain = caches_for(r, op, type);
    uint64_t grain = chain.n ? r->machine.caches[chain.id[0]].line : r->machine.page;
    struct outcome worst = {0};
    for (uint64_t at = address; at < address + size; at = at - at % grain + grain) {
        struct outcome out;
        note_page(r, at);
        translate(r, at, op, &out);
        look_up(r, &chain, at, &out);
        if (at == address) {
            worst = out;
            continue;
        }
        if (out.tlb > worst.tlb) {
            worst.tlb = out.tlb;
            worst.tlb_depth = out.tlb_depth;
            worst.tlbs = out.tlbs;
        }
        if (out.depth > worst.depth) {
            worst.depth = out.depth;
            worst.level = out.level;
        }
        worst.cycles = out.cycles > worst.cycles ? out.cycles : worst.cycles;
        worst.victim = worst.victim == SIM_NO_LINE ? out.victim : worst.victim;
    }
    count_outcome(r, &chain, op, &worst);
    return worst;
}

/* Takes the keys out of an array whose addresses are in a range, way by way. */
static void forget(struct reference *r, struct naive *naive, uint64_t first, uint64_t last,
                   uint64_t (*address)(const struct reference *r, uint64_t key,
                                       uint64_t size),
                   uint64_t size)
{
    for (uint64_t s = 0; s < naive->sets; s++)
        for (uint32_t w = 0; w < naive->set[s].room; w++) {
            uint64_t key = naive->set[s].way[w].key;
            if (key == NAIVE_NONE)
                continue;
            uint64_t from = address(r, key, size);
            if (from <= last && from + size > first)
                naive_remove(naive, s, key);
        }
}

static uint64_t line_address(const struct reference *r, uint64_t key, uint64_t size)
{
    return virtual_of(r, key * size);
}

static uint64_t page_address(const struct reference *r, uint64_t key, uint64_t size)
{
    (void)r;
    return key % 2 ? UINT64_MAX - size : key / 2 * size; /* those of huge pages stay */
}

/* Puts a range on huge pages: if that changes anything, what was known of it is forgotten.
 */
static void reference_map_huge(struct reference *r, uint64_t first, uint64_t last)
{
    bool changes = false;
    for (uint64_t at = first; at < last; at += r->machine.huge)
        changes |= !is_huge(r, at);
    if (!changes)
        return;
    for (uint32_t i = 0; i < r->machine.ncaches; i++)
        forget(r, &r->caches[i], first, last, line_address, r->machine.caches[i].line);
    for (uint32_t i = 0; i < r->machine.ntlbs; i++)
        if (r->machine.tlbs[i].page != r->machine.huge)
            forget(r, &r->tlbs[i], first, last, page_address, r->machine.tlbs[i].page);
    mapping_add_huge(&r->mapping, first, last);
}

/* Random machines, within what strata_machine_check() accepts. */

static uint64_t pick(struct rng *rng, uint64_t low, uint64_t high)
{
    return low + rng_below(rng, high - low + 1);
}

static bool chance(struct rng *rng, uint64_t one_in)
{
    return rng_below(rng, one_in) == 0;
}

static uint32_t random_policy(struct rng *rng)
{
    static const uint32_t policies[] = {STRATA_LRU,  STRATA_LRU,  STRATA_LRU,   STRATA_PLRU,
                                        STRATA_PLRU, STRATA_FIFO, STRATA_RANDOM};
    return policies[rng_below(rng, sizeof policies / sizeof *policies)];
}

static void random_cache(struct strata_machine *m, struct rng *rng, uint32_t level,
                         uint32_t kind, uint32_t line, uint64_t above)
{
    static const uint32_t types[] = {STRATA_INT | STRATA_FLOAT, STRATA_INT | STRATA_FLOAT,
                                     STRATA_INT, STRATA_FLOAT};
    uint32_t ways = (uint32_t)(chance(rng, 4) ? pick(rng, 17, 24) : pick(rng, 1, 16));
    uint64_t sets = pick(rng, 1, 20);
    struct strata_cache *c = machine_add_cache(m, level, sets, ways);
    c->kind = kind;
    c->line = line;
    c->size = sets * ways * line;
    while (c->size <= above)
        c->size *= 2;
    c->policy = random_policy(rng);
    c->index = chance(rng, 2) ? STRATA_VIRTUAL : STRATA_PHYSICAL;
    bool may_exclude = level > 1 && m->caches[m->ncaches - 2].line == line;
    c->inclusion = (uint32_t)rng_below(rng, may_exclude ? 3 : 2);
    c->types = kind == STRATA_INSTRUCTION ? types[0] : types[rng_below(rng, 4)];
    c->occupied = chance(rng, 4) ? 0.375 : 0;
}

static void random_caches(struct strata_machine *m, struct rng *rng)
{
    uint32_t levels = (uint32_t)pick(rng, 1, 3), line = 16u << rng_below(rng, 3);
    uint64_t largest = 0;
    for (uint32_t level = 1; level <= levels; level++) {
        uint32_t first = m->ncaches;
        if (level == 1 && chance(rng, 2)) {
            random_cache(m, rng, level, STRATA_DATA, line, largest);
            random_cache(m, rng, level, STRATA_INSTRUCTION, line, largest);
        } else {
            random_cache(m, rng, level, STRATA_UNIFIED, line, largest);
        }
        for (uint32_t i = first; i < m->ncaches; i++)
            largest = m->caches[i].size > largest ? m->caches[i].size : largest;
        if (level < levels && chance(rng, 3))
            line *= 2;
    }
}

static void random_tlb(struct strata_machine *m, struct rng *rng, uint32_t level,
                       uint32_t kind, uint64_t page)
{
    uint32_t ways = (uint32_t)(chance(rng, 3) ? pick(rng, 17, 24) : pick(rng, 1, 8));
    struct strata_tlb *t =
        machine_add_tlb(m, level, ways * (uint32_t)pick(rng, 1, 5), ways);
    t->kind = kind;
    t->page = page;
    t->policy = random_policy(rng);
}

static void random_tlbs(struct strata_machine *m, struct rng *rng, uint64_t page)
{
    uint32_t levels = (uint32_t)pick(rng, 0, 2);
    for (uint32_t level = 1; level <= levels; level++)
        if (chance(rng, 2)) {
            random_tlb(m, rng, level, STRATA_DATA, page);
            random_tlb(m, rng, level, STRATA_INSTRUCTION, page);
        } else {
            random_tlb(m, rng, level, STRATA_UNIFIED, page);
        }
}

static void random_prefetcher(struct strata_machine *m, struct rng *rng, uint32_t cache)
{
    uint32_t kind = (uint32_t)rng_below(rng, STRATA_PREFETCH_STREAMER + 1);
    machine_add_prefetcher(m, cache, kind, (uint32_t)pick(rng, 1, 3));
    if (kind == STRATA_PREFETCH_STREAMER)
        m->prefetchers[m->nprefetchers - 1].pages = (uint32_t)pick(rng, 1, 6);
}

static struct strata_machine random_machine(struct rng *rng)
{
    struct strata_machine m = machine_empty();
    m.page = UINT64_C(512) << rng_below(rng, 3);
    m.huge = chance(rng, 2) ? 8 * m.page : 0;
    m.mapping = (uint32_t)rng_below(rng, 3);
    m.walk_huge_latency = m.huge && chance(rng, 2) ? (uint32_t)pick(rng, 20, 60) : 0;
    random_caches(&m, rng);
    random_tlbs(&m, rng, m.page);
    if (m.huge && chance(rng, 2))
        random_tlbs(&m, rng, m.huge);
    if (chance(rng, 2))
        for (uint32_t i = 0; i < m.ncaches; i++)
            if (m.caches[i].kind != STRATA_INSTRUCTION)
                random_prefetcher(&m, rng, i);
    return m;
}

/* Random accesses */

struct walk {
    uint64_t base, span, at;
    uint64_t region; /* regions are so far apart that all tables find them alike */
    int64_t stride;
    int left;
};

/* The next address of a program that has loops: a run of steps, then elsewhere. */
static uint64_t next_address(struct walk *walk, struct rng *rng)
{
    static const int64_t strides[] = {8, 64, -64, 16, 192, 4, -8, 0};
    if (walk->left-- <= 0) {
        walk->left = (int)rng_below(rng, 24);
        walk->stride = strides[rng_below(rng, 8)];
        walk->at = rng_below(rng, chance(rng, 2) ? walk->span / 8 : walk->span);
        walk->region = chance(rng, 3) ? rng_below(rng, 3) << 24 : 0;
    }
    walk->at = (walk->at + (uint64_t)walk->stride) % walk->span;
    return walk->base + walk->region + walk->at;
}

/* Something that happens seldom. */
static void disturb(struct sim *sim, struct reference *r, struct rng *rng)
{
    switch (rng_below(rng, 4)) {
    case 0:
        sim_flush(sim);
        reference_flush(r);
        break;
    case 1: {
        uint64_t seed = rng_next(rng);
        sim_remap(sim, seed);
        mapping_seed(&r->mapping, seed);
        reference_seed(r, seed);
        reference_flush(r);
        seen.n = 0;
        break;
    }
    case 2:
        sim_reset_counts(sim);
        r->counts = (struct sim_counts){0};
        break;
    case 3: {
        uint64_t huge = r->machine.huge;
        uint64_t first = (UINT64_C(1) << 30) + rng_below(rng, 4) * huge;
        uint64_t size = pick(rng, 1, 2) * huge;
        assert_int_equal(sim_map_huge(sim, first - 1, size + 2), huge ? 0 : -1);
        if (huge)
            reference_map_huge(r, first, first + size - 1);
        break;
    }
    }
}

/* One access, by the quick path if that is asked for and can do it. */
static struct sim_result access_by(bool quick, struct sim *sim, uint64_t address,
                                   uint32_t size, enum sim_op op, enum strata_types type)
{
    struct sim_quick *with = sim_quick_for(sim, op, type);
    struct sim_result result;
    if (quick && sim_quick(with, address, size)) {
        sim_add_hits(sim, op, type, 1);
        return *with->result;
    }
    sim_access(sim, address, size, op, type, &result);
    return result;
}

/* Says whether one access does the same. */
static bool same_access(struct sim *sim, struct reference *r, struct walk *walk,
                        struct rng *rng, bool quick)
{
    static const enum sim_op ops[] = {SIM_LOAD, SIM_LOAD, SIM_STORE, SIM_FETCH};
    uint64_t address = next_address(walk, rng);
    uint32_t size = (uint32_t)(chance(rng, 4) ? pick(rng, 1, 64) : 4);
    enum sim_op op = ops[rng_below(rng, 4)];
    enum strata_types type = chance(rng, 3) ? STRATA_FLOAT : STRATA_INT;
    struct outcome want = reference_access(r, address, size, op, type);
    struct sim_result result = access_by(quick, sim, address, size, op, type);
    return result.cycles == want.cycles && result.level == want.level &&
           result.tlb == want.tlb && result.victim == want.victim;
}

/* Says whether some loads at once do the same as one after the other. */
static bool same_chase(struct sim *sim, struct reference *r, struct walk *walk,
                       struct rng *rng)
{
    uint64_t offsets[LOADS], cycles = 0;
    for (int i = 0; i < LOADS; i++) {
        offsets[i] = (next_address(walk, rng) - walk->base) & ~UINT64_C(7);
        cycles +=
            reference_access(r, walk->base + offsets[i], 8, SIM_LOAD, STRATA_INT).cycles;
    }
    return sim_chase(sim, walk->base, offsets, LOADS) == cycles;
}

static void compare_machine(uint64_t seed)
{
    struct rng rng = {mix64(seed)};
    struct memory memory = {0};
    struct strata_machine machine = random_machine(&rng);
    struct sim *sim = machine_start(&machine, &memory);
    struct reference *r = malloc(sizeof *r);
    struct walk walk = {.base = UINT64_C(1) << 30,
                        .span = UINT64_C(4096) << rng_below(&rng, 4)};
    uint64_t quick = rng_below(&rng, 3); /* never, now and then, always */
    assert_non_null(r);
    reference_init(r, &machine, 1);
    seen.n = 0;
    for (int i = 0; i < STEPS; i++) {
        if (chance(&rng, 400))
            disturb(sim, r, &rng);
        if (!same_access(sim, r, &walk, &rng, rng_below(&rng, 2) < quick))
            fail_msg("machine %d, access %d differs", (int)seed, i);
        if (chance(&rng, 100) && !same_chase(sim, r, &walk, &rng))
            fail_msg("machine %d, the chase after access %d differs", (int)seed, i);
    }
    if (memcmp(sim_counts(sim), &r->counts, sizeof r->counts) != 0)
        fail_msg("machine %d: its counts differ", (int)seed);
    reference_release(r);
    free(r);
    sim_release(sim);
    assert_int_equal(memory.blocks, 0);
}

static void random_machines_agree_with_the_reference(void **state)
{
    (void)state;
    uint64_t machines = getenv("STRATA_FULL") ? 50 * MACHINES : MACHINES;
    for (uint64_t seed = 1; seed <= machines; seed++)
        compare_machine(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_machines_agree_with_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
