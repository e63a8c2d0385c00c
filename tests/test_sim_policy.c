/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The arrays of the simulated machine: which key each policy throws out next, by hand on
 * short sequences, and compared with a naive array on long random ones. */
#include "test_sim_machine.h"
#include "test_sim_naive.h"

#include "sim/cache.h"

static void make(struct cache *cache, struct memory *memory, uint64_t sets, uint32_t ways,
                 uint32_t policy)
{
    struct allocator allocator = memory_allocator(memory);
    struct cache_shape shape = {.sets = sets, .ways = ways, .policy = policy};
    assert_int_equal(cache_init(cache, &shape, &allocator), 0);
}

static void discard(struct cache *cache, struct memory *memory)
{
    struct allocator allocator = memory_allocator(memory);
    cache_release(cache, &allocator);
    assert_int_equal(memory->blocks, 0);
}

/* Runs a script on set 0: a letter is filled in; with '+' before it, it is touched; with
 * '-' before it, taken out. Returns what each fill threw out, '.' for nothing. */
static const char *play(uint32_t ways, uint32_t policy, const char *script)
{
    static char out[64];
    struct memory memory = {0};
    struct cache cache;
    size_t n = 0;
    make(&cache, &memory, 1, ways, policy);
    for (; *script; script++) {
        if (*script == '+') {
            assert_true(cache_hit(&cache, 0, (uint64_t) * ++script));
        } else if (*script == '-') {
            assert_true(cache_remove(&cache, 0, (uint64_t) * ++script));
        } else {
            uint64_t gone = cache_fill(&cache, 0, (uint64_t)*script);
            assert_true(n + 1 < sizeof out);
            out[n++] = gone == CACHE_NONE ? '.' : (char)gone;
        }
    }
    out[n] = 0;
    discard(&cache, &memory);
    return out;
}

static void lru_throws_out_what_was_used_longest_ago(void **state)
{
    (void)state;
    assert_string_equal(play(4, STRATA_LRU, "ABCDE"), "....A");
    assert_string_equal(play(4, STRATA_LRU, "ABCD+AE+CFGH"), "....BDAE");
    assert_string_equal(play(1, STRATA_LRU, "AB+BC"), ".AB");
    assert_string_equal(play(3, STRATA_LRU, "ABC+B+ADE"), "...CB");
}

static void fifo_throws_out_what_came_first(void **state)
{
    (void)state;
    assert_string_equal(play(4, STRATA_FIFO, "ABCD+A+AE+BFG"), "....ABC");
    assert_string_equal(play(2, STRATA_FIFO, "AB+AC+BD"), "..AB");
}

/* The trees below are written root, left, right; a bit is where victims are: l or r.
 * After ABCD: l l l, so A would go; +A makes it r r l. Then C goes and E makes it l r r,
 * B and F r l r, D and G l l l, A. */
static void plru_follows_its_tree(void **state)
{
    (void)state;
    assert_string_equal(play(4, STRATA_PLRU, "ABCDE"), "....A");
    assert_string_equal(play(4, STRATA_PLRU, "ABCD+AEFGH"), "....CBDA");
    assert_string_equal(play(2, STRATA_PLRU, "AB+AC+AD"), "..BC");
}

/* Three ways: the fourth leaf is missing, so the right half is C's alone. After ABC: A
 * goes, D is at its place and points right: C goes, E points left: B goes, F points right:
 * E goes. */
static void plru_skips_ways_that_are_not_there(void **state)
{
    (void)state;
    assert_string_equal(play(3, STRATA_PLRU, "ABCDEFG"), "...ACBE");
    /* Five ways: E is alone in the right half of the root, and goes every other time. */
    assert_string_equal(play(5, STRATA_PLRU, "ABCDEFGHIJ"), ".....AECGB");
}

static void free_ways_are_filled_first(void **state)
{
    (void)state;
    for (uint32_t policy = 0; policy < POLICIES; policy++) {
        assert_string_equal(play(4, policy, "ABCD-BE"), ".....");
        assert_string_equal(play(4, policy, "ABCD-B-DEF"), "......");
        assert_string_equal(play(20, policy, "ABCDEFGHIJKLMNOPQRST-C-AUV"),
                            "......................");
    }
}

static void large_sets_keep_order_too(void **state)
{
    (void)state;
    assert_string_equal(play(17, STRATA_LRU, "ABCDEFGHIJKLMNOPQ+A+CRSTU"),
                        ".................BDEF");
    assert_string_equal(play(17, STRATA_FIFO, "ABCDEFGHIJKLMNOPQ+A+CRSTU"),
                        ".................ABCD");
}

/* Many hits, then emptied ways, so that lists by age are made and used up. */
static void lists_by_age_are_made_anew(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct cache cache;
    make(&cache, &memory, 1, 20, STRATA_LRU);
    for (uint64_t key = 0; key < 20; key++)
        assert_int_equal(cache_fill(&cache, 0, key), CACHE_NONE);
    for (int i = 0; i < 1000; i++)
        assert_true(cache_hit(&cache, 0, (uint64_t)(i % 3)));
    assert_int_equal(cache_fill(&cache, 0, 100), 3);
    for (uint64_t key = 4; key < 20; key++)
        assert_true(cache_remove(&cache, 0, key));
    for (int i = 0; i < 37; i++) {
        assert_true(cache_hit(&cache, 0, (uint64_t)(i % 3)));
        assert_int_equal(cache_fill(&cache, 0, 200), CACHE_NONE);
        assert_true(cache_remove(&cache, 0, 200));
    }
    for (uint64_t key = 300; key < 316; key++)
        assert_int_equal(cache_fill(&cache, 0, key), CACHE_NONE);
    assert_int_equal(cache_fill(&cache, 0, 400), 100);
    assert_int_equal(cache_fill(&cache, 0, 401), 1);
    discard(&cache, &memory);
}

/* One step of the comparison: the same for both, which must agree. */
static void step(struct cache *cache, struct naive *naive, struct rng *rng)
{
    uint64_t set = rng_below(rng, cache->sets);
    uint64_t key = rng_below(rng, 2 * cache->ways + 2) * cache->sets + set;
    int way = naive_find(naive, set, key);
    bool there = way >= 0;
    assert_int_equal(cache_find(cache, set, key) != CACHE_NO_WAY, there);
    if (there && rng_below(rng, 8) == 0) {
        assert_true(cache_remove(cache, set, key));
        assert_true(naive_remove(naive, set, key));
    } else if (there) {
        assert_true(cache_hit(cache, set, key));
        naive_touch(naive, set, way);
    } else {
        assert_int_equal(cache_fill(cache, set, key), naive_fill(naive, set, key));
    }
}

static void compare(uint64_t sets, uint32_t ways, uint32_t policy, double occupied,
                    bool near)
{
    struct memory memory = {0};
    struct allocator allocator = memory_allocator(&memory);
    struct cache_shape shape = {
        .sets = sets, .ways = ways, .policy = policy, .occupied = occupied, .near = near};
    struct rng rng = {ways * 1000 + sets * 10 + policy};
    struct cache cache;
    struct naive naive;
    assert_int_equal(cache_init(&cache, &shape, &allocator), 0);
    naive_init(&naive, sets, ways, policy, occupied);
    for (int i = 0; i < 3000; i++) {
        if (rng_below(&rng, 1500) == 0) {
            cache_clear(&cache);
            naive_clear(&naive);
        }
        step(&cache, &naive, &rng);
    }
    for (uint64_t set = 0; set < sets; set++)
        assert_int_equal(cache_room(&cache, set), naive.set[set].room);
    naive_release(&naive);
    discard(&cache, &memory);
}

static void arrays_of_every_form_agree_with_a_naive_one(void **state)
{
    (void)state;
    static const uint32_t ways[] = {1, 2, 3, 4, 7, 8, 9, 12, 15, 16, 17, 24, 33, 64, 72};
    static const uint32_t exact[] = {STRATA_LRU, STRATA_PLRU, STRATA_FIFO};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t p = 0; p < 3; p++)
            for (uint64_t sets = 1; sets <= 5; sets += 2)
                if (exact[p] != STRATA_PLRU || ways[w] <= POLICY_TREE_WAYS) {
                    for (int near = 0; near < 2; near++) {
                        compare(sets, ways[w], exact[p], 0, near);
                        compare(sets, ways[w], exact[p], 0.375, near);
                    }
                }
}

/* Fills a full set of n ways many times; returns how often each way was thrown out. */
static void throw_out(uint32_t ways, uint64_t seed, int times, uint32_t *counts)
{
    struct memory memory = {0};
    struct cache cache;
    make(&cache, &memory, 1, ways, STRATA_RANDOM);
    cache_seed(&cache, seed);
    uint64_t key = 0;
    for (; key < ways; key++)
        assert_int_equal(cache_fill(&cache, 0, key), CACHE_NONE);
    for (int i = 0; i < times; i++, key++) {
        assert_int_not_equal(cache_fill(&cache, 0, key), CACHE_NONE);
        counts[cache_find(&cache, 0, key)]++;
    }
    discard(&cache, &memory);
}

/* Chi squared with ways - 1 degrees of freedom; 60 is above the 99.99th percentile for
 * all sizes here. The seed is fixed, so this passes always or never. */
static void random_victims_are_spread_evenly(void **state)
{
    (void)state;
    static const uint32_t ways[] = {2, 3, 8, 16, 20};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        uint32_t counts[20] = {0};
        int times = 1000 * (int)ways[w];
        double chi = 0;
        throw_out(ways[w], 7, times, counts);
        for (uint32_t i = 0; i < ways[w]; i++)
            chi += (counts[i] - 1000.0) * (counts[i] - 1000.0) / 1000;
        assert_true(chi < 60);
    }
}

static void a_seed_names_the_random_victims(void **state)
{
    (void)state;
    uint32_t a[8] = {0}, b[8] = {0}, c[8] = {0};
    throw_out(8, 1, 100, a);
    throw_out(8, 1, 100, b);
    throw_out(8, 2, 100, c);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_not_equal(a, c, sizeof a);
}

static void purge_takes_out_a_range(void **state)
{
    (void)state;
    for (uint32_t ways = 4; ways <= 20; ways += 16) {
        struct memory memory = {0};
        struct cache cache;
        make(&cache, &memory, 3, ways, STRATA_LRU);
        for (uint64_t key = 0; key < 12; key++)
            cache_fill(&cache, key % 3, key);
        cache_purge(&cache, 4, 8);
        for (uint64_t key = 0; key < 12; key++)
            assert_int_equal(cache_find(&cache, key % 3, key) != CACHE_NO_WAY,
                             key < 4 || key > 8);
        discard(&cache, &memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lru_throws_out_what_was_used_longest_ago),
        cmocka_unit_test(fifo_throws_out_what_came_first),
        cmocka_unit_test(plru_follows_its_tree),
        cmocka_unit_test(plru_skips_ways_that_are_not_there),
        cmocka_unit_test(free_ways_are_filled_first),
        cmocka_unit_test(large_sets_keep_order_too),
        cmocka_unit_test(lists_by_age_are_made_anew),
        cmocka_unit_test(arrays_of_every_form_agree_with_a_naive_one),
        cmocka_unit_test(random_victims_are_spread_evenly),
        cmocka_unit_test(a_seed_names_the_random_victims),
        cmocka_unit_test(purge_takes_out_a_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
