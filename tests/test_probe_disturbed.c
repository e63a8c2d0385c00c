/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata_probe() where the clock tells little: a machine so disturbed that every part may
 * find nonsense, from which the next ones must go on. It must end with answers or reasons,
 * never fail.
 *
 * The runner here stands in for the simulated one, which the linker then leaves out. It
 * walks nothing: its costs are steps at random footprints, times noise that comes and goes,
 * and its time passes in jumps. STRATA_FULL=1 takes more seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/rng.h"
#include "dataset/dataset.h"
#include "run/runner.h"
#include "test_values.h"

#include <math.h>
#include <stdlib.h>
#include <strata/error.h>
#include <string.h>

enum { MOST_STEPS = 6, SEEDS = 10, FULL_SEEDS = 500 };

struct disturbed {
    struct runner runner;
    struct rng rng;
    double now;   /* seconds since it began */
    double pace;  /* seconds that a walk takes */
    double noise; /* how far the costs go astray, as a power of e */
    double phase; /* by how much all is slower at present */
    int steps;
    double ends[MOST_STEPS], costs[MOST_STEPS + 1];
};

static int walk(struct runner *runner, enum arena arena, const struct refs *refs,
                struct trial *trial)
{
    struct disturbed *d = (struct disturbed *)runner;
    double bytes = (double)refs->n * 64;
    int step = 0;
    (void)arena;
    assert_true(refs->n > 0);
    while (step < d->steps && bytes > d->ends[step])
        step++;
    if (rng_unit(&d->rng) < 0.05)
        d->phase = exp(d->noise * (rng_unit(&d->rng) - 0.3));
    if (rng_unit(&d->rng) < 0.02)
        d->phase = 1;
    trial->cycles =
        d->costs[step] * d->phase * exp(0.3 * d->noise * (rng_unit(&d->rng) - 0.5));
    trial->disturbed = rng_unit(&d->rng) < 0.1 * d->noise;
    runner->visits += refs->n;
    d->now += d->pace * rng_unit(&d->rng) * (rng_unit(&d->rng) < 0.01 ? 100 : 1);
    return 0;
}

static double now(struct runner *runner)
{
    return ((struct disturbed *)runner)->now;
}

static void release(struct runner *runner)
{
    free(runner);
}

int runner_simulated(struct runner **runner, const struct strata_machine *machine,
                     uint64_t seed, uint64_t bytes, uint64_t huge_bytes,
                     struct strata_error *error)
{
    static const struct runner_ops ops = {.walk = walk, .clock = now, .release = release};
    struct disturbed *d = calloc(1, sizeof *d);
    (void)error;
    assert_non_null(d);
    d->runner = (struct runner){
        .ops = &ops,
        .ground = {{.page = machine->page, .bytes = bytes, .line = 64},
                   {.page = machine->huge, .bytes = huge_bytes, .line = 64}},
        .cycle_ns = 0.5,
        .tick_ns = 1,
        .simulated = true,
    };
    d->rng.state = mix64(seed);
    d->pace = exp2(-11 + 8 * rng_unit(&d->rng));
    d->noise = rng_unit(&d->rng) < 0.3 ? 0 : 3 * rng_unit(&d->rng);
    d->phase = 1;
    d->steps = (int)rng_below(&d->rng, MOST_STEPS + 1);
    double end = 4096 * exp2(3 * rng_unit(&d->rng)), cost = 1 + 4 * rng_unit(&d->rng);
    for (int i = 0; i <= d->steps; i++) {
        d->costs[i] = cost;
        cost *= 1.2 + 4 * rng_unit(&d->rng);
        if (i < d->steps)
            d->ends[i] = end;
        end *= 1.5 + 20 * rng_unit(&d->rng);
    }
    *runner = &d->runner;
    return 0;
}

static void every_probe_ends_well(void **state)
{
    (void)state;
    static const struct strata_machine machine = {
        .name = "disturbed", .page = 4096, .huge = 2 << 20};
    uint64_t seeds = getenv("STRATA_FULL") ? FULL_SEEDS : SEEDS;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct strata_probe_options options = {
            .machine = &machine, .cpu = -1, .seed = seed, .budget = 1};
        struct strata_probed probed;
        struct strata_error error = {0};
        if (strata_probe(&options, &probed, &error))
            fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
        assert_int_equal(error.status, 0);
        each_value(&probed, check_value);
        strata_probed_release(&probed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_probe_ends_well)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
