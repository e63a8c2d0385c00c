/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * An access on the simulated machine. Nearly all hit the nearest cache and the nearest TLB,
 * and nothing more is done for these; the others are events, which are counted for the
 * instruction and for the object. */
#include "sim/quick.h"
#include "tool.h"

#define INLINE   static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

enum { REFRESH = 1 << 14 }; /* events after which the totals in the file are renewed */

static uint32_t until_refresh = REFRESH;

static const struct {
    enum sim_op op;
    enum strata_types type;
} kinds[ACCESS_KINDS] = {{SIM_LOAD, STRATA_INT},
                         {SIM_STORE, STRATA_INT},
                         {SIM_LOAD, STRATA_FLOAT},
                         {SIM_FETCH, STRATA_INT}};
static struct sim_quick *quick[ACCESS_KINDS];
static struct sim_result near[ACCESS_KINDS]; /* what a hit in the nearest of all returns */
static uint64_t hits[ACCESS_KINDS]; /* of the quick path, not yet known to the machine */

uint64_t access_near_cycles(const struct sim_counts *counts)
{
    uint64_t fetches = counts->accesses[SIM_FETCH] * near[ACCESS_FETCH].cycles;
    return counts->accesses[SIM_LOAD] * near[ACCESS_LOAD].cycles +
           counts->accesses[SIM_STORE] * near[ACCESS_STORE].cycles + fetches;
}

void access_refresh(void)
{
    for (int i = 0; i < ACCESS_KINDS; i++) {
        sim_add_hits(tool.sim, kinds[i].op, kinds[i].type, hits[i]);
        hits[i] = 0;
    }
}

void access_start(void)
{
    tool.sim = sim_create(&tool.raw->machine, tool.raw->seed, &tool_allocator);
    if (!tool.sim) {
        VG_(umsg)("strata: not enough memory for the simulated machine\n");
        VG_(exit)(1);
    }
    for (int i = 0; i < ACCESS_KINDS; i++) {
        quick[i] = sim_quick_for(tool.sim, kinds[i].op, kinds[i].type);
        near[i] = *quick[i]->result;
    }
    tool.exact = tool.raw->collect & RAW_EXACT;
    tool.sampling = tool.raw->collect & RAW_SAMPLED;
}

/* Finds the object of an address anew. */
static NOINLINE void place(struct site *site, Addr address, enum access_kind kind)
{
    struct object object = {.bucket = object_code_bucket()};
    if (kind != ACCESS_FETCH)
        object_find(address, site, &object);
    if (site->bucket != object.bucket)
        site->cells[EXACT] = site->cells[SAMPLED] = NULL;
    site->bucket = object.bucket;
    site->from = object.from;
    site->size = object.size;
    site->age = object_age;
}

/* Whether an address is in another object than the last one of an instruction, as far as
 * that is known. */
static inline bool is_elsewhere(const struct site *site, Addr address)
{
    return site->age != object_age || address - site->from >= site->size;
}

/* Counts for the object that the site knows. Levels that this kind does not use were not
 * asked. */
INLINE void count(int which, struct site *site, enum access_kind kind,
                  const struct sim_result *result)
{
    struct raw_cell *cell = site->cells[which];
    if (__builtin_expect(!cell, 0))
        cell = site->cells[which] = raw_cell_of(site->bucket, site_number(site),
                                                which == EXACT ? RAW_EXACT : RAW_SAMPLED);
    cell->events++;
    cell->stores += kind == ACCESS_STORE;
    cell->latency += result->cycles;
    uint64_t *misses = cell->misses, *tlb_misses = misses + tool.cache_levels;
    for (uint32_t level = near[kind].level; level < result->level; level++)
        misses[level - 1]++;
    for (uint32_t level = 1; level < result->tlb; level++)
        tlb_misses[level - 1]++;
}

void access_count(int which, struct site *site, Addr address, enum access_kind kind,
                  const struct sim_result *result)
{
    if (is_elsewhere(site, address))
        place(site, address, kind);
    count(which, site, kind, result);
}

/* The simulator does not tell loads and stores apart behind the nearest level. */
static void count_store(const struct sim_result *result)
{
    for (uint32_t level = near[ACCESS_STORE].level; level < result->level; level++)
        totals.stores.misses[level - 1]++;
    for (uint32_t level = 1; level < result->tlb; level++)
        totals.stores.tlb_misses[level - 1]++;
}

/* Nor does it tell fetches apart where they share a cache or a TLB with data. */
static void count_fetch(const struct sim_result *result)
{
    for (uint32_t level = near[ACCESS_FETCH].level; level < result->level; level++)
        totals.fetched.misses[level - 1]++;
    for (uint32_t level = 1; level < result->tlb; level++)
        totals.fetched.tlb_misses[level - 1]++;
}

static NOINLINE void refresh(void)
{
    until_refresh = REFRESH;
    totals_write();
}

INLINE void access_slowly(Addr address, UWord size, enum access_kind kind,
                          struct site *site)
{
    bool elsewhere = is_elsewhere(site, address);
    if (elsewhere)
        object_expect(address); /* it comes while the machine is simulated */
    const struct sim_result *result = sim_access_otherwise(
        tool.sim, address, (uint32_t)size, kinds[kind].op, kinds[kind].type);
    if (result->level <= near[kind].level && result->tlb <= near[kind].tlb)
        return;
    if (__builtin_expect(!--until_refresh, 0))
        refresh();
    if (kind == ACCESS_STORE)
        count_store(result);
    else if (kind == ACCESS_FETCH)
        count_fetch(result);
    if (__builtin_expect(pmu_periods, 0))
        pmu_event(address, site->address, result);
    if (!tool.collecting)
        return;
    if (tool.exact) {
        if (elsewhere)
            place(site, address, kind);
        count(EXACT, site, kind, result);
    }
    if (tool.sampling && result->level > tool.raw->event_level)
        sample_event(site, address, kind, result);
}

/* Functions for each kind and usual size: fewer arguments in the code of the program, and
 * less to decide. Those at the end are for lines of 64 bytes, pages of 4K and no prefetcher
 * that learns from hits. */
enum { LINE_SHIFT = 6, PAGE_SHIFT = 12 };

#define SIZED(kind, bytes)                                                                 \
    static VG_REGPARM(2) void kind##_##bytes(Addr address, struct site *site)              \
    {                                                                                      \
        if (__builtin_expect(sim_quick(quick[kind], address, bytes), 1))                   \
            hits[kind]++;                                                                  \
        else                                                                               \
            kind##_slowly(address, bytes, site);                                           \
    }                                                                                      \
    static VG_REGPARM(2) void kind##_##bytes##_usual(Addr address, struct site *site)      \
    {                                                                                      \
        if (__builtin_expect(sim_quick_with(quick[kind], address, bytes, LINE_SHIFT,       \
                                            PAGE_SHIFT, false),                            \
                             1))                                                           \
            hits[kind]++;                                                                  \
        else                                                                               \
            kind##_slowly(address, bytes, site);                                           \
    }
#define ALL_SIZES(kind)                                                                    \
    static NOINLINE void kind##_slowly(Addr address, UWord size, struct site *site)        \
    {                                                                                      \
        access_slowly(address, size, kind, site);                                          \
    }                                                                                      \
    SIZED(kind, 1)                                                                         \
    SIZED(kind, 2) SIZED(kind, 4) SIZED(kind, 8) SIZED(kind, 16) SIZED(kind, 32)
#define ENTRIES(kind)                                                                      \
    {                                                                                      \
        {kind##_1, kind##_2, kind##_4, kind##_8, kind##_16, kind##_32},                    \
            {kind##_1_usual, kind##_2_usual,  kind##_4_usual,                              \
             kind##_8_usual, kind##_16_usual, kind##_32_usual},                            \
    }

ALL_SIZES(ACCESS_LOAD)
ALL_SIZES(ACCESS_STORE)
ALL_SIZES(ACCESS_FLOAT)
ALL_SIZES(ACCESS_FETCH)

access_function *access_function_of(enum access_kind kind, UInt power)
{
    static access_function *const functions[ACCESS_KINDS][2][ACCESS_SIZES] = {
        ENTRIES(ACCESS_LOAD), ENTRIES(ACCESS_STORE), ENTRIES(ACCESS_FLOAT),
        ENTRIES(ACCESS_FETCH)};
    const struct sim_quick *of = quick[kind];
    bool usual =
        of->line_shift == LINE_SHIFT && of->page_shift == PAGE_SHIFT && !of->trails;
    return functions[kind][usual][power];
}

VG_REGPARM(3) void access_any(Addr address, UWord size_and_kind, struct site *site)
{
    UWord size = size_and_kind >> 8;
    enum access_kind kind = (enum access_kind)(size_and_kind & 0xff);
    if (__builtin_expect(sim_quick(quick[kind], address, (uint32_t)size), 1))
        hits[kind]++;
    else
        access_slowly(address, size, kind, site);
}
