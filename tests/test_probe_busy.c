/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata_probe() with little time, as on a busy machine: every latency, what is usable of
 * every cache and the first TLB have an answer all the same, with an interval that holds
 * the truth, and there is a machine to save. And where what shares a cache smears its
 * plateau, so that a level may be lost, the confidence of the number of levels says so.
 *
 * The runners here stand in for the simulated one. The first walks a simulated machine, and
 * its clock counts visits: what a test gets done does not depend on how busy the machine is
 * that it runs on. The second walks nothing: its costs are a curve, times noise. */
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
#include "test_values.h"

#include <string.h>

#ifdef __SANITIZE_ADDRESS__ /* slow, and it looks for other things than right answers */
enum { SEEDS = 4 };
#else
enum { SEEDS = 12 };
#endif
enum { MOST_STEPS = 4, FULL_SEEDS = 200 };

/* A curve: plateaus, and from begins[i] to ends[i] the rise to the next one. */
struct landscape {
    int levels;
    double begins[MOST_STEPS], ends[MOST_STEPS], costs[MOST_STEPS + 1];
    double smeared; /* how much of one of the plateaus, 0..1, has become a rise */
    double noise;
};

static double pace;                   /* seconds that a visit takes, of the first runner */
static const struct landscape *curve; /* of the second; NULL: the first */

struct busy {
    struct runner runner, *walked;
    struct rng rng;
};

static double cost_at(const struct landscape *l, double bytes)
{
    double cost = l->costs[0];
    for (int i = 0; i < l->levels; i++) {
        double done = log2(bytes / l->begins[i]) / log2(l->ends[i] / l->begins[i]);
        cost *= pow(l->costs[i + 1] / l->costs[i], fmin(1, fmax(0, done)));
    }
    return cost;
}

static int walk_busy(struct runner *runner, enum arena arena, const struct refs *refs,
                     struct trial *trial)
{
    struct busy *b = (struct busy *)runner;
    int status = 0;
    if (b->walked) {
        status = runner_walk(b->walked, arena, refs, trial);
        runner->visits = b->walked->visits;
        return status;
    }
    double noise = curve->noise * -log(1 - rng_unit(&b->rng));
    *trial = (struct trial){cost_at(curve, 64 * (double)refs->n) * (1 + noise), false};
    runner->visits += 2 * refs->n + 1000;
    return 0;
}

static double clock_busy(struct runner *runner)
{
    return pace * (double)runner->visits;
}

static void release_busy(struct runner *runner)
{
    runner_release(((struct busy *)runner)->walked);
    free(runner);
}

int runner_simulated(struct runner **runner, const struct strata_machine *machine,
                     uint64_t seed, uint64_t bytes, uint64_t huge_bytes,
                     struct strata_error *error)
{
    static const struct runner_ops ops = {
        .walk = walk_busy, .clock = clock_busy, .release = release_busy};
    struct busy *b = calloc(1, sizeof *b);
    assert_non_null(b);
    if (!curve && runner_of_one(&b->walked, machine, seed, bytes, huge_bytes, error))
        fail_msg("%s", error->text);
    b->runner = (struct runner){
        .ground = {{.page = machine->page, .bytes = bytes, .line = 64}},
        .cycle_ns = 0.5,
        .tick_ns = 1,
        .simulated = true,
        .until = INFINITY,
    };
    if (b->walked)
        b->runner = *b->walked;
    b->runner.ops = &ops;
    b->rng.state = mix64(seed);
    *runner = &b->runner;
    return 0;
}

static struct strata_probed probe(const struct strata_machine *machine, uint64_t seed,
                                  double budget)
{
    struct strata_probe_options options = {
        .machine = machine, .seed = seed, .cpu = -1, .budget = budget};
    struct strata_probed probed;
    struct strata_error error;
    if (strata_probe(&options, &probed, &error))
        fail_msg("%s", error.text);
    return probed;
}

static const char three_levels[] =
    "[machine]\nname = busy\npage = 4K\nfrequency = 1000M\nmapping = contiguous\n"
    "[cache L1d]\nlevel = 1\nkind = data\nsize = 16K\nline = 64\nways = 8\nlatency = 4\n"
    "[cache L2]\nlevel = 2\nkind = unified\nsize = 64K\nline = 64\nways = 8\n"
    "latency = 12\n"
    "[cache L3]\nlevel = 3\nkind = unified\nsize = 512K\nline = 64\nways = 8\n"
    "latency = 40\n"
    "[tlb L1d]\nlevel = 1\nkind = data\nentries = 48\nways = full\n"
    "[walk]\nlatency = 9\n[memory]\nlatency = 120\n";

static void holds(const char *what, const struct strata_value *value, double truth)
{
    if (!value->known)
        fail_msg("%s: %s", what, value->why);
    if (truth < value->low || truth > value->high)
        fail_msg("%s: %g is not in %g to %g", what, truth, value->low, value->high);
}

static void saves(const struct strata_probed *probed)
{
    struct strata_machine machine;
    struct strata_error error;
    if (probed->ncaches && strata_probed_machine(probed, &machine, &error))
        fail_msg("%s", error.text);
}

/* From the time for a first look on. The least is a thirtieth of what a whole probe of this
 * machine takes. */
static void little_time_is_enough_for_an_answer(void **state)
{
    static const double times[] = {1, 2};
    struct strata_machine machine;
    struct strata_error error;
    (void)state;
    curve = NULL;
    pace = 1e-7;
    assert_int_equal(strata_machine_parse("busy", three_levels, &machine, &error), 0);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct strata_probed probed = probe(&machine, i + 1, times[i]);
        each_value(&probed, check_value);
        assert_int_equal(probed.ncaches, 3);
        assert_true(probed.levels.known && probed.levels.value == 3);
        for (int j = 0; j < 3; j++) {
            holds("usable", &probed.caches[j].effective, (double)machine.caches[j].size);
            holds("latency", &probed.caches[j].latency_cycles, machine.caches[j].latency);
        }
        holds("memory", &probed.memory_cycles, 120);
        assert_true(probed.ntlbs > 0);
        holds("entries", &probed.tlbs[0].entries, 48);
        holds("penalty", &probed.tlbs[0].penalty_cycles, 9);
        saves(&probed);
        strata_probed_release(&probed);
    }
}

static const struct strata_machine flat = {.name = "flat", .page = 4096};

/* Levels at least a factor of four apart in size, and of two in time; the rises take less
 * than an octave. A neighbour that takes now more, now less of a level behind the first
 * makes its rise begin earlier, at the worst where that of the level before ends. */
static struct landscape random_landscape(struct rng *rng)
{
    struct landscape l = {.levels = 2 + (int)rng_below(rng, 2),
                          .noise = 0.1 * rng_unit(rng) * rng_unit(rng),
                          .smeared = rng_unit(rng) < 0.5 ? 0 : rng_unit(rng)};
    double end = 16384 * exp2(2 * rng_unit(rng)), cost = 4;
    int smeared = 1 + (int)rng_below(rng, (uint64_t)l.levels - 1);
    for (int i = 0; i <= l.levels; i++) {
        l.costs[i] = cost;
        cost *= exp2(1 + 2 * rng_unit(rng));
    }
    for (int i = 0; i < l.levels; i++) {
        l.ends[i] = end;
        l.begins[i] = end / exp2(0.4);
        if (i == smeared)
            l.begins[i] /= pow(l.begins[i] / l.ends[i - 1], l.smeared);
        end *= exp2(2 + 3 * rng_unit(rng));
    }
    return l;
}

static void a_smeared_level_is_not_sure(void **state)
{
    uint64_t seeds = getenv("STRATA_FULL") ? FULL_SEEDS : SEEDS;
    int sure = 0, right = 0, found = 0;
    (void)state;
    pace = 1e-7;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct rng rng = {mix64(seed)};
        struct landscape l = random_landscape(&rng);
        curve = &l;
        struct strata_probed probed = probe(&flat, seed, 1);
        bool told = probed.levels.known && probed.levels.confidence >= 0.95;
        sure += told;
        right += told && probed.ncaches == l.levels;
        found += probed.ncaches == l.levels;
        if (told && probed.ncaches != l.levels)
            print_message("seed %d: %d levels at %.3f, %d there, %.2f of one smeared\n",
                          (int)seed, probed.ncaches, probed.levels.confidence, l.levels,
                          l.smeared);
        saves(&probed);
        strata_probed_release(&probed);
    }
    print_message("%d of %d sure, %d of these right; %d right of all\n", sure, (int)seeds,
                  right, found);
    assert_true(20 * right >= 19 * sure);
    assert_true(4 * sure >= (int)seeds); /* not by never being sure */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_time_is_enough_for_an_answer),
        cmocka_unit_test(a_smeared_level_is_not_sure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
