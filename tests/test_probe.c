/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata_probe() on small simulated machines, with a clean clock and with a dirty one:
 * what it finds must be what the machine has. Each machine is probed once, before the
 * tests, which then look at one kind of answer each. STRATA_FULL=1 probes with more seeds.
 *
 * The last tests are about how a probe ends: stopped, out of time, saved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../bench/score.h"
#include "dataset/dataset.h"
#include "test_values.h"

#include <sched.h>
#include <stdlib.h>
#include <strata/error.h>

/* 64K pages, odd numbers of ways; few entries, so that all is small. */
static const char few_large_pages[] =
    "[machine]\nname = few large pages\npage = 64K\nfrequency = 1000M\n"
    "mapping = contiguous\n"
    "[cache L1d]\nlevel = 1\nkind = data\nsize = 12K\nline = 64\nways = 3\nlatency = 2\n"
    "[cache L2]\nlevel = 2\nkind = unified\nsize = 160K\nline = 64\nways = 5\n"
    "latency = 14\n"
    "[tlb L1d]\nlevel = 1\nkind = data\nentries = 24\nways = full\n"
    "[walk]\nlatency = 25\n[memory]\nlatency = 120\n";

/* Random pages and huge ones, lines that grow outwards, a TLB with sets. */
static const char growing_lines[] =
    "[machine]\nname = growing lines\npage = 4K\nhuge = 2M\nfrequency = 1000M\n"
    "mapping = random\n"
    "[cache L1d]\nlevel = 1\nkind = data\nsize = 16K\nline = 32\nways = 4\nlatency = 3\n"
    "policy = plru\n"
    "[cache L2]\nlevel = 2\nkind = unified\nsize = 256K\nline = 128\nways = 8\n"
    "latency = 15\nindex = physical\n"
    "[tlb L1d]\nlevel = 1\nkind = data\nentries = 40\nways = 4\n"
    "[tlb L1d2M]\nlevel = 1\nkind = data\nentries = 12\nways = full\npage = 2M\n"
    "[walk]\nlatency = 30\n[memory]\nlatency = 130\n";

static const struct strata_noise dirty = {
    .jitter = 0.02, .spikes = 0.01, .spike_cycles = 50000, .timer_ns = 1000};

/* What is probed. Other seeds on other machines, so that luck with one shows. Sanitizers
 * are slow and look for other things than right answers: the first two are enough for them.
 */
static const struct probed_case {
    const char *file, *text;
    bool dirty;
    uint64_t seed;
} cases[] = {
    {"few-large-pages", few_large_pages, false, 1},
    {"growing-lines", growing_lines, true, 5},
#ifndef __SANITIZE_ADDRESS__
    {"machines/arm926ej-s.machine", NULL, true, 4},
    {"machines/ibm-cell-ps3.machine", NULL, false, 6},
#endif
};
enum { CASES = sizeof cases / sizeof *cases, FULL_SEEDS = 5 };

static struct result {
    struct strata_machine machine;
    struct strata_probed probed;
    struct score score;
} results[CASES];

static struct score total; /* of all, and with STRATA_FULL of more seeds */

static void read_machine(const struct probed_case *c, struct strata_machine *machine)
{
    struct strata_error error;
    int status = c->text ? strata_machine_parse(c->file, c->text, machine, &error)
                         : strata_machine_read(c->file, machine, &error);
    if (status)
        fail_msg("%s", error.text);
    if (c->dirty)
        machine->noise = dirty;
}

static void probe_case(const struct probed_case *c, uint64_t seed, struct result *result)
{
    struct strata_error error;
    read_machine(c, &result->machine);
    struct strata_probe_options options = {
        .machine = &result->machine, .seed = seed, .cpu = -1};
    if (strata_probe(&options, &result->probed, &error))
        fail_msg("%s: %s", c->file, error.text);
    score_probe(&result->score, &result->machine, &result->probed);
    score_add(&total, &result->score);
    if (*result->score.wrongs)
        print_message("%s, %s clock, seed %d:\n%s", c->file, c->dirty ? "dirty" : "clean",
                      (int)seed, result->score.wrongs);
}

static int probe_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++)
        probe_case(&cases[i], cases[i].seed, &results[i]);
    for (uint64_t seed = 11; getenv("STRATA_FULL") && seed < 11 + FULL_SEEDS; seed++)
        for (size_t i = 0; i < CASES; i++) {
            struct result more;
            probe_case(&cases[i], seed, &more);
            strata_probed_release(&more.probed);
        }
    return 0;
}

static int release_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++)
        strata_probed_release(&results[i].probed);
    return 0;
}

/* All of a kind are told, and told right. */
static void assert_all_right(enum parameter parameter)
{
    for (size_t i = 0; i < CASES; i++) {
        const struct score *score = &results[i].score;
        if (score->wrong[parameter] || score->null[parameter] || !score->right[parameter])
            fail_msg("%s of %s, seed %d: %d right, %d wrong, %d not told",
                     parameter_names[parameter], cases[i].file, (int)cases[i].seed,
                     score->right[parameter], score->wrong[parameter],
                     score->null[parameter]);
    }
}

static void finds_every_cache(void **state)
{
    (void)state;
    assert_all_right(CACHE_LEVELS);
}

static void finds_the_first_cache_exactly(void **state)
{
    (void)state;
    assert_all_right(L1_SIZE);
    assert_all_right(L1_WAYS);
}

static void finds_every_line_exactly(void **state)
{
    (void)state;
    assert_all_right(LINE);
}

static void finds_effective_capacities(void **state)
{
    (void)state;
    assert_all_right(EFFECTIVE);
}

static void finds_latencies(void **state)
{
    (void)state;
    assert_all_right(LATENCY);
}

static void finds_every_tlb_exactly(void **state)
{
    (void)state;
    assert_all_right(TLB_LEVELS);
    assert_all_right(ENTRIES);
    assert_all_right(TLB_WAYS);
}

static void finds_penalties(void **state)
{
    (void)state;
    assert_all_right(PENALTY);
}

/* Sizes and ways behind the first cache may be null, but not wrong. Where there are huge
 * pages they are told. */
static void does_not_guess(void **state)
{
    (void)state;
    assert_int_equal(total.wrong[OUTER_SIZE], 0);
    assert_int_equal(total.wrong[OUTER_WAYS], 0);
    for (size_t i = 0; i < CASES; i++)
        if (results[i].machine.huge) {
            assert_int_equal(results[i].score.null[OUTER_SIZE], 0);
            assert_int_equal(results[i].score.null[OUTER_WAYS], 0);
        }
}

/* Of the answers given at 0.95 or more, at least 95 in 100 are right. */
static void confidence_means_something(void **state)
{
    (void)state;
    int right = total.band_right[BANDS - 1], all = total.band_all[BANDS - 1];
    assert_true(all >= 5 * CASES);
    if (right < 0.95 * all)
        fail_msg("%d of %d answers given at 0.95 or more are right", right, all);
}

static void answers_have_intervals_or_reasons(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++)
        each_value(&results[i].probed, check_value);
}

static void answers_have_provenance(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        const struct strata_probed *probed = &results[i].probed;
        assert_string_equal(probed->name, results[i].machine.name);
        assert_string_equal(probed->source, "sim");
        assert_string_equal(probed->method, "timing");
        assert_int_equal(probed->page, results[i].machine.page);
        assert_int_equal(probed->huge, results[i].machine.huge);
        assert_int_equal(probed->cpu, -1);
        assert_int_equal(probed->seed, cases[i].seed);
        assert_true(probed->busy == 0);
        assert_non_null(dataset_find(probed->data, "cache"));
        assert_non_null(dataset_find(probed->data, "tlb1"));
    }
}

static size_t observations(const struct strata_probed *probed)
{
    size_t n = 0;
    for (size_t i = 0; i < probed->data->nseries; i++) {
        const struct series *series = probed->data->series[i];
        for (size_t j = 0; j < series->npoints; j++)
            n += series->points[j].n;
    }
    return n;
}

/* Agrees as the table shows it: counts exactly, times to a cycle or a twentieth, usable
 * sizes to the next point of the grid. */
static void assert_agree(const struct strata_probed *a, const struct strata_probed *b)
{
    assert_int_equal(a->ncaches, b->ncaches);
    assert_int_equal(a->ntlbs, b->ntlbs);
    for (int i = 0; i < a->ncaches; i++) {
        const struct strata_probed_cache *x = &a->caches[i], *y = &b->caches[i];
        double ratio = x->effective.value / y->effective.value;
        assert_true(x->line.known && y->line.known);
        assert_true(x->line.value == y->line.value);
        assert_true(ratio > 0.8 && ratio < 1.25);
        assert_true(fabs(x->latency_cycles.value - y->latency_cycles.value) <=
                    fmax(1, x->latency_cycles.value / 20));
    }
    assert_true(a->caches[0].size.value == b->caches[0].size.value);
    assert_true(a->caches[0].ways.value == b->caches[0].ways.value);
    for (int i = 0; i < a->ntlbs; i++) {
        assert_true(a->tlbs[i].entries.value == b->tlbs[i].entries.value);
        assert_true(a->tlbs[i].ways.value == b->tlbs[i].ways.value);
    }
}

/* A walk for huge pages, or for base pages, may be the shorter one: both are said, and no
 * TLB is made up for that. */
static void a_saved_machine_has_a_walk_for_each_page_size(void **state)
{
    (void)state;
    struct strata_probed probed = results[0].probed;
    struct strata_machine saved;
    struct strata_error error;
    const struct strata_value entries = {.known = true, .value = 64}, unknown = {0},
                              shorter = {.known = true, .value = 30},
                              longer = {.known = true, .value = 50};
    const struct {
        struct strata_value base, huge;
        uint32_t walk, huge_walk;
    } walks[] = {{longer, shorter, 50, 30}, {shorter, longer, 30, 50},
                 {longer, longer, 50, 0},   {longer, unknown, 50, 0},
                 {unknown, longer, 50, 0},  {unknown, unknown, 1, 0}};
    probed.huge = 2 << 20;
    probed.ntlbs = 2;
    for (size_t c = 0; c < sizeof walks / sizeof *walks; c++) {
        for (int i = 0; i < 2; i++)
            probed.tlbs[i] = (struct strata_probed_tlb){
                .level = 1,
                .page = i ? probed.huge : probed.page,
                .entries = entries,
                .ways = entries,
                .penalty_cycles = i ? walks[c].huge : walks[c].base};
        assert_int_equal(strata_probed_machine(&probed, &saved, &error), 0);
        assert_int_equal(saved.walk_latency, walks[c].walk);
        assert_int_equal(saved.walk_huge_latency, walks[c].huge_walk);
        assert_int_equal(saved.ntlbs, 2);
        assert_int_equal(saved.branch.present, 1); /* assumed */
    }
}

/* What was usable becomes the size: with eight ways, 416K would have 832 sets. */
static void a_saved_machine_has_a_power_of_two_of_sets(void **state)
{
    (void)state;
    static const struct {
        double effective; /* bytes */
        uint32_t ways;
    } usable[] = {
        {416 << 10, 13}, {512 << 10, 8}, {448 << 10, 14}, {432 << 10, 27}, {97 << 10, 8}};
    struct strata_machine saved;
    struct strata_error error;
    for (size_t i = 0; i < sizeof usable / sizeof *usable; i++) {
        struct strata_probed probed = results[0].probed;
        probed.caches[1].size = probed.caches[1].ways = (struct strata_value){0};
        probed.caches[1].line = (struct strata_value){.known = true, .value = 64};
        probed.caches[1].effective.value = usable[i].effective;
        assert_int_equal(strata_probed_machine(&probed, &saved, &error), 0);
        assert_int_equal(saved.caches[1].size, usable[i].effective);
        assert_int_equal(saved.caches[1].ways, usable[i].ways);
    }
}

static void a_saved_machine_probes_alike(void **state)
{
    (void)state;
    struct strata_machine saved;
    struct strata_probed again;
    struct strata_error error;
    assert_int_equal(strata_probed_machine(&results[0].probed, &saved, &error), 0);
    assert_string_equal(saved.name, results[0].probed.name);
    struct strata_probe_options options = {.machine = &saved, .cpu = -1};
    assert_int_equal(strata_probe(&options, &again, &error), 0);
    assert_agree(&results[0].probed, &again);
    strata_probed_release(&again);
}

/* Asks to stop when the probe comes to a part, or at once. */
struct stopper {
    const char *part;
    int calls, after; /* calls since it asked */
    double most;
};

static int stop_at(void *context, double done, const char *what)
{
    struct stopper *stopper = context;
    assert_true(done >= 0 && done <= 1);
    assert_non_null(what);
    stopper->most = fmax(stopper->most, done);
    stopper->calls++;
    stopper->after += stopper->after > 0;
    if (!stopper->after && (!stopper->part || strcmp(what, stopper->part) == 0))
        stopper->after = 1;
    return stopper->after > 0;
}

static bool noted(const struct strata_probed *probed, const char *text)
{
    for (int i = 0; i < probed->nnotes; i++)
        if (strstr(probed->notes[i], text))
            return true;
    return false;
}

static void a_probe_can_be_stopped(void **state)
{
    (void)state;
    static const char *const parts[] = {NULL, "caches", "TLBs"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct stopper stopper = {.part = parts[i]};
        struct strata_probe_options options = {.machine = &results[0].machine,
                                               .cpu = -1,
                                               .progress = stop_at,
                                               .context = &stopper};
        struct strata_probed probed;
        struct strata_machine machine;
        struct strata_error error = {0};
        assert_int_equal(strata_probe(&options, &probed, &error), 0);
        assert_true(stopper.after > 0 && stopper.most < 0.9);
        assert_true(noted(&probed, "stopped early"));
        assert_true(observations(&probed) < observations(&results[0].probed));
        each_value(&probed, check_value);
        /* What is known is saved: from the first look at the caches on. */
        bool looked = parts[i] && strcmp(parts[i], "TLBs") == 0;
        assert_int_equal(probed.ncaches > 0, looked);
        assert_int_equal(probed.memory_cycles.known, looked);
        assert_int_equal(strata_probed_machine(&probed, &machine, &error),
                         looked ? STRATA_OK : STRATA_FAILED);
        assert_true(looked || strstr(error.text, "stopped"));
        strata_probed_release(&probed);
        assert_null(probed.data);
    }
}

/* However slow this machine is: with little time there are fewer observations, and what is
 * missing has a reason. */
static void a_budget_is_heeded(void **state)
{
    (void)state;
    static const double budgets[] = {1e-6, 0.01, 0.3};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        struct strata_probe_options options = {
            .machine = &results[0].machine, .cpu = -1, .budget = budgets[i]};
        struct strata_probed probed;
        struct strata_error error = {0};
        assert_int_equal(strata_probe(&options, &probed, &error), 0);
        assert_true(observations(&probed) < observations(&results[0].probed));
        each_value(&probed, check_value);
        strata_probed_release(&probed);
    }
}

static void this_thread_is_left_as_it_was(void **state)
{
    (void)state;
    cpu_set_t before, after;
    struct stopper stopper = {.part = NULL};
    struct strata_probe_options options = {
        .cpu = -1, .progress = stop_at, .context = &stopper};
    struct strata_probed probed;
    struct strata_error error;
    if (sched_getaffinity(0, sizeof before, &before))
        skip();
    assert_int_equal(strata_probe(&options, &probed, &error), 0);
    assert_string_equal(probed.source, "timing");
    assert_true(probed.cpu < 0 || CPU_ISSET(probed.cpu, &before));
    assert_true(probed.cycle_ns > 0);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    strata_probed_release(&probed);
}

static void a_processor_that_is_not_there_is_refused(void **state)
{
    (void)state;
    struct strata_probe_options options = {.cpu = CPU_SETSIZE};
    struct strata_probed probed;
    struct strata_error error;
    assert_int_equal(strata_probe(&options, &probed, &error), STRATA_BAD_INPUT);
    assert_non_null(strstr(error.text, "cpu 1024"));
    assert_null(probed.data);
    assert_int_equal(strata_probe(&options, &probed, NULL), STRATA_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_cache),
        cmocka_unit_test(finds_the_first_cache_exactly),
        cmocka_unit_test(finds_every_line_exactly),
        cmocka_unit_test(finds_effective_capacities),
        cmocka_unit_test(finds_latencies),
        cmocka_unit_test(finds_every_tlb_exactly),
        cmocka_unit_test(finds_penalties),
        cmocka_unit_test(does_not_guess),
        cmocka_unit_test(confidence_means_something),
        cmocka_unit_test(answers_have_intervals_or_reasons),
        cmocka_unit_test(answers_have_provenance),
        cmocka_unit_test(a_saved_machine_has_a_walk_for_each_page_size),
        cmocka_unit_test(a_saved_machine_has_a_power_of_two_of_sets),
        cmocka_unit_test(a_saved_machine_probes_alike),
        cmocka_unit_test(a_probe_can_be_stopped),
        cmocka_unit_test(a_budget_is_heeded),
        cmocka_unit_test(this_thread_is_left_as_it_was),
        cmocka_unit_test(a_processor_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, probe_all, release_all);
}
