/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A self-test for a processor other than the builder's: `make cross` compiles it for
 * AArch64 and runs it under qemu. It needs nothing but libstrata and the C library, so
 * the libraries that strata itself uses need not be there: the machine is written here,
 * not read from a file.
 *
 * The simulated machine, the strings, the analyses and a whole probe of a simulated
 * machine must give the same answers as anywhere. Of a probe by the clock, under an
 * emulator, only the end and a positive latency, or why there is none, are expected. */
#include "analyze/curve.h"
#include "core/rng.h"
#include "machine/text.h"
#include "refs/refs.h"
#include "run/runner.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <strata/error.h>
#include <strata/machine.h>
#include <strata/probe.h>
#include <string.h>

struct score {
    int passed, failed;
};

static void check(struct score *score, bool good, const char *what)
{
    printf("%s - %s\n", good ? "ok" : "not ok", what);
    if (good)
        score->passed++;
    else
        score->failed++;
}

/* Two caches, one TLB, and sets that are no power of two in the second cache. */
static struct strata_machine small_machine(void)
{
    return (struct strata_machine){
        .name = "small",
        .page = 4096,
        .frequency = 1000000000,
        .mapping = STRATA_MAP_RANDOM,
        .ncaches = 2,
        .ntlbs = 1,
        .walk_latency = 20,
        .memory_latency = 100,
        .caches = {{.name = "L1d",
                    .level = 1,
                    .kind = STRATA_DATA,
                    .size = 16 << 10,
                    .line = 64,
                    .ways = 4,
                    .latency = 3,
                    .index = STRATA_VIRTUAL,
                    .types = STRATA_INT | STRATA_FLOAT},
                   {.name = "L2",
                    .level = 2,
                    .kind = STRATA_UNIFIED,
                    .size = 192 << 10,
                    .line = 64,
                    .ways = 8,
                    .latency = 12,
                    .index = STRATA_PHYSICAL,
                    .types = STRATA_INT | STRATA_FLOAT}},
        .tlbs = {{.name = "L1d",
                  .level = 1,
                  .kind = STRATA_DATA,
                  .entries = 32,
                  .ways = 32,
                  .page = 4096}},
    };
}

static void test_machine(struct score *score, const struct strata_machine *machine)
{
    struct strata_error error = {0};
    struct strata_machine wrong = *machine;
    char *text = NULL;
    size_t size = 0;
    check(score, strata_machine_check(machine, &error) == STRATA_OK,
          "a machine is possible");
    wrong.caches[0].ways = 7; /* 256 lines are no multiple of it */
    check(score, strata_machine_check(&wrong, &error) == STRATA_BAD_INPUT,
          "7 ways of 16K are not");
    int status = machine_text(machine, NULL, &text, &size, &error);
    check(score, status == STRATA_OK && strstr(text, "size"), "it is written as text");
    free(text);
}

static void *allocate(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void release(void *context, void *block)
{
    (void)context;
    free(block);
}

static uint32_t cost_at(struct sim *sim, uint64_t address, uint32_t *level)
{
    struct sim_result result;
    sim_access(sim, address, 8, SIM_LOAD, STRATA_INT, &result);
    *level = result.level;
    return result.cycles;
}

static void test_sim(struct score *score, const struct strata_machine *machine)
{
    struct allocator allocator = {allocate, release, NULL};
    struct sim *sim = sim_create(machine, 1, &allocator);
    uint32_t level;
    check(score, sim != NULL, "the simulated machine starts");
    if (!sim)
        return;
    check(score, cost_at(sim, 0, &level) == 100 + 20 && level == 3,
          "the first access goes to memory, by a page walk");
    check(score, cost_at(sim, 8, &level) == 3 && level == 1, "the second hits the line");
    for (uint64_t way = 1; way <= 4; way++) /* four more in a set of four */
        cost_at(sim, way * 4096, &level);
    check(score, cost_at(sim, 0, &level) == 12 && level == 2,
          "a line that its set lost is in the second cache");
    sim_release(sim);
}

/* Latency of the cache string over footprints from 1K to 1M, two in an octave. */
enum { FOOTPRINTS = 21 };

static int measure(struct runner *runner, double *x, double *y)
{
    struct refs refs = {0};
    struct rng rng = {1};
    struct trial trial;
    int status = 0;
    for (int i = 0; i < FOOTPRINTS && !status; i++) {
        uint64_t bytes = (uint64_t)(i % 2 ? 1448 : 1024) << (i / 2);
        bytes -= bytes % 64;
        status = refs_cache(&refs, &runner->ground[BASE_PAGES], &rng, bytes, 16);
        if (!status)
            status = runner_walk(runner, BASE_PAGES, &refs, &trial);
        x[i] = (double)bytes;
        y[i] = trial.cycles;
    }
    refs_release(&refs);
    return status;
}

static void test_analysis(struct score *score, const struct strata_machine *machine)
{
    struct strata_error error = {0};
    struct runner *runner = NULL;
    struct levels levels = {0};
    double x[FOOTPRINTS], y[FOOTPRINTS];
    int status = runner_simulated(&runner, machine, 1, 16 << 20, 0, &error);
    check(score, !status, "a runner on the simulated machine");
    if (status)
        return;
    status = measure(runner, x, y);
    check(score, !status && y[0] > 2.5 && y[0] < 3.5, "1K costs what the first cache does");
    check(score, !status && y[FOOTPRINTS - 1] > 90, "1M costs what memory does");
    status = status ? status : isotonic(y, NULL, FOOTPRINTS);
    status = status ? status : find_levels(x, y, FOOTPRINTS, &levels, NULL);
    check(score, !status && levels.n == 3, "the curve has three levels");
    check(score, !status && x[levels.plateau[0].last] == 16384, "the first ends at 16K");
    runner_release(runner);
}

static bool is(const struct strata_value *value, double wanted)
{
    return value->known && value->value == wanted;
}

static void test_probe_simulated(struct score *score, const struct strata_machine *machine)
{
    struct strata_error error = {0};
    struct strata_probe_options options = {.machine = machine, .cpu = -1};
    struct strata_probed probed;
    int status = strata_probe(&options, &probed, &error);
    check(score, !status, status ? error.text : "a probe of the simulated machine");
    if (status)
        return;
    check(score, probed.ncaches == 2, "it finds two caches");
    check(score, is(&probed.caches[0].size, 16384), "the first has 16K");
    check(score, is(&probed.caches[0].line, 64), "lines of 64");
    check(score, is(&probed.caches[0].ways, 4), "and 4 ways");
    check(score, probed.ntlbs == 1 && is(&probed.tlbs[0].entries, 32),
          "it finds a TLB of 32 entries");
    strata_probed_release(&probed);
}

static void test_probe_timing(struct score *score)
{
    struct strata_error error = {0};
    struct strata_probe_options options = {.budget = 1, .cpu = -1};
    struct strata_probed probed;
    int status = strata_probe(&options, &probed, &error);
    check(score, !status, status ? error.text : "a probe by the clock ends");
    if (status)
        return;
    const struct strata_value *latency = &probed.caches[0].latency_cycles;
    bool told = latency->known ? latency->value > 0 : *latency->why != 0;
    check(score, probed.ncaches == 0 || told, "the first cache has a latency, or a reason");
    strata_probed_release(&probed);
}

int main(void)
{
    struct score score = {0, 0};
    struct strata_machine machine = small_machine();
    test_machine(&score, &machine);
    test_sim(&score, &machine);
    test_analysis(&score, &machine);
    test_probe_simulated(&score, &machine);
    test_probe_timing(&score);
    printf("%d passed, %d failed\n", score.passed, score.failed);
    return score.failed != 0;
}
