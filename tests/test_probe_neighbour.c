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
enum { SEEDS = 1 }; /* sanitizers are slow, and look for other things than right answers */
#else
enum { SEEDS = 4 };
#endif
enum { FULL_SEEDS = 100 };

enum { STAYING = 5 };
static bool stays; /* the neighbour, and keeps so many entries */

struct shared {
    struct runner runner;
    struct runner *whole, *rest;
    struct rng rng;
    bool present;      /* the neighbour */
    double length[2];  /* walks for which it is absent and present, on average */
    double until, now; /* when that changes, in walks */
};

static int walk_one(struct runner *runner, enum arena arena, const struct refs *refs,
                    struct trial *trial)
{
    struct shared *s = (struct shared *)runner;
    if (s->now++ >= s->until) {
        s->present = !s->present;
        s->until = s->now - log(1 - rng_unit(&s->rng)) * s->length[s->present];
    }
    return runner_walk(s->present || stays ? s->rest : s->whole, arena, refs, trial);
}

static double clock_of(struct runner *runner)
{
    return runner_clock(((struct shared *)runner)->whole);
}

static void release_both(struct runner *runner)
{
    struct shared *s = (struct shared *)runner;
    runner_release(s->whole);
    runner_release(s->rest);
    free(s);
}

int runner_simulated(struct runner **runner, const struct strata_machine *machine,
                     uint64_t seed, uint64_t bytes, uint64_t huge_bytes,
                     struct strata_error *error)
{
    static const struct runner_ops ops = {
        .walk = walk_one, .clock = clock_of, .release = release_both};
    struct strata_machine rest = *machine;
    struct shared *s = calloc(1, sizeof *s);
    assert_non_null(s);
    rest.caches[0].size -= rest.caches[0].size / rest.caches[0].ways * 2;
    rest.caches[0].ways -= 2;
    rest.tlbs[0].entries -= stays ? STAYING : rest.tlbs[0].entries / 3;
    rest.tlbs[0].ways = rest.tlbs[0].entries;
    if (runner_of_one(&s->whole, machine, seed, bytes, huge_bytes, error) ||
        runner_of_one(&s->rest, &rest, seed, bytes, huge_bytes, error))
        fail_msg("%s", error->text);
    s->runner = *s->whole;
    s->runner.ops = &ops;
    s->rng.state = mix64(seed);
    s->length[1] = exp2(3 + 5 * rng_unit(&s->rng));
    s->length[0] = s->length[1] * exp2(2 * rng_unit(&s->rng));
    *runner = &s->runner;
    return 0;
}

static const char text[] =
    "[machine]\nname = shared\npage = 4K\nfrequency = 1000M\nmapping = contiguous\n"
    "[cache L1d]\nlevel = 1\nkind = data\nsize = 16K\nline = 64\nways = 8\nlatency = 4\n"
    "[cache L2]\nlevel = 2\nkind = unified\nsize = 128K\nline = 64\nways = 8\n"
    "latency = 14\n"
    "[tlb L1d]\nlevel = 1\nkind = data\nentries = 48\nways = full\n"
    "[walk]\nlatency = 9\n[memory]\nlatency = 120\n"
    "[noise]\njitter = 0.005\n";

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
    struct strata_machine machine;
    struct strata_error error;
    struct tally tally = {0};
    uint64_t seeds = getenv("STRATA_FULL") ? FULL_SEEDS : SEEDS;
    (void)state;
    if (strata_machine_parse("shared", text, &machine, &error))
        fail_msg("%s", error.text);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct strata_probe_options options = {
            .machine = &machine, .seed = seed, .cpu = -1};
        struct strata_probed probed;
        if (strata_probe(&options, &probed, &error))
            fail_msg("%s", error.text);
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

/* Without a budget there are no neighbours, and any number is believed. */
static void a_number_that_is_not_made_is_doubted(void **state)
{
    struct strata_machine machine;
    struct strata_error error;
    (void)state;
    if (strata_machine_parse("shared", text, &machine, &error))
        fail_msg("%s", error.text);
    stays = true;
    for (int limited = 0; limited < 2; limited++) {
        struct strata_probe_options options = {
            .machine = &machine, .cpu = -1, .budget = limited ? 1e6 : 0};
        struct strata_probed probed;
        if (strata_probe(&options, &probed, &error))
            fail_msg("%s", error.text);
        const struct strata_value *entries = &probed.tlbs[0].entries;
        assert_true(entries->known && entries->value == 48 - STAYING);
        assert_true(limited ? entries->high == 48 && entries->confidence <= 0.5
                            : entries->high == 43 && entries->confidence > 0.9);
        assert_int_equal(probed.nnotes, limited);
        strata_probed_release(&probed);
    }
    stays = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_neighbour_is_seen_through),
        cmocka_unit_test(a_number_that_is_not_made_is_doubted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
