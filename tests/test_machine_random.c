/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The generator of random machines: all are possible, all can be told apart by timing,
 * and every class that it promises occurs. */
#include "../bench/random_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <strata/error.h>

#include <cmocka.h>

enum { MACHINES = 2000 };

static void assert_steps(const struct strata_machine *m)
{
    const struct strata_cache *near = &m->caches[0];
    for (uint32_t i = 2; i < m->ncaches; i++) {
        const struct strata_cache *cache = &m->caches[i];
        assert_true(cache->size >= 4 * near->size);
        assert_true(cache->latency >= 2.2 * near->latency);
        assert_true(cache->latency <= 4 * near->latency + 1);
        assert_true(cache->line == near->line || cache->line == 2 * near->line);
        near = cache;
    }
    assert_true(m->memory_latency >= 2.5 * near->latency);
    assert_true(m->memory_latency <= 6 * near->latency + 1);
}

static void assert_tlbs(const struct strata_machine *m)
{
    assert_in_range(m->tlbs[0].entries, 16, 128);
    assert_in_range(m->walk_latency, 20, 60);
    const struct strata_tlb *first = NULL;
    for (uint32_t i = 0; i < m->ntlbs; i++) {
        const struct strata_tlb *tlb = &m->tlbs[i];
        uint32_t sets = tlb->entries / tlb->ways;
        assert_int_equal(sets & (sets - 1), 0);
        if (tlb->kind == STRATA_DATA)
            first = tlb;
        if (tlb->level < 2)
            continue;
        assert_non_null(first);
        assert_int_equal(first->page, tlb->page);
        assert_true(tlb->entries >= 4 * first->entries);
        assert_in_range(tlb->latency, 5, 12);
        assert_true(tlb->latency < m->walk_latency);
    }
}

static void test_valid(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < MACHINES; seed++) {
        struct strata_machine m;
        struct strata_error error = {0, ""};
        random_machine(seed, &m);
        if (strata_machine_check(&m, &error) != STRATA_OK)
            fail_msg("machine %d: %s", (int)seed, error.text);
        assert_steps(&m);
        assert_tlbs(&m);
    }
}

static void test_seed_names_machine(void **state)
{
    (void)state;
    struct strata_machine a, b;
    memset(&a, 0xff, sizeof a);
    random_machine(7, &a);
    random_machine(7, &b);
    assert_memory_equal(&a, &b, sizeof a);
    random_machine(8, &b);
    memcpy(b.name, a.name, sizeof b.name);
    assert_memory_not_equal(&a, &b, sizeof a);
}

/* What a machine may be; each must be seen in at least `least` percent of them. */

static const struct strata_cache *outermost(const struct strata_machine *m)
{
    return &m->caches[m->ncaches - 1];
}

static bool has_shape(const struct strata_machine *m, uint64_t kilobytes, uint32_t ways)
{
    for (uint32_t i = 0; i < m->ncaches; i++)
        if (m->caches[i].size == kilobytes << 10 && m->caches[i].ways == ways)
            return true;
    return false;
}

static bool has_policy(const struct strata_machine *m, uint32_t policy, bool first)
{
    for (uint32_t i = first ? 0 : 2; i < (first ? 1 : m->ncaches); i++)
        if (m->caches[i].policy == policy)
            return true;
    return false;
}

static bool has_prefetcher(const struct strata_machine *m, uint32_t level, uint32_t kind)
{
    for (uint32_t i = 0; i < m->nprefetchers; i++)
        if (m->prefetchers[i].level == level && m->prefetchers[i].kind == kind)
            return true;
    return false;
}

static bool odd_sets(const struct strata_machine *m)
{
    uint64_t sets = outermost(m)->size / outermost(m)->line / outermost(m)->ways;
    return (sets & (sets - 1)) != 0;
}

static const struct strata_tlb *second_tlb(const struct strata_machine *m, uint64_t page)
{
    for (uint32_t i = 0; i < m->ntlbs; i++)
        if (m->tlbs[i].level == 2 && m->tlbs[i].page == page)
            return &m->tlbs[i];
    return NULL;
}

static uint64_t reach(const struct strata_tlb *tlb)
{
    return tlb->entries * tlb->page;
}

static uint64_t last_reach(const struct strata_machine *m)
{
    const struct strata_tlb *second = second_tlb(m, m->page);
    return reach(second ? second : &m->tlbs[0]);
}

#define CLASSES(CLASS)                                                                     \
    CLASS(levels_2, 15, outermost(m)->level == 2)                                          \
    CLASS(levels_3, 40, outermost(m)->level == 3)                                          \
    CLASS(levels_4, 10, outermost(m)->level == 4)                                          \
    CLASS(l1_48k_12_way, 3, has_shape(m, 48, 12))                                          \
    CLASS(l1_36k_9_way, 2, has_shape(m, 36, 9))                                            \
    CLASS(l1_24k_6_way, 2, has_shape(m, 24, 6))                                            \
    CLASS(l1_40k_10_way, 2, has_shape(m, 40, 10))                                          \
    CLASS(l1_8k, 2, m->caches[0].size == 8 << 10)                                          \
    CLASS(l1_128k, 2, m->caches[0].size == 128 << 10)                                      \
    CLASS(l1_way_above_page, 10, m->caches[0].size / m->caches[0].ways > m->page)          \
    CLASS(l1_way_within_page, 30, m->caches[0].size / m->caches[0].ways <= m->page)        \
    CLASS(l2_1280k_20_way, 2, has_shape(m, 1280, 20))                                      \
    CLASS(l2_768k_12_way, 2, has_shape(m, 768, 12))                                        \
    CLASS(l2_1536k, 3, m->caches[2].size == 1536 << 10)                                    \
    CLASS(l3_35_75m_11_way, 1, has_shape(m, 36608, 11))                                    \
    CLASS(sets_no_power_of_two, 3, odd_sets(m))                                            \
    CLASS(line_32, 10, m->caches[0].line == 32)                                            \
    CLASS(line_64, 50, m->caches[0].line == 64)                                            \
    CLASS(line_128, 10, m->caches[0].line == 128)                                          \
    CLASS(equal_lines, 40, outermost(m)->line == m->caches[0].line)                        \
    CLASS(growing_lines, 20, outermost(m)->line > m->caches[0].line)                       \
    CLASS(page_4k, 50, m->page == 4 << 10)                                                 \
    CLASS(page_8k, 4, m->page == 8 << 10)                                                  \
    CLASS(page_16k, 10, m->page == 16 << 10)                                               \
    CLASS(page_64k, 10, m->page == 64 << 10)                                               \
    CLASS(mapped_at_random, 60, m->mapping == STRATA_MAP_RANDOM)                           \
    CLASS(mapped_contiguously, 5, m->mapping == STRATA_MAP_CONTIGUOUS)                     \
    CLASS(mapped_by_colour, 8, m->mapping == STRATA_MAP_COLOURED)                          \
    CLASS(huge, 40, m->huge != 0)                                                          \
    CLASS(no_huge, 40, m->huge == 0)                                                       \
    CLASS(huge_32m, 3, m->huge == 32 << 20)                                                \
    CLASS(l1_lru_or_plru, 80,                                                              \
          has_policy(m, STRATA_LRU, true) || has_policy(m, STRATA_PLRU, true))             \
    CLASS(l1_plru, 15, has_policy(m, STRATA_PLRU, true))                                   \
    CLASS(l1_random, 1, has_policy(m, STRATA_RANDOM, true))                                \
    CLASS(outer_lru, 30, has_policy(m, STRATA_LRU, false))                                 \
    CLASS(outer_plru, 15, has_policy(m, STRATA_PLRU, false))                               \
    CLASS(outer_fifo, 3, has_policy(m, STRATA_FIFO, false))                                \
    CLASS(outer_random, 20, has_policy(m, STRATA_RANDOM, false))                           \
    CLASS(inclusive, 10, outermost(m)->inclusion == STRATA_INCLUSIVE)                      \
    CLASS(exclusive, 8, outermost(m)->inclusion == STRATA_EXCLUSIVE)                       \
    CLASS(neither, 50, outermost(m)->inclusion == STRATA_NINE)                             \
    CLASS(tlb_full, 25, m->tlbs[0].ways == m->tlbs[0].entries)                             \
    CLASS(tlb_2_way, 5, m->tlbs[0].ways == 2)                                              \
    CLASS(tlb_4_way, 10, m->tlbs[0].ways == 4)                                             \
    CLASS(tlb_8_way, 3, m->tlbs[0].ways == 8)                                              \
    CLASS(tlb_40, 2, m->tlbs[0].entries == 40)                                             \
    CLASS(tlb_48, 3, m->tlbs[0].entries == 48)                                             \
    CLASS(tlb_72, 2, m->tlbs[0].entries == 72)                                             \
    CLASS(tlb_96, 3, m->tlbs[0].entries == 96)                                             \
    CLASS(second_tlb, 60, second_tlb(m, m->page))                                          \
    CLASS(no_second_tlb, 20, !second_tlb(m, m->page))                                      \
    CLASS(second_huge_tlb, 15, m->huge &&second_tlb(m, m->huge))                           \
    CLASS(no_second_huge_tlb, 10, m->huge && !second_tlb(m, m->huge))                      \
    CLASS(tlb_reach_below_l2, 20, reach(&m->tlbs[0]) < m->caches[2].size)                  \
    CLASS(tlbs_reach_below_memory, 20, last_reach(m) < outermost(m)->size)                 \
    CLASS(tlbs_reach_beyond_caches, 20, last_reach(m) > outermost(m)->size)                \
    CLASS(tlb_reach_above_l2, 10, reach(&m->tlbs[0]) > m->caches[2].size)                  \
    CLASS(adjacent, 8, has_prefetcher(m, 2, STRATA_PREFETCH_ADJACENT))                     \
    CLASS(l1_next_line, 3, has_prefetcher(m, 1, STRATA_PREFETCH_NEXT_LINE))                \
    CLASS(l1_stride, 5, has_prefetcher(m, 1, STRATA_PREFETCH_STRIDE))                      \
    CLASS(l1_stream, 3, has_prefetcher(m, 1, STRATA_PREFETCH_STREAM))                      \
    CLASS(l2_next_line, 3, has_prefetcher(m, 2, STRATA_PREFETCH_NEXT_LINE))                \
    CLASS(l2_stride, 4, has_prefetcher(m, 2, STRATA_PREFETCH_STRIDE))                      \
    CLASS(l2_stream, 5, has_prefetcher(m, 2, STRATA_PREFETCH_STREAM))                      \
    CLASS(no_prefetcher, 40, m->nprefetchers == 0)                                         \
    CLASS(quiet, 40, m->noise.jitter == 0)                                                 \
    CLASS(noisy, 40, m->noise.jitter >= 0.005 && m->noise.jitter <= 0.02)                  \
    CLASS(perfect_clock_but_noisy, 5, m->noise.jitter > 0 && m->noise.timer_ns == 0)       \
    CLASS(coarse_clock, 25, m->noise.timer_ns > 100)

#define DEFINE(name, least, condition)                                                     \
    static bool is_##name(const struct strata_machine *m)                                  \
    {                                                                                      \
        return condition;                                                                  \
    }
CLASSES(DEFINE)

#define ROW(name, least, condition) {#name, least, is_##name},
static const struct {
    const char *name;
    int least; /* percent */
    bool (*is)(const struct strata_machine *m);
} classes[] = {CLASSES(ROW)};

static void test_classes(void **state)
{
    (void)state;
    enum { CLASS_COUNT = sizeof classes / sizeof *classes };
    int seen[CLASS_COUNT] = {0};
    for (uint64_t seed = 0; seed < MACHINES; seed++) {
        struct strata_machine m;
        random_machine(seed, &m);
        for (int c = 0; c < CLASS_COUNT; c++)
            seen[c] += classes[c].is(&m);
    }
    for (int c = 0; c < CLASS_COUNT; c++)
        if (seen[c] * 100 < classes[c].least * MACHINES)
            fail_msg("%s: %d of %d machines, less than %d%%", classes[c].name, seen[c],
                     MACHINES, classes[c].least);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_seed_names_machine),
        cmocka_unit_test(test_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
