/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Latencies where something besides the caches costs time: the host of a virtual machine
 * keeps huge pages as base pages, so that strings on them miss in the TLBs; or others use
 * the outermost cache, so that lines are lost between two visits. A hit takes as long there
 * as elsewhere; what is told as sure must say so, and what cannot be told must not be sure.
 *
 * The runner here is the simulated one, with a neighbour that takes random lines out of the
 * last cache while a string is walked. */
#include "sim/hierarchy.h"
#include "sim/sim.h"

uint64_t chase_beside_others(struct sim *sim, uint64_t base, const uint64_t *at, size_t n);

#define sim_chase chase_beside_others
#include "run/simulated.c"
#undef sim_chase

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dataset/dataset.h"

#include <stdio.h>
#include <strata/probe.h>

static struct {
    double rate; /* ways of the last cache that are emptied, for each visit */
    double owed;
    struct rng rng;
} others;

static void take_lines(struct sim *sim, size_t visits)
{
    struct cache *cache = &sim->caches[sim->ncaches - 1].lines;
    for (others.owed += others.rate * (double)visits; others.owed >= 1; others.owed--)
        cache_vacate(cache, rng_below(&others.rng, cache->sets),
                     (uint32_t)rng_below(&others.rng, cache->ways));
}

/* A little at a time, so that what is lost is lost during a lap and not after it. */
uint64_t chase_beside_others(struct sim *sim, uint64_t base, const uint64_t *at, size_t n)
{
    enum { STEP = 64 };
    uint64_t cycles = 0;
    for (size_t i = 0; i < n; i += STEP) {
        size_t step = n - i < STEP ? n - i : STEP;
        cycles += sim_chase(sim, base, at + i, step);
        take_lines(sim, step);
    }
    return cycles;
}

#define MACHINE                                                                            \
    "[machine]\nname = guest\npage = 4K\nfrequency = 1000M\n"                              \
    "[cache L1d]\nlevel = 1\nkind = data\nsize = 8K\nline = 64\nways = 8\nlatency = 4\n"   \
    "[cache L2]\nlevel = 2\nkind = unified\nsize = 32K\nline = 64\nways = 8\n"             \
    "latency = 14\nindex = physical\n"                                                     \
    "[cache L3]\nlevel = 3\nkind = unified\nsize = 384K\nline = 64\nways = 12\n"           \
    "latency = 60\nindex = physical\n"                                                     \
    "[tlb L1d]\nlevel = 1\nkind = data\nentries = 8\nways = 4\n"                           \
    "[tlb L2]\nlevel = 2\nkind = unified\nentries = 32\nways = 4\nlatency = 7\n"           \
    "[walk]\nlatency = 90\n[memory]\nlatency = 300\n[noise]\njitter = 0.005\n"

static const char splintered[] = "[machine]\nname = guest\npage = 4K\nfrequency = 1000M\n"
                                 "huge = 2M\nsplintered = yes\n";

/* Probes a machine of which `head` is the first section; the result is to be released. */
static struct strata_probed probe(const char *head, double rate, uint64_t seed,
                                  double budget)
{
    static const char plain[] = "[machine]\nname = guest\npage = 4K\nfrequency = 1000M\n";
    char text[2000];
    struct strata_machine machine;
    struct strata_error error;
    struct strata_probed probed;
    snprintf(text, sizeof text, "%s%s", head ? head : plain, MACHINE + sizeof plain - 1);
    others.rate = rate;
    others.owed = 0;
    others.rng.state = seed;
    if (strata_machine_parse("guest", text, &machine, &error))
        fail_msg("%s", error.text);
    struct strata_probe_options options = {
        .machine = &machine, .seed = seed, .cpu = -1, .budget = budget};
    if (strata_probe(&options, &probed, &error))
        fail_msg("%s", error.text);
    return probed;
}

static void show(const struct strata_value *value, int level, double truth)
{
    print_message("L%d: %.1f in [%.1f, %.1f] at %.3f, instead of %.0f\n", level,
                  value->value, value->low, value->high, value->confidence, truth);
}

/* The latencies of the levels, memory last. */
static const struct strata_value *latency(const struct strata_probed *probed, int i)
{
    return i < probed->ncaches ? &probed->caches[i].latency_cycles : &probed->memory_cycles;
}

static const double truth[] = {4, 14, 60, 300};

static void huge_pages_may_be_splintered(void **state)
{
    (void)state;
    struct strata_probed probed = probe(splintered, 0, 1, 0);
    assert_int_equal(probed.ncaches, 3);
    for (int i = 0; i <= 3; i++) {
        const struct strata_value *value = latency(&probed, i);
        show(value, i + 1, truth[i]);
        assert_true(value->known && fabs(value->value / truth[i] - 1) < 0.1);
        assert_true(value->low <= truth[i] && truth[i] <= value->high);
    }
    strata_probed_release(&probed);
}

#define LIMITED 1e6 /* seconds: enough for all, but there is a limit, as on hardware */

/* A neighbour takes a line of the last cache for every so many visits. */
static void others_may_use_the_last_cache(void **state)
{
    static const double rates[] = {0.1, 0.3};
    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct strata_probed probed = probe(NULL, rates[i], 1, LIMITED);
        print_message("%g lines a visit: %d levels\n", rates[i], probed.ncaches);
        for (int j = 1; probed.ncaches == 3 && j <= 2; j++) {
            const struct strata_value *value = latency(&probed, j);
            show(value, j + 1, truth[j]);
            assert_true(value->known);
            assert_true(value->low <= truth[j] && truth[j] <= value->high);
        }
        strata_probed_release(&probed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(huge_pages_may_be_splintered),
        cmocka_unit_test(others_may_use_the_last_cache),
    };
#ifdef __SANITIZE_ADDRESS__ /* slow, and it looks for other things than right answers */
    const size_t n = 1;
#else
    const size_t n = sizeof tests / sizeof *tests;
#endif
    return _cmocka_run_group_tests("latencies", tests, n, NULL, NULL);
}
