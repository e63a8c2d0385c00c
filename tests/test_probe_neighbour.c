/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata_probe() beside a neighbour: another thread of the same core that comes and goes,
 * and while it is there holds a part of the first cache and of the first TLB. It takes room
 * away and adds none, so the answer is the machine without it; where that cannot be told,
 * because it does not go, say, the confidence must say so.
 *
 * The runner here has two simulated machines, one with all and one with what is left, and
 * walks each string on the one of the moment. STRATA_FULL=1 takes more seeds. */
#define runner_simulated runner_of_one
#include "run/simulated.c"
#undef runner_simulated
int runner_simulated(struct runner **runner, const struct strata_machine *machine,
                     uint64_t seed, uint64_t bytes, uint64_t huge_bytes,
                     struct strata_error *error);

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dataset/dataset.h"

#include <stdio.h>
#include <strata/probe.h>

#ifdef __SANITIZE_ADDRESS__
/* sanitizers are slow, and look for other things than right answers */
enum { SEEDS = 1, CONTROL = 1 };
#else
enum { SEEDS = 4, CONTROL = 0 }; /* the case without what is tested comes first */
#endif
enum { FULL_SEEDS = 100 };

/* What the neighbour takes while it is there. */
struct neighbour {
    uint32_t ways, outer_ways; /* of the first cache and of the last one */
    uint32_t entries;          /* of the first TLB */
    double longer;             /* how much longer than usual it is there */
    bool stays;                /* it never goes… */
    bool only_here;            /* …but another processor has none */
};

static struct neighbour neighbour;

struct shared {
    struct runner runner;
    struct runner *whole, *rest;
    struct rng rng;
    bool present, left; /* the neighbour; the processor that has one */
    double length[2];   /* walks for which it is absent and present, on average */
    double until, now;  /* when that changes, in walks */
};

static int walk_one(struct runner *runner, enum arena arena, const struct refs *refs,
                    struct trial *trial)
{
    struct shared *s = (struct shared *)runner;
    if (s->now++ >= s->until) {
        s->present = !s->present;
        s->until = s->now - log(1 - rng_unit(&s->rng)) * s->length[s->present];
    }
    bool disturbed = !s->left && (s->present || neighbour.stays);
    return runner_walk(disturbed ? s->rest : s->whole, arena, refs, trial);
}

static double clock_of(struct runner *runner)
{
    return runner_clock(((struct shared *)runner)->whole);
}

static bool leave(struct runner *runner)
{
    return ((struct shared *)runner)->left = neighbour.only_here;
}

static void come_back(struct runner *runner)
{
    ((struct shared *)runner)->left = false;
}

static void release_both(struct runner *runner)
{
    struct shared *s = (struct shared *)runner;
    runner_release(s->whole);
    runner_release(s->rest);
    free(s);
}

static void take_ways(struct strata_cache *cache, uint32_t ways)
{
    cache->size -= cache->size / cache->ways * ways;
    cache->ways -= ways;
}

int runner_simulated(struct runner **runner, const struct strata_machine *machine,
                     uint64_t seed, uint64_t bytes, uint64_t huge_bytes,
                     struct strata_error *error)
{
    static const struct runner_ops ops = {.walk = walk_one,
                                          .clock = clock_of,
                                          .leave = leave,
                                          .come_back = come_back,
                                          .release = release_both};
    struct strata_machine rest = *machine;
    struct shared *s = calloc(1, sizeof *s);
    assert_non_null(s);
    take_ways(&rest.caches[0], neighbour.ways);
    take_ways(&rest.caches[rest.ncaches - 1], neighbour.outer_ways);
    rest.tlbs[0].entries -= neighbour.entries;
    rest.tlbs[0].ways = rest.tlbs[0].entries;
    if (runner_of_one(&s->whole, machine, seed, bytes, huge_bytes, error) ||
        runner_of_one(&s->rest, &rest, seed, bytes, huge_bytes, error))
        fail_msg("%s", error->text);
    s->runner = *s->whole;
    s->runner.ops = &ops;
    s->rng.state = mix64(seed);
    s->length[1] = exp2(3 + 5 * rng_unit(&s->rng));
    s->length[0] = s->length[1] * exp2(2 * rng_unit(&s->rng));
    s->length[1] *= 1 + neighbour.longer;
    *runner = &s->runner;
    return 0;
}

#define MACHINE                                                                            \
    "[machine]\nname = shared\npage = 4K\nfrequency = 1000M\nmapping = contiguous\n"       \
    "[cache L1d]\nlevel = 1\nkind = data\nsize = 16K\nline = 64\nways = 8\nlatency = 4\n"  \
    "[tlb L1d]\nlevel = 1\nkind = data\nentries = 48\nways = full\n"                       \
    "[walk]\nlatency = 9\n[memory]\nlatency = 120\n[noise]\njitter = 0.005\n"
#define CACHE(level, size, latency)                                                        \
    "[cache L" level "]\nlevel = " level "\nkind = unified\nsize = " size "\n"             \
    "latency = " latency "\nline = 64\nways = 8\npolicy = random\n"

static const char two_levels[] = MACHINE CACHE("2", "128K", "14");
static const char three_levels[] = MACHINE CACHE("2", "64K", "12") CACHE("3", "512K", "40");

/* Probes beside a neighbour; the result is to be released. */
static struct strata_probed probe(const char *text, struct neighbour beside, uint64_t seed,
                                  double budget)
{
    struct strata_machine machine;
    struct strata_error error;
    struct strata_probed probed;
    neighbour = beside;
    if (strata_machine_parse("shared", text, &machine, &error))
        fail_msg("%s", error.text);
    struct strata_probe_options options = {
        .machine = &machine, .seed = seed, .cpu = -1, .budget = budget};
    if (strata_probe(&options, &probed, &error))
        fail_msg("%s", error.text);
    return probed;
}

struct tally {
    int asked, told, right; /* told: at 0.95 or more */
};

static void judge(struct tally *tally, const char *what, uint64_t seed,
                  const struct strata_value *value, double truth)
{
    bool told = value->known && value->confidence >= 0.95;
    tally->asked++;
    tally->told += told;
    tally->right += told && value->value == truth;
    if (told && value->value != truth)
        print_message("seed %d: %s: %g instead of %g, with confidence %g\n", (int)seed,
                      what, value->value, truth, value->confidence);
}

static void a_neighbour_is_seen_through(void **state)
{
    const struct neighbour comes = {.ways = 2, .entries = 16};
    struct tally tally = {0};
    uint64_t seeds = getenv("STRATA_FULL") ? FULL_SEEDS : SEEDS;
    (void)state;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct strata_probed probed = probe(two_levels, comes, seed, 0);
        const struct strata_probed_cache *l1 = &probed.caches[0];
        judge(&tally, "size", seed, &l1->size, 16384);
        judge(&tally, "line", seed, &l1->line, 64);
        judge(&tally, "ways", seed, &l1->ways, 8);
        judge(&tally, "entries", seed, &probed.tlbs[0].entries, 48);
        strata_probed_release(&probed);
    }
    print_message("%d of %d told, %d of these right\n", tally.told, tally.asked,
                  tally.right);
    assert_true(20 * tally.right >= 19 * tally.told);
    assert_true(4 * tally.told >= 3 * tally.asked);
}

#define LIMITED 1e6 /* seconds: enough for all, but there is a limit, as on hardware */

/* Without a limit there are no neighbours, and any number is believed. */
static void a_number_that_is_not_made_is_doubted(void **state)
{
    const struct neighbour keeps = {.entries = 5, .stays = true};
    (void)state;
    for (int limited = CONTROL; limited < 2; limited++) {
        struct strata_probed probed = probe(two_levels, keeps, 1, limited ? LIMITED : 0);
        const struct strata_value *entries = &probed.tlbs[0].entries;
        assert_true(entries->known && entries->value == 43);
        assert_true(limited ? entries->high >= 48 && entries->confidence <= 0.5
                            : entries->high == 43 && entries->confidence > 0.9);
        const struct strata_value *usable = &probed.caches[1].effective;
        assert_int_equal(usable->high >= 2 * usable->value, limited);
        assert_int_equal(probed.nnotes, limited);
        strata_probed_release(&probed);
    }
}

static void another_processor_is_asked(void **state)
{
    struct neighbour keeps = {.outer_ways = 4, .entries = 5, .stays = true};
    (void)state;
    for (int only_here = CONTROL; only_here < 2; only_here++) {
        keeps.only_here = only_here;
        struct strata_probed probed = probe(three_levels, keeps, 1, LIMITED);
        assert_int_equal(probed.tlbs[0].entries.value, only_here ? 48 : 43);
        assert_int_equal(probed.ncaches, 3);
        double usable = probed.caches[2].effective.value;
        assert_true(only_here ? usable > 384 << 10 : usable < 384 << 10);
        strata_probed_release(&probed);
    }
}

/* Whether the last cache may be half or twice as large and memory a quarter faster or
 * slower: in other minutes than those of the probe there is more of them, or less. */
static bool allows_for_others(struct neighbour beside, uint64_t seed)
{
    struct strata_probed probed = probe(two_levels, beside, seed, LIMITED);
    const struct strata_value *last = &probed.caches[1].effective,
                              *memory = &probed.memory_cycles;
    assert_true(last->known && memory->known);
    bool octave = last->low <= last->value / 2 && last->high >= last->value * 2;
    bool quarter =
        memory->low <= memory->value / 1.25 && memory->high >= memory->value * 1.25;
    strata_probed_release(&probed);
    print_message("seed %d: %d %d\n", (int)seed, octave, quarter);
    return octave && quarter;
}

/* A neighbour that happens to stay away when the last cache is looked at is not seen. */
static void intervals_allow_for_others(void **state)
{
    const struct neighbour comes = {.outer_ways = 4, .longer = 4}, nobody = {0};
    uint64_t seeds = 2, seen = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        seen += allows_for_others(comes, seed);
        assert_false(!CONTROL && seed == 1 && allows_for_others(nobody, seed));
    }
    assert_true(2 * seen >= seeds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_neighbour_is_seen_through),
        cmocka_unit_test(a_number_that_is_not_made_is_doubted),
        cmocka_unit_test(another_processor_is_asked),
        cmocka_unit_test(intervals_allow_for_others),
    };
#ifdef __SANITIZE_ADDRESS__
    const size_t n = 1;
#else
    const size_t n = sizeof tests / sizeof *tests;
#endif
    return _cmocka_run_group_tests("neighbours", tests, n, NULL, NULL);
}
