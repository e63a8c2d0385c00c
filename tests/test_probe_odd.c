/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata_probe() on small machines with what once led it astray: prefetchers that fetch
 * pairs of lines or the next ones, random replacement side by side with little room between
 * two levels, a large TLB with sets on a dirty clock, large pages with a far-reaching TLB.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../bench/score.h"

#include <strata/error.h>

#define MACHINE(name, more)                                                                \
    "[machine]\nname = " name "\nfrequency = 2000M\nmapping = random\n" more
#define L1(policy)                                                                         \
    "[cache L1d]\nlevel = 1\nkind = data\nsize = 16K\nline = 64\nways = 4\nlatency = 4\n"  \
    "policy = " policy "\n"
#define L2_LINE(policy, line)                                                              \
    "[cache L2]\nlevel = 2\nkind = unified\nsize = 128K\nline = " line "\nways = 8\n"      \
    "latency = 13\nindex = physical\npolicy = " policy "\n"
#define L2(policy) L2_LINE(policy, "64")
#define TLB        "[tlb L1d]\nlevel = 1\nkind = data\nentries = 48\nways = full\n"
#define HUGE_TLB                                                                           \
    "[tlb L1d2M]\nlevel = 1\nkind = data\nentries = 16\nways = full\npage = 2M\n"
#define END "[walk]\nlatency = 30\n[memory]\nlatency = 90\n"

/* What is visited brings in 256 bytes, but only forwards. */
static const char next_lines[] = MACHINE("next lines", "page = 4K\nhuge = 2M\n") L1("lru")
    L2("lru") TLB HUGE_TLB END "[prefetch L1d]\nkind = next-line\ndegree = 3\n";

#ifndef __SANITIZE_ADDRESS__ /* slow there, and nothing new to them */
/* An adjacent-line prefetcher makes lines of 64 bytes behave as if they had 128. */
static const char pairs[] = MACHINE("pairs of lines", "page = 4K\nhuge = 2M\n") L1("lru")
    L2("lru") TLB HUGE_TLB END "[prefetch L2]\nkind = adjacent\n";

/* The same without huge pages and with random replacement, where stripes have to tell. */
static const char stripes[] = MACHINE("stripes", "page = 16K\n") L1("lru") L2("random")
    TLB END "[prefetch L2]\nkind = adjacent\n";

/* The first cache's prefetcher reaches over three lines, into the gaps of stripes; behind
 * it there are longer lines, or lines that seem to be. */
static const char behind_long[] =
    MACHINE("longer lines behind next lines", "page = 16K\n") L1("lru")
        L2_LINE("lru", "128") TLB END "[prefetch L1d]\nkind = next-line\ndegree = 2\n";
static const char behind_pairs[] =
    MACHINE("pairs behind next lines", "page = 16K\n") L1("lru") L2("lru") TLB END
    "[prefetch L1d]\nkind = next-line\ndegree = 3\n[prefetch L2]\nkind = adjacent\n";

/* Of a second cache with few sets, some pages fill more than others. */
static const char uneven[] =
    MACHINE("uneven pages", "page = 4K\n") "[cache L1d]\nlevel = 1\nkind = data\nsize = "
                                           "64K\nline = 64\nways = 2\nlatency = 3\n"
                                           "policy = plru\n"
                                           "[cache L2]\nlevel = 2\nkind = unified\nsize = "
                                           "256K\nline = 128\nways = 8\n"
                                           "latency = 10\npolicy = plru\nindex = "
                                           "physical\ninclusion = inclusive\n" TLB
                                           "[walk]\nlatency = 42\n[memory]\nlatency = 57\n"
                                           "[noise]\njitter = 0.02\ntimer_ns = 414\n";

/* The second cache keeps a third of what is to show the lines of the last one. */
static const char kept_before[] = MACHINE(
    "kept before", "page = 4K\n") "[cache L1d]\nlevel = 1\nkind = data\nsize = 8K\nline = "
                                  "64\nways = 2\nlatency = 4\n"
                                  "[cache L2]\nlevel = 2\nkind = unified\nsize = 96K\nline "
                                  "= 64\nways = 12\n"
                                  "latency = 12\npolicy = random\nindex = physical\n"
                                  "[cache L3]\nlevel = 3\nkind = unified\nsize = "
                                  "384K\nline = 128\nways = 24\n"
                                  "latency = 43\nindex = physical\n" TLB
                                  "[walk]\nlatency = 12\n[memory]\nlatency = 149\n";

/* Random replacement keeps some of a ring that is too long. */
static const char random_levels[] =
    MACHINE("random levels", "page = 16K\n") L1("random") L2("random") TLB END;

/* One page too many costs far less than the clock is off. */
static const char dirty_tlb[] = MACHINE("dirty TLB", "page = 4K\n") L1("lru") L2("lru") TLB
    "[tlb L2]\nlevel = 2\nkind = unified\nentries = 768\nways = 6\nlatency = 8\n" END
    "[noise]\njitter = 0.02\nspikes = 0.01\nspike_cycles = 50000\ntimer_ns = 500\n";

/* So many pages overflow the caches, too, whose random replacement hides where the second
 * TLB ends from pages side by side. */
static const char many_sets[] = MACHINE("many sets", "page = 4K\n") L1("lru") L2("random")
    TLB "[tlb L2]\nlevel = 2\nkind = unified\nentries = 3072\nways = 6\nlatency = 5\n" END;

/* Its TLB reaches 128M, more than half of what was once tried. */
static const char far_reach[] = MACHINE("far reach", "page = 64K\n") L1("lru") L2("lru") TLB
    "[tlb L2]\nlevel = 2\nkind = unified\nentries = 2048\nways = 8\nlatency = 8\n" END;
#endif

static void probe(const char *text, uint64_t seed, struct score *score)
{
    struct strata_machine machine;
    struct strata_probed probed;
    struct strata_error error;
    if (strata_machine_parse("odd", text, &machine, &error))
        fail_msg("%s", error.text);
    struct strata_probe_options options = {.machine = &machine, .seed = seed, .cpu = -1};
    if (strata_probe(&options, &probed, &error))
        fail_msg("%s: %s", machine.name, error.text);
    score_probe(score, &machine, &probed);
    strata_probed_release(&probed);
    if (*score->wrongs)
        print_message("%s:\n%s", machine.name, score->wrongs);
}

static void assert_right(const struct score *score, enum parameter parameter)
{
    if (score->wrong[parameter] || score->null[parameter] || !score->right[parameter])
        fail_msg("%s: %d right, %d wrong, %d not told", parameter_names[parameter],
                 score->right[parameter], score->wrong[parameter], score->null[parameter]);
}

static void next_lines_are_not_taken_for_one(void **state)
{
    (void)state;
    struct score score;
    probe(next_lines, 5, &score);
    assert_right(&score, LINE);
    assert_right(&score, LATENCY);
}

#ifndef __SANITIZE_ADDRESS__
static void pairs_of_lines_are_not_taken_for_one(void **state)
{
    (void)state;
    struct score score;
    probe(pairs, 3, &score);
    assert_right(&score, LINE);
    assert_right(&score, LATENCY);
    probe(stripes, 4, &score);
    assert_right(&score, LINE);
    assert_right(&score, LATENCY);
}

static void lines_behind_next_lines_are_told(void **state)
{
    (void)state;
    struct score score;
    probe(behind_long, 1, &score);
    assert_right(&score, LINE);
    probe(behind_pairs, 2, &score);
    assert_right(&score, LINE);
}

static void pairs_lie_on_the_same_pages(void **state)
{
    (void)state;
    struct score score;
    probe(uneven, 2, &score);
    assert_right(&score, LINE);
}

static void a_line_that_another_level_hides_is_null(void **state)
{
    (void)state;
    struct score score;
    probe(kept_before, 1, &score);
    assert_int_equal(score.wrong[LINE], 0);
}

static void random_replacement_does_not_change_latencies(void **state)
{
    (void)state;
    struct score score;
    probe(random_levels, 6, &score);
    assert_right(&score, CACHE_LEVELS);
    assert_right(&score, EFFECTIVE);
    assert_right(&score, LATENCY);
    assert_int_equal(score.held, score.times);
}

static void a_large_tlb_is_exact_on_a_dirty_clock(void **state)
{
    (void)state;
    struct score score;
    for (uint64_t seed = 4; seed <= 5; seed++) { /* with both, the caches hid the second */
        probe(dirty_tlb, seed, &score);
        assert_right(&score, TLB_LEVELS);
        assert_right(&score, ENTRIES);
        assert_right(&score, TLB_WAYS);
        assert_right(&score, PENALTY);
    }
}

static void sets_tell_where_a_tlb_ends(void **state)
{
    (void)state;
    struct score score;
    probe(many_sets, 7, &score);
    assert_right(&score, TLB_LEVELS);
    assert_right(&score, ENTRIES);
    assert_right(&score, TLB_WAYS);
    assert_right(&score, PENALTY);
}

static void a_tlb_may_reach_far(void **state)
{
    (void)state;
    struct score score;
    probe(far_reach, 8, &score);
    assert_right(&score, TLB_LEVELS);
    assert_right(&score, ENTRIES);
    assert_right(&score, TLB_WAYS);
    assert_right(&score, PENALTY);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_lines_are_not_taken_for_one),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(pairs_of_lines_are_not_taken_for_one),
        cmocka_unit_test(lines_behind_next_lines_are_told),
        cmocka_unit_test(pairs_lie_on_the_same_pages),
        cmocka_unit_test(a_line_that_another_level_hides_is_null),
        cmocka_unit_test(random_replacement_does_not_change_latencies),
        cmocka_unit_test(a_large_tlb_is_exact_on_a_dirty_clock),
        cmocka_unit_test(sets_tell_where_a_tlb_ends),
        cmocka_unit_test(a_tlb_may_reach_far),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
