/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Logs of trials and their replay: what is served in which order and what is refused; that
 * a probe of a noisy machine and its replay end alike; and that files with something wrong
 * in them are refused with the place. */
#include "test_sim_machine.h"

#include "core/file.h"
#include "dataset/dataset.h"
#include "run/runner.h"

#include <math.h>
#include <stdlib.h>
#include <strata/probe.h>
#include <string.h>

static const char small[] = "tests/data/fuzz_trials/small.json";

static struct dataset *read_small(void)
{
    struct strata_error error;
    struct dataset *data = NULL;
    if (dataset_read(small, &data, &error))
        fail_msg("%s", error.text);
    assert_non_null(data->trials);
    return data;
}

/* gap(9, 4096, o) and cache(1024, 8), as small.json has them for o == 0. */
static struct refs gap(uint64_t o)
{
    return (struct refs){.call = {.name = "gap", .n = 4, .given = {64, 9, 4096, o}}};
}

static struct refs cache(void)
{
    return (struct refs){.call = {.name = "cache", .n = 3, .given = {64, 1024, 8}}};
}

static void assert_walk(struct runner *runner, struct refs refs, double cycles, double us,
                        int cpu)
{
    struct trial trial = {.cycles = -1};
    assert_int_equal(runner_walk(runner, BASE_PAGES, &refs, &trial), 0);
    assert_true(trial.cycles == cycles);
    assert_true(fabs(runner_clock(runner) - us * 1e-6) < 1e-12);
    assert_int_equal(runner->cpu, cpu);
}

static void in_order_then_again(void **state)
{
    (void)state;
    struct dataset *data = read_small();
    struct runner *runner;
    assert_int_equal(runner_replay(&runner, data->trials, data->cycle_ns, NULL), 0);
    assert_int_equal(runner->ground[BASE_PAGES].bytes, 1 << 20);
    assert_true(runner->cycle_ns == 0.5);
    assert_walk(runner, gap(0), 4.25, 120, 1);
    assert_walk(runner, gap(0), 4.5, 120 + 110, 0); /* as long as it took then */
    assert_walk(runner, gap(0), 4.25, 120 + 110 + 120, 1);
    assert_walk(runner, cache(), 5, 120 + 110 + 120 + 180, 1);
    assert_int_equal(runner->trials, 5); /* one was repeated */
    assert_int_equal(runner->disturbed, 2);
    assert_int_equal(runner->visits, 3 * 512 + 600);
    assert_true(runner_leave(runner));
    assert_false(runner_leave(runner));
    assert_false(runner_leave(runner));
    runner_release(runner);
    dataset_release(data);
}

static void nothing_is_guessed(void **state)
{
    (void)state;
    struct dataset *data = read_small();
    struct runner *runner;
    struct trial trial = {.cycles = -1};
    struct refs other = gap(8), same = gap(0);
    assert_int_equal(runner_replay(&runner, data->trials, data->cycle_ns, NULL), 0);
    assert_int_equal(runner_walk(runner, BASE_PAGES, &other, &trial), WALK_REFUSED);
    assert_int_equal(runner_walk(runner, HUGE_PAGES, &same, &trial), WALK_REFUSED);
    assert_int_equal(runner->not_logged, 2);
    assert_true(runner_clock(runner) == 0);
    runner_release(runner);
    dataset_release(data);
}

/* Two levels and a dirty clock. */
static struct strata_machine noisy(void)
{
    struct strata_machine machine = machine_empty();
    machine_add_cache(&machine, 1, 16, 4);
    machine_add_cache(&machine, 2, 128, 8);
    machine.noise =
        (struct strata_noise){.jitter = 0.02, .spikes = 0.02, .spike_cycles = 50000};
    return machine;
}

static void probe(const struct strata_probe_options *options, struct strata_probed *probed)
{
    struct strata_error error;
    if (strata_probe(options, probed, &error))
        fail_msg("%s", error.text);
}

static void assert_same_answers(struct strata_probed *a, struct strata_probed *b)
{
    assert_int_equal(a->ncaches, b->ncaches);
    assert_int_equal(a->ntlbs, b->ntlbs);
    assert_memory_equal(a->caches, b->caches, sizeof a->caches);
    assert_memory_equal(a->tlbs, b->tlbs, sizeof a->tlbs);
    assert_memory_equal(&a->memory_cycles, &b->memory_cycles, sizeof a->memory_cycles);
    assert_int_equal(a->accesses, b->accesses);
    assert_true(a->busy == b->busy);
    assert_int_equal(a->seed, b->seed);
    assert_string_equal(a->name, b->name);
}

static void answers_are_the_same(void **state)
{
    (void)state;
    struct strata_machine machine = noisy();
    struct strata_probed first, second;
    struct strata_probe_options options = {
        .machine = &machine, .seed = 42, .cpu = -1, .log = true};
    probe(&options, &first);
    const struct trials *log = first.data->trials;
    assert_true(log->nwalks > 100);
    for (size_t i = 0; i < log->nstrings; i++)
        if (!*log->strings[i].name) /* every generator has to say what it made */
            fail_msg("strings[%zu] has no name", i);
    options = (struct strata_probe_options){.replay = first.data, .log = true};
    probe(&options, &second);
    assert_string_equal(second.source, "replay");
    assert_same_answers(&first, &second);
    assert_int_equal(second.data->trials->nwalks, log->nwalks);
    for (size_t i = 0; i < log->nwalks; i++)
        assert_true(second.data->trials->walks[i].us == log->walks[i].us &&
                    second.data->trials->walks[i].cycles == log->walks[i].cycles);
    strata_probed_release(&second);
    strata_probed_release(&first);
}

/* How many answers there are; the others must have a reason. */
static int known_answers(const struct strata_probed *probed)
{
    int n = probed->memory_cycles.known;
    for (int i = 0; i < probed->ncaches; i++) {
        const struct strata_probed_cache *cache = &probed->caches[i];
        const struct strata_value *const values[] = {&cache->size, &cache->line,
                                                     &cache->effective_line, &cache->ways,
                                                     &cache->latency_cycles};
        for (size_t j = 0; j < sizeof values / sizeof *values; j++) {
            assert_true(values[j]->known || *values[j]->why);
            n += values[j]->known;
        }
    }
    return n;
}

/* A log that ends in the middle: what it has not is not known, with a reason. */
static void a_part_of_a_log(void **state)
{
    (void)state;
    struct strata_machine machine = noisy();
    struct strata_probed first, second;
    struct strata_probe_options options = {
        .machine = &machine, .seed = 42, .cpu = -1, .log = true};
    probe(&options, &first);
    first.data->trials->nwalks /= 4;
    options = (struct strata_probe_options){.replay = first.data};
    probe(&options, &second);
    assert_true(known_answers(&second) < known_answers(&first));
    bool said = false;
    for (int i = 0; i < second.nnotes; i++)
        said |= strstr(second.notes[i], "not in the log") != NULL;
    assert_true(said);
    strata_probed_release(&second);
    strata_probed_release(&first);
}

static void no_trials(void **state)
{
    (void)state;
    struct dataset *data = dataset_create();
    struct strata_probed probed;
    struct strata_error error = {0};
    struct strata_probe_options options = {.replay = data};
    assert_int_equal(strata_probe(&options, &probed, &error), STRATA_BAD_INPUT);
    assert_non_null(strstr(error.text, "--log"));
    dataset_release(data);
}

/* One text of the file replaced by another. */
static const struct {
    const char *from, *to, *error;
} wrong[] = {
    {"\"page\":4096", "\"page\":4095", "ground[0]: no pages of 4095 bytes fill 1048576"},
    {"\"page\":4096", "\"page\":0", "ground[0]"},
    {"1048576}", "1048577}", "fill 1048577"},
    {"\"bytes\":0}", "\"bytes\":\"0\"}", "ground[1] must have whole numbers"},
    {"15.0", "-1", "\"budget\" must be a number above 0, or null"},
    {"\"cpu\":1", "\"cpu\":-2", "\"cpu\" must be numbers"},
    {"\"guest\":true", "\"guest\":1", "true or false"},
    {"[\"cache\",0,64", "[\"cache\",2,64", "strings[1] must have a name, an arena"},
    {"[\"cache\",0,64", "[\"cache\",0,6.4", "strings[1][2] must be a whole number"},
    {"[\"cache\",0,64,1024,8]", "[\"gap\",0,64,9,4096,0]", "strings[1] is there twice"},
    {"[1,1,300", "[2,1,300", "walks[1] must be [string, cpu"},
    {"[1,1,300", "[1,1,100", "walks[1] must be"}, /* the time goes back */
    {"5.0,600", "-5.0,600", "walks[1] must be"},
    {"600,1,1]", "600,1,2]", "walks[1] must be"},
    {"600,1,1]", "600,1]", "walks[1] must be"},
    {"\"leaves\":[1,0]", "\"leaves\":[1,2]", "leaves[1] must be 0 or 1"},
    {"\"leaves\":[1,0]", "\"leaves\":1", "\"leaves\" must be an array"},
};

static void wrong_logs(void **state)
{
    (void)state;
    char *text;
    size_t size;
    assert_int_equal(read_file(small, 0, &text, &size, NULL), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char changed[2048];
        struct dataset *data = NULL;
        struct strata_error error = {0};
        const char *at = strstr(text, wrong[i].from);
        assert_non_null(at);
        int n = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text,
                         wrong[i].to, at + strlen(wrong[i].from));
        assert_int_equal(dataset_parse("x.json", changed, (size_t)n, &data, &error),
                         STRATA_BAD_INPUT);
        if (!strstr(error.text, wrong[i].error) || !strstr(error.text, "x.json: trials: "))
            fail_msg("\"%s\" does not say: %s", error.text, wrong[i].error);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_order_then_again),
        cmocka_unit_test(nothing_is_guessed),
        cmocka_unit_test(answers_are_the_same),
        cmocka_unit_test(a_part_of_a_log),
        cmocka_unit_test(no_trials),
        cmocka_unit_test(wrong_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
