/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the simulated machine does with accesses, on machines small enough to follow by
 * hand: levels, inclusion, victims, straddling, types, instructions, prefetchers, counts.
 */
#include "test_sim_machine.h"

#include <stdbool.h>

#define PAGE UINT64_C(4096)
#define LINE UINT64_C(64)

/* Each test has one machine; `setup` empties it, `teardown` finds leaks. */
struct rig {
    struct strata_machine machine;
    struct memory memory;
    struct sim *sim;
};

static int setup(void **state)
{
    struct rig *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->machine = machine_empty();
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct rig *b = *state;
    sim_release(b->sim);
    assert_int_equal(b->memory.blocks, 0);
    free(b);
    return 0;
}

static void start(struct rig *b)
{
    b->sim = machine_start(&b->machine, &b->memory);
}

/* The level that serves a load of a line. */
static uint32_t level_of(struct rig *b, uint64_t line)
{
    return sim_load(b->sim, line * LINE).level;
}

static void misses_cost_what_the_level_costs(void **state)
{
    struct rig *b = *state;
    machine_add_cache(&b->machine, 1, 1, 2);
    machine_add_cache(&b->machine, 2, 1, 4);
    start(b);
    struct sim_result result = sim_load(b->sim, 0);
    assert_int_equal(result.cycles, 200);
    assert_int_equal(result.level, 3);
    assert_int_equal(result.tlb, 0);
    assert_int_equal(result.victim, SIM_NO_LINE);
    assert_int_equal(sim_load(b->sim, 8).cycles, 4);
    level_of(b, 1);
    result = sim_load(b->sim, 2 * LINE); /* throws line 0 out of level 1 */
    assert_int_equal(result.victim, 0);
    result = sim_load(b->sim, 40); /* which level 2 still has; line 1 goes */
    assert_int_equal(result.level, 2);
    assert_int_equal(result.cycles, 20);
    assert_int_equal(result.victim, LINE);
}

static void sets_need_not_be_a_power_of_two(void **state)
{
    struct rig *b = *state;
    machine_add_cache(&b->machine, 1, 3, 1);
    start(b);
    for (uint64_t line = 0; line < 3; line++)
        assert_int_equal(level_of(b, line), 2);
    for (uint64_t line = 0; line < 3; line++)
        assert_int_equal(level_of(b, line), 1);
    assert_int_equal(sim_load(b->sim, 3 * LINE).victim, 0);
    assert_int_equal(sim_load(b->sim, 7 * LINE).victim, LINE);
    assert_int_equal(level_of(b, 2), 1);
}

static void an_inclusive_cache_takes_its_victims_from_nearer_ones(void **state)
{
    struct rig *b = *state;
    machine_add_cache(&b->machine, 1, 1, 4);
    machine_add_cache(&b->machine, 2, 5, 1)->inclusion = STRATA_INCLUSIVE;
    start(b);
    level_of(b, 0);
    level_of(b, 1);
    assert_int_equal(level_of(b, 0), 1);
    level_of(b, 5); /* takes the place of 0 in level 2, so level 1 loses it too */
    assert_int_equal(level_of(b, 1), 1);
    assert_int_equal(level_of(b, 0), 3);
}

static void without_inclusion_nearer_caches_keep_their_lines(void **state)
{
    struct rig *b = *state;
    machine_add_cache(&b->machine, 1, 1, 4);
    machine_add_cache(&b->machine, 2, 5, 1);
    start(b);
    level_of(b, 0);
    level_of(b, 5);
    assert_int_equal(level_of(b, 0), 1);
}

static void an_exclusive_cache_holds_what_the_nearer_one_gave_up(void **state)
{
    struct rig *b = *state;
    machine_add_cache(&b->machine, 1, 1, 2);
    machine_add_cache(&b->machine, 2, 1, 2)->inclusion = STRATA_EXCLUSIVE;
    start(b);
    for (uint64_t line = 0; line < 4; line++)
        assert_int_equal(level_of(b, line), 3);
    /* Four lines fit into two and two: 0 and 1 in level 2, 2 and 3 in level 1. */
    assert_int_equal(sim_counts(b->sim)->evictions[1], 0);
    assert_int_equal(level_of(b, 2), 1);
    assert_int_equal(level_of(b, 0), 2); /* goes to level 1, and 3 to level 2 */
    assert_int_equal(level_of(b, 3), 2);
    assert_int_equal(level_of(b, 2), 2);
    assert_int_equal(level_of(b, 1), 2);
    level_of(b, 4); /* one too many */
    assert_int_equal(sim_counts(b->sim)->evictions[1], 1);
}

static void types_bypass_a_level(void **state)
{
    struct rig *b = *state;
    struct sim_result result;
    machine_add_cache(&b->machine, 1, 1, 4)->types = STRATA_INT;
    machine_add_cache(&b->machine, 2, 1, 8);
    start(b);
    for (int i = 0; i < 3; i++)
        sim_access(b->sim, 0, 8, SIM_LOAD, STRATA_FLOAT, &result);
    assert_int_equal(result.level, 2);
    assert_int_equal(sim_counts(b->sim)->hits[0] + sim_counts(b->sim)->misses[0], 0);
    assert_int_equal(level_of(b, 0), 2);
    assert_int_equal(level_of(b, 0), 1);
}

static void instructions_have_a_path_of_their_own(void **state)
{
    struct rig *b = *state;
    struct sim_result result;
    machine_add_cache(&b->machine, 1, 1, 4)->kind = STRATA_DATA;
    machine_add_cache(&b->machine, 1, 1, 4)->kind = STRATA_INSTRUCTION;
    machine_add_cache(&b->machine, 2, 1, 8);
    start(b);
    sim_access(b->sim, 0, 4, SIM_FETCH, STRATA_INT, &result);
    assert_int_equal(result.level, 3);
    assert_int_equal(level_of(b, 0), 2); /* in the unified cache, not in that of data */
    sim_access(b->sim, 4, 4, SIM_FETCH, STRATA_INT, &result);
    assert_int_equal(result.level, 1);
    assert_int_equal(sim_counts(b->sim)->hits[1], 1);
    assert_int_equal(sim_counts(b->sim)->accesses[SIM_FETCH], 2);
}

static void a_store_is_a_load_that_allocates(void **state)
{
    struct rig *b = *state;
    struct sim_result result;
    machine_add_cache(&b->machine, 1, 1, 4);
    start(b);
    sim_access(b->sim, 0, 8, SIM_STORE, STRATA_INT, &result);
    assert_int_equal(result.level, 2);
    assert_int_equal(level_of(b, 0), 1);
    assert_int_equal(sim_counts(b->sim)->accesses[SIM_STORE], 1);
    assert_int_equal(sim_counts(b->sim)->accesses[SIM_LOAD], 1);
}

/* Line 0 is near and its page known, line 64 is on the next page and neither is. */
static void a_straddling_access_counts_once_with_its_slower_half(void **state)
{
    struct rig *b = *state;
    struct sim_result result;
    machine_add_cache(&b->machine, 1, 4, 16);
    machine_add_tlb(&b->machine, 1, 4, 4);
    start(b);
    level_of(b, 63);
    sim_reset_counts(b->sim);
    sim_access(b->sim, PAGE - 4, 8, SIM_LOAD, STRATA_INT, &result);
    assert_int_equal(result.cycles, 230);
    assert_int_equal(result.level, 2);
    assert_int_equal(result.tlb, 2);
    const struct sim_counts *counts = sim_counts(b->sim);
    assert_int_equal(counts->accesses[SIM_LOAD], 1);
    assert_int_equal(counts->misses[0], 1);
    assert_int_equal(counts->hits[0], 0);
    assert_int_equal(counts->walks, 1);
    assert_int_equal(counts->cycles, 230);
    assert_int_equal(level_of(b, 64), 1);
}

/* One half misses the TLB and hits the cache, the other the other way round. */
static void halves_may_be_slow_for_different_reasons(void **state)
{
    struct rig *b = *state;
    struct sim_result result;
    machine_add_cache(&b->machine, 1, 4, 16);
    machine_add_tlb(&b->machine, 1, 1, 1);
    start(b);
    level_of(b, 64);
    level_of(b, 1); /* page 0 is the one that the TLB has, line 63 is not there */
    sim_reset_counts(b->sim);
    sim_access(b->sim, PAGE - 4, 8, SIM_LOAD, STRATA_INT, &result);
    assert_int_equal(result.cycles, 200); /* line 63 from memory; the walk is 30 + 4 */
    assert_int_equal(result.level, 2);
    assert_int_equal(result.tlb, 2);
    assert_int_equal(sim_counts(b->sim)->cycles, 200);
}

static void an_access_may_touch_many_lines(void **state)
{
    struct rig *b = *state;
    struct sim_result result;
    struct strata_cache *cache = machine_add_cache(&b->machine, 1, 1, 8);
    cache->line = 16;
    cache->size = 128;
    start(b);
    sim_access(b->sim, 8, 64, SIM_LOAD, STRATA_INT, &result); /* lines 0 to 4 */
    for (uint64_t line = 0; line < 6; line++)
        assert_int_equal(sim_load(b->sim, 16 * line).level, line < 5 ? 1 : 2);
}

static void addresses_wrap_around(void **state)
{
    struct rig *b = *state;
    struct sim_result result;
    machine_add_cache(&b->machine, 1, 1, 4);
    machine_add_tlb(&b->machine, 1, 4, 4);
    start(b);
    sim_access(b->sim, UINT64_MAX, 2, SIM_LOAD, STRATA_INT, &result);
    assert_int_equal(level_of(b, 0), 1);
    assert_int_equal(sim_load(b->sim, UINT64_MAX - 7).level, 1);
    assert_int_equal(sim_counts(b->sim)->walks, 1);
    assert_int_equal(sim_counts(b->sim)->misses[0], 1);
}

static void tlbs_are_asked_in_turn(void **state)
{
    struct rig *b = *state;
    machine_add_cache(&b->machine, 1, 64, 16);
    machine_add_tlb(&b->machine, 1, 2, 2);
    machine_add_tlb(&b->machine, 2, 4, 4);
    start(b);
    for (uint64_t page = 0; page < 4; page++) {
        struct sim_result result = sim_load(b->sim, page * PAGE);
        assert_int_equal(result.tlb, 3);
        assert_int_equal(result.cycles, 230);
    }
    for (uint64_t page = 0; page < 4; page++) {
        struct sim_result result = sim_load(b->sim, page * PAGE);
        assert_int_equal(result.tlb, 2);
        assert_int_equal(result.cycles, 7 + 4);
    }
    assert_int_equal(sim_load(b->sim, 3 * PAGE + 8).tlb, 1);
    assert_int_equal(sim_load(b->sim, 4 * PAGE).tlb, 3); /* page 0 goes, the oldest */
    assert_int_equal(sim_load(b->sim, 1 * PAGE).tlb, 2);
    assert_int_equal(sim_load(b->sim, 0 * PAGE).tlb, 3);
}

/* Two pages a stride apart, in a TLB of four sets with one way: whether they share it. */
static bool share_a_set(uint32_t index, uint64_t stride)
{
    struct memory memory = {0};
    struct strata_machine machine = machine_empty();
    machine_add_cache(&machine, 1, 64, 16);
    machine_add_tlb(&machine, 1, 4, 1)->index = index;
    struct sim *sim = machine_start(&machine, &memory);
    sim_load(sim, 0);
    sim_load(sim, stride * PAGE);
    bool gone = sim_load(sim, 0).tlb != 1;
    sim_release(sim);
    return gone;
}

static void the_index_of_a_tlb_may_be_hashed(void **state)
{
    (void)state;
    for (uint64_t stride = 1; stride <= 64; stride++) {
        assert_int_equal(share_a_set(STRATA_LOW, stride), stride % 4 == 0);
        assert_int_equal(share_a_set(STRATA_GRAY, stride), (stride ^ stride >> 1) % 4 == 0);
        assert_int_equal(share_a_set(STRATA_XOR, stride), (stride ^ stride >> 2) % 4 == 0);
    }
    int shared = 0;
    for (uint64_t stride = 1; stride <= 256; stride++)
        shared += share_a_set(STRATA_MIXED, 4 * stride);
    assert_true(shared > 256 / 8 && shared < 256 / 2);
}

/* A line of a table serves eight pages: its first walk loads it from memory, the others
 * find it in the first cache. */
static void a_walk_may_load_from_tables(void **state)
{
    struct rig *b = *state;
    machine_add_cache(&b->machine, 1, 64, 16);
    machine_add_tlb(&b->machine, 1, 1, 1);
    b->machine.walk_tables = 1;
    start(b);
    for (uint64_t page = 0; page < 32; page++) {
        uint32_t table = page % 8 ? 4 : 200;
        assert_int_equal(sim_load(b->sim, page * PAGE).cycles, 200 + 30 + table);
        assert_int_equal(sim_load(b->sim, page * PAGE).cycles, 4);
    }
    const struct sim_counts *c = sim_counts(b->sim);
    assert_int_equal(c->walks, 32);
    assert_int_equal(c->misses[0], 32); /* those of the program */
    assert_int_equal(c->cycles, 32 * (4 + 200 + 30) + 4 * 200 + 28 * 4);
    const uint64_t offsets[] = {30 * PAGE, 31 * PAGE};
    assert_int_equal(sim_chase(b->sim, 0, offsets, 2), 2 * (4 + 30 + 4));
}

/* Which lines of the first page are in level 1: a letter each, 'x' if so. Looking changes
 * nothing, because each is looked at on a copy of the run. */
static const char *lines_after(struct rig *b, const char *lines, int upto)
{
    static char found[PAGE / LINE + 1];
    for (int look = 0; look < upto; look++) {
        sim_flush(b->sim);
        for (const char *at = lines; *at; at++)
            level_of(b, (uint64_t)(*at - 'a'));
        found[look] = level_of(b, (uint64_t)look) == 1 ? 'x' : '.';
    }
    found[upto] = 0;
    return found;
}

static void prefetching(struct rig *b, uint32_t kind, uint32_t degree)
{
    machine_add_cache(&b->machine, 1, 64, 4);
    machine_add_prefetcher(&b->machine, 0, kind, degree);
    start(b);
}

static void next_line_fetches_what_follows_a_miss(void **state)
{
    struct rig *b = *state;
    prefetching(b, STRATA_PREFETCH_NEXT_LINE, 2);
    assert_string_equal(lines_after(b, "c", 8), "..xxx...");
    assert_string_equal(lines_after(b, "cd", 8), "..xxx..."); /* d hit */
    assert_string_equal(lines_after(b, "cf", 8), "..xxxxxx");
}

static void adjacent_fetches_the_other_of_a_pair(void **state)
{
    struct rig *b = *state;
    prefetching(b, STRATA_PREFETCH_ADJACENT, 4);
    assert_string_equal(lines_after(b, "c", 6), "..xx..");
    assert_string_equal(lines_after(b, "d", 6), "..xx..");
}

static void stride_wants_two_equal_steps(void **state)
{
    struct rig *b = *state;
    prefetching(b, STRATA_PREFETCH_STRIDE, 2);
    assert_string_equal(lines_after(b, "ac", 10), "x.x.......");
    assert_string_equal(lines_after(b, "ace", 10), "x.x.x.x.x.");
    assert_string_equal(lines_after(b, "acf", 10), "x.x..x....");
    assert_string_equal(lines_after(b, "accce", 10), "x.x.x.x.x."); /* no step */
    assert_string_equal(lines_after(b, "igec", 10), "x.x.x.x.x.");  /* downwards */
}

static void stream_wants_a_neighbour(void **state)
{
    struct rig *b = *state;
    prefetching(b, STRATA_PREFETCH_STREAM, 3);
    assert_string_equal(lines_after(b, "a", 8), "x.......");
    assert_string_equal(lines_after(b, "ab", 8), "xxxxx...");
    assert_string_equal(lines_after(b, "ac", 8), "x.x.....");
    assert_string_equal(lines_after(b, "hg", 8), "...xxxxx");
}

static void follows_pages(struct rig *b, uint32_t pages)
{
    machine_add_cache(&b->machine, 1, 64, 4);
    machine_add_prefetcher(&b->machine, 0, STRATA_PREFETCH_STREAMER, 2);
    b->machine.prefetchers[0].pages = pages;
    start(b);
}

/* However far a step is, the page goes on the way that it went. */
static void a_streamer_goes_on_from_any_step(void **state)
{
    struct rig *b = *state;
    follows_pages(b, 32);
    assert_string_equal(lines_after(b, "a", 8), "x.......");
    assert_string_equal(lines_after(b, "ad", 8), "x..xxx..");
    assert_string_equal(lines_after(b, "hd", 8), ".xxx...x");
    assert_string_equal(lines_after(b, "ade", 8), "x..xxx.."); /* e hit */
    assert_string_equal(lines_after(b, "adb", 8), "xx.xxx.."); /* back: a is there */
}

/* Misses in so many pages, by turns: with one page more, each is forgotten in time. */
static uint64_t fetched_by_turns(struct rig *b, uint64_t pages)
{
    sim_flush(b->sim);
    sim_reset_counts(b->sim);
    for (uint64_t line = 0; line < 12; line += 4)
        for (uint64_t page = 0; page < pages; page++)
            level_of(b, page * 64 + line + 3 * (page % 16));
    return sim_counts(b->sim)->prefetches[0];
}

static void a_streamer_follows_so_many_pages(void **state)
{
    struct rig *b = *state;
    follows_pages(b, 3);
    assert_int_equal(fetched_by_turns(b, 2), 2 * 2 * 2);
    assert_int_equal(fetched_by_turns(b, 3), 2 * 2 * 3);
    assert_int_equal(fetched_by_turns(b, 4), 0);
}

static void prefetchers_stay_within_the_page(void **state)
{
    struct rig *b = *state;
    prefetching(b, STRATA_PREFETCH_NEXT_LINE, 4);
    level_of(b, 62);
    assert_int_equal(sim_counts(b->sim)->prefetches[0], 1);
    assert_int_equal(level_of(b, 63), 1);
    assert_int_equal(level_of(b, 64), 2);
    assert_int_equal(sim_counts(b->sim)->prefetches[0], 1 + 4);
}

/* A hit trains, so that a miss that follows knows the step; but it fetches nothing. */
static void hits_train_but_fetch_nothing(void **state)
{
    struct rig *b = *state;
    prefetching(b, STRATA_PREFETCH_STRIDE, 1);
    level_of(b, 0);
    level_of(b, 8);
    level_of(b, 4);

    sim_reset_counts(b->sim);
    level_of(b, 0); /* -4 again, but all is there */
    level_of(b, 4);
    level_of(b, 8);
    assert_int_equal(sim_counts(b->sim)->prefetches[0], 0);
    level_of(b, 12);
    assert_int_equal(sim_counts(b->sim)->prefetches[0], 1);
    assert_int_equal(level_of(b, 16), 1);
}

/* What a prefetcher brings into level 1 is in an inclusive level 2 as well. */
static void prefetched_lines_keep_inclusion(void **state)
{
    struct rig *b = *state;
    machine_add_cache(&b->machine, 1, 1, 4);
    machine_add_cache(&b->machine, 2, 5, 1)->inclusion = STRATA_INCLUSIVE;
    machine_add_prefetcher(&b->machine, 0, STRATA_PREFETCH_NEXT_LINE, 1);
    start(b);
    level_of(b, 0);
    assert_int_equal(level_of(b, 1), 1);
    level_of(b, 6); /* takes the place of 1 in level 2, and so its line in level 1 */
    assert_int_equal(level_of(b, 1), 3);
}

/* Without prefetchers and straddling, what misses in one level is asked of the next. */
static void counts_add_up(void **state)
{
    struct rig *b = *state;
    struct rng rng = {1};
    uint64_t cycles = 0;
    machine_add_cache(&b->machine, 1, 4, 4);
    machine_add_cache(&b->machine, 2, 16, 4);
    machine_add_tlb(&b->machine, 1, 4, 4);
    machine_add_tlb(&b->machine, 2, 20, 20);
    start(b);
    for (int i = 0; i < 10000; i++)
        cycles +=
            sim_load(b->sim, rng_below(&rng, 1 << 17) / 8 * 8 >> rng_below(&rng, 8) << 3)
                .cycles;
    const struct sim_counts *c = sim_counts(b->sim);
    assert_int_equal(c->accesses[SIM_LOAD], 10000);
    assert_int_equal(c->cycles, cycles);
    assert_int_equal(c->hits[0] + c->misses[0], 10000);
    assert_int_equal(c->hits[1] + c->misses[1], c->misses[0]);
    assert_int_equal(c->misses[0], c->evictions[0] + 16);
    assert_int_equal(c->misses[1], c->evictions[1] + 64);
    assert_int_equal(c->tlb_hits[0] + c->tlb_misses[0], 10000);
    assert_int_equal(c->tlb_hits[1] + c->tlb_misses[1], c->tlb_misses[0]);
    assert_int_equal(c->walks, c->tlb_misses[1]);
    assert_int_equal(c->cycles, 4 * c->hits[0] + 20 * c->hits[1] + 200 * c->misses[1] +
                                    7 * c->tlb_hits[1] + 30 * c->walks);
    assert_true(c->hits[0] && c->hits[1] && c->tlb_hits[0] && c->tlb_hits[1]);
    sim_reset_counts(b->sim);
    const struct sim_counts none = {0};
    assert_memory_equal(sim_counts(b->sim), &none, sizeof none);
}

static void a_flush_empties_everything(void **state)
{
    struct rig *b = *state;
    machine_add_cache(&b->machine, 1, 4, 4);
    machine_add_tlb(&b->machine, 1, 20, 20);
    start(b);
    for (int i = 0; i < 3; i++)
        level_of(b, 5);
    sim_flush(b->sim);
    struct sim_result result = sim_load(b->sim, 5 * LINE);
    assert_int_equal(result.level, 2);
    assert_int_equal(result.tlb, 2);
    assert_int_equal(result.victim, SIM_NO_LINE);
}

/* Others hold half of every set; a share that is no whole way differs from set to set. */
static void occupied_ways_are_not_there(void **state)
{
    struct rig *b = *state;
    machine_add_cache(&b->machine, 1, 2, 8)->occupied = 0.5;
    start(b);
    for (uint64_t line = 0; line < 8; line++)
        level_of(b, line);
    for (uint64_t line = 0; line < 8; line++)
        assert_int_equal(level_of(b, line), 1);
    assert_int_equal(sim_load(b->sim, 8 * LINE).victim, 0);
}

static void an_occupied_share_is_right_on_average(void **state)
{
    struct rig *b = *state;
    machine_add_cache(&b->machine, 1, 100, 4)->occupied = 0.3;
    start(b);
    for (uint64_t line = 0; line < 400; line++)
        level_of(b, line);
    assert_int_equal(sim_counts(b->sim)->evictions[0], 120);
}

/* Both ways through every kind of first level: small, large, with trees, trained. */
static void chase_does_what_access_does(void **state)
{
    (void)state;
    for (uint32_t form = 0; form < 4 * 3 * 2; form++) {
        static const uint32_t ways[] = {4, 12, 20};
        struct memory memory = {0};
        struct strata_machine m = machine_empty();
        struct rng rng = {form};
        uint64_t offsets[2000], cycles = 0;
        m.huge = 16 * PAGE;
        m.mapping = STRATA_MAP_RANDOM;
        machine_add_cache(&m, 1, 8, ways[form / 4 % 3])->policy = form % 4;
        machine_add_cache(&m, 2, 64, ways[form / 4 % 3])->index = STRATA_PHYSICAL;
        machine_add_tlb(&m, 1, 2 * ways[form / 4 % 3], ways[form / 4 % 3])->policy =
            form % 4;
        if (form / 12)
            machine_add_prefetcher(&m, 0, STRATA_PREFETCH_STRIDE, 2);
        struct sim *a = machine_start(&m, &memory), *c = machine_start(&m, &memory);
        assert_int_equal(sim_map_huge(a, 1 << 20, 32 * PAGE), 0);
        assert_int_equal(sim_map_huge(c, 1 << 20, 32 * PAGE), 0);
        for (int i = 0; i < 2000; i++)
            offsets[i] = rng_below(&rng, 64 * PAGE >> rng_below(&rng, 8)) / 8 * 8;
        for (int i = 0; i < 2000; i++)
            cycles += sim_load(a, (1 << 20) - 8 * PAGE + offsets[i]).cycles;
        assert_int_equal(sim_chase(c, (1 << 20) - 8 * PAGE, offsets, 2000), cycles);
        assert_memory_equal(sim_counts(a), sim_counts(c), sizeof(struct sim_counts));
        sim_release(a);
        sim_release(c);
        assert_int_equal(memory.blocks, 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(misses_cost_what_the_level_costs),
        TEST(sets_need_not_be_a_power_of_two),
        TEST(an_inclusive_cache_takes_its_victims_from_nearer_ones),
        TEST(without_inclusion_nearer_caches_keep_their_lines),
        TEST(an_exclusive_cache_holds_what_the_nearer_one_gave_up),
        TEST(types_bypass_a_level),
        TEST(instructions_have_a_path_of_their_own),
        TEST(a_store_is_a_load_that_allocates),
        TEST(a_straddling_access_counts_once_with_its_slower_half),
        TEST(halves_may_be_slow_for_different_reasons),
        TEST(an_access_may_touch_many_lines),
        TEST(addresses_wrap_around),
        TEST(tlbs_are_asked_in_turn),
        TEST(the_index_of_a_tlb_may_be_hashed),
        TEST(a_walk_may_load_from_tables),
        TEST(next_line_fetches_what_follows_a_miss),
        TEST(adjacent_fetches_the_other_of_a_pair),
        TEST(stride_wants_two_equal_steps),
        TEST(stream_wants_a_neighbour),
        TEST(a_streamer_goes_on_from_any_step),
        TEST(a_streamer_follows_so_many_pages),
        TEST(prefetchers_stay_within_the_page),
        TEST(hits_train_but_fetch_nothing),
        TEST(prefetched_lines_keep_inclusion),
        TEST(counts_add_up),
        TEST(a_flush_empties_everything),
        TEST(occupied_ways_are_not_there),
        TEST(an_occupied_share_is_right_on_average),
        cmocka_unit_test(chase_does_what_access_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
