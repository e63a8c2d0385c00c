/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The runners. On a simulated machine without noise every string costs exactly what it is
 * meant to provoke; with noise the costs spread as the machine says. Of the clock of this
 * machine, only what holds however busy it is. */
#include "test_sim_machine.h"

#include "host/memory.h"
#include "run/runner.h"

#include <math.h>
#include <sched.h>

enum { ARENA = 16 << 20, LINE = 64, PAGE = 4096 };

enum { HOT = 4, NEXT = 20, MEMORY = 200, WALK = 30 }; /* cycles, of test_sim_machine.h */

/* L1 32K, 8 ways; L2 256K, 8 ways; 64 entries, fully associative. */
static struct strata_machine small(void)
{
    struct strata_machine machine = machine_empty();
    machine_add_cache(&machine, 1, 64, 8);
    machine_add_cache(&machine, 2, 512, 8);
    return machine;
}

static struct runner *simulate(const struct strata_machine *machine, uint64_t seed)
{
    struct runner *runner = NULL;
    struct strata_error error = {0};
    if (strata_machine_check(machine, &error) ||
        runner_simulated(&runner, machine, seed, ARENA, ARENA, &error))
        fail_msg("%s", error.text);
    return runner;
}

static double walk(struct runner *runner, const struct refs *refs)
{
    struct trial trial = {.cycles = -1, .disturbed = true};
    assert_int_equal(runner_walk(runner, BASE_PAGES, refs, &trial), 0);
    assert_false(trial.disturbed);
    return trial.cycles;
}

/* Cost of the cache-only string, the string anew each time. */
static double walk_cache(struct runner *runner, struct rng *rng, uint64_t bytes)
{
    struct refs refs = {0};
    assert_int_equal(refs_cache(&refs, &runner->ground[BASE_PAGES], rng, bytes, 8), 0);
    double cycles = walk(runner, &refs);
    refs_release(&refs);
    return cycles;
}

static void assert_same(double value, double wanted)
{
    if (fabs(value - wanted) > 1e-9 * wanted)
        fail_msg("%.12g is not %.12g", value, wanted);
}

static void assert_between(double value, double low, double high)
{
    if (!(value >= low && value <= high))
        fail_msg("%.12g is not in %.12g..%.12g", value, low, high);
}

static void describes_the_machine(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    struct runner *runner = simulate(&machine, 1);
    assert_true(runner->simulated);
    assert_same(runner->cycle_ns, 1);
    assert_true(runner->tick_ns == 0);
    assert_int_equal(runner->ground[BASE_PAGES].page, PAGE);
    assert_int_equal(runner->ground[BASE_PAGES].bytes, ARENA);
    assert_int_equal(runner->ground[HUGE_PAGES].bytes, 0);
    assert_true(runner_clock(runner) >= 0);
    runner_release(runner);
    runner_release(NULL);
}

static void arenas_are_whole_pages(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    struct strata_error error;
    struct runner *runner = NULL;
    machine.page = 16 << 10;
    machine.huge = 2 << 20;
    machine.frequency = 2500000000;
    assert_int_equal(
        runner_simulated(&runner, &machine, 1, ARENA + 5000, ARENA + PAGE, &error), 0);
    assert_int_equal(runner->ground[BASE_PAGES].bytes, ARENA);
    assert_int_equal(runner->ground[HUGE_PAGES].page, 2 << 20);
    assert_int_equal(runner->ground[HUGE_PAGES].bytes, ARENA);
    assert_same(runner->cycle_ns, 0.4);
    runner_release(runner);
}

static void levels_cost_what_they_cost(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    struct runner *runner = simulate(&machine, 1);
    struct rng rng = {1};
    assert_same(walk_cache(runner, &rng, 1 << 10), HOT);
    assert_same(walk_cache(runner, &rng, 32 << 10), HOT);
    assert_same(walk_cache(runner, &rng, 64 << 10), NEXT);
    assert_same(walk_cache(runner, &rng, 256 << 10), NEXT);
    assert_same(walk_cache(runner, &rng, 512 << 10), MEMORY);
    assert_same(walk_cache(runner, &rng, 8 << 20), MEMORY);
    runner_release(runner);
}

static void gaps_conflict_beyond_the_ways(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    struct runner *runner = simulate(&machine, 1);
    const struct ground *ground = &runner->ground[BASE_PAGES];
    struct refs refs = {0};
    struct rng rng = {1};
    assert_int_equal(refs_gap(&refs, ground, &rng, 8, PAGE, 0), 0);
    assert_same(walk(runner, &refs), HOT);
    assert_int_equal(refs_gap(&refs, ground, &rng, 9, PAGE, 0), 0);
    assert_same(walk(runner, &refs), NEXT);
    assert_int_equal(refs_gap(&refs, ground, &rng, 9, PAGE, LINE / 2), 0);
    assert_same(walk(runner, &refs), NEXT);
    assert_int_equal(refs_gap(&refs, ground, &rng, 9, PAGE, LINE), 0);
    assert_same(walk(runner, &refs), HOT);
    assert_int_equal(refs_gap_control(&refs, ground, &rng, 9, PAGE), 0);
    assert_same(walk(runner, &refs), HOT);
    refs_release(&refs);
    runner_release(runner);
}

/* One ring of the larger cache's set: it fits, but is never found in the smaller one. */
static void pressure_drives_out_of_the_smaller_cache(void **state)
{
    (void)state;
    enum { N = 8, M = 16 };
    struct strata_machine machine = small();
    struct runner *runner = simulate(&machine, 1);
    const struct ground *ground = &runner->ground[BASE_PAGES];
    struct refs refs = {0};
    struct rng rng = {1};
    uint64_t way = 32 << 10; /* of L2 */
    assert_int_equal(refs_gap_pressed(&refs, ground, &rng, N, way, 0, M, PAGE, way), 0);
    assert_same(walk(runner, &refs), NEXT);
    assert_int_equal(refs_gap_pressed(&refs, ground, &rng, N + 1, way, 0, M, PAGE, way), 0);
    assert_same(walk(runner, &refs), (MEMORY + M * NEXT) / (M + 1.0));
    assert_int_equal(refs_gap_pressed(&refs, ground, &rng, N + 1, way, LINE, M, PAGE, way),
                     0);
    assert_between(walk(runner, &refs), HOT, NEXT);
    refs_release(&refs);
    runner_release(runner);
}

static void pages_cost_a_walk_beyond_the_entries(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    machine_add_tlb(&machine, 1, 64, 64);
    struct runner *runner = simulate(&machine, 1);
    const struct ground *ground = &runner->ground[BASE_PAGES];
    struct refs refs = {0};
    struct rng rng = {1};
    assert_int_equal(refs_tlb(&refs, ground, &rng, 1, 64), 0);
    assert_same(walk(runner, &refs), HOT);
    assert_int_equal(refs_tlb(&refs, ground, &rng, 1, 65), 0);
    assert_same(walk(runner, &refs), HOT + WALK);
    assert_int_equal(refs_folded(&refs, ground, &rng, 65, 33), 0);
    assert_same(walk(runner, &refs), HOT);
    assert_int_equal(refs_folded(&refs, ground, &rng, 130, 65), 0);
    assert_same(walk(runner, &refs), HOT + WALK);
    refs_release(&refs);
    runner_release(runner);
}

/* Pages that are as far apart as a TLB has sets. */
static void rows_of_pages_conflict_beyond_the_ways(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    machine_add_tlb(&machine, 1, 64, 4);
    struct runner *runner = simulate(&machine, 1);
    const struct ground *ground = &runner->ground[BASE_PAGES];
    struct refs refs = {0};
    struct rng rng = {1};
    assert_int_equal(refs_tlb_gap(&refs, ground, &rng, 4, 16, 2), 0);
    assert_same(walk(runner, &refs), HOT);
    assert_int_equal(refs_tlb_gap(&refs, ground, &rng, 5, 16, 2), 0);
    assert_same(walk(runner, &refs), HOT + WALK);
    assert_int_equal(refs_tlb_gap(&refs, ground, &rng, 5, 8, 1), 0);
    assert_same(walk(runner, &refs), HOT);
    refs_release(&refs);
    runner_release(runner);
}

/* 16K and 16K that need 32K below the line size, and 16K in all from there on: in a cache
 * of 16K they miss, and then they do not. */
static void stripes_fit_from_the_line_size_on(void **state)
{
    (void)state;
    struct strata_machine machine = machine_empty();
    machine_add_cache(&machine, 1, 64, 4);
    struct runner *runner = simulate(&machine, 1);
    const struct ground *ground = &runner->ground[BASE_PAGES];
    struct refs refs = {0};
    struct rng rng = {1};
    for (uint64_t s = 16; s <= 256; s *= 2) {
        struct stripes stripes = {.s = s, .visits = 1};
        assert_int_equal(refs_line(&refs, ground, &rng, 16 << 10, &stripes, 8), 0);
        double cycles = walk(runner, &refs);
        if (s >= LINE)
            assert_same(cycles, HOT);
        else
            assert_true(cycles > 2 * HOT);
    }
    refs_release(&refs);
    runner_release(runner);
}

static void second_of_a_pair_hits_within_a_line(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    struct runner *runner = simulate(&machine, 1);
    const struct ground *ground = &runner->ground[BASE_PAGES];
    struct refs refs = {0};
    struct rng rng = {1};
    assert_int_equal(refs_pair(&refs, ground, &rng, 16 << 10, LINE / 2, true), 0);
    assert_same(walk(runner, &refs), (MEMORY + HOT) / 2.0);
    assert_int_equal(refs_pair(&refs, ground, &rng, 16 << 10, LINE, true), 0);
    assert_same(walk(runner, &refs), MEMORY);
    refs_release(&refs);
    runner_release(runner);
}

static void huge_pages_need_no_base_entries(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    struct trial trial;
    machine.huge = 2 << 20;
    machine_add_tlb(&machine, 1, 16, 16);
    machine_add_tlb(&machine, 1, 16, 16)->page = machine.huge;
    struct runner *runner = simulate(&machine, 1);
    struct refs refs = {0};
    struct rng rng = {1};
    struct ground spread = runner->ground[HUGE_PAGES];
    spread.page = PAGE; /* 64 base pages, within two huge ones at the most */
    assert_int_equal(refs_tlb(&refs, &spread, &rng, 1, 64), 0);
    assert_int_equal(runner_walk(runner, HUGE_PAGES, &refs, &trial), 0);
    assert_same(trial.cycles, HOT);
    assert_int_equal(runner_walk(runner, BASE_PAGES, &refs, &trial), 0);
    assert_same(trial.cycles, HOT + WALK);
    refs_release(&refs);
    runner_release(runner);
}

static void effort_and_trials_are_counted(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    struct runner *runner = simulate(&machine, 1);
    struct rng rng = {1};
    uint64_t before = 0;
    for (uint64_t i = 1; i <= 5; i++) {
        walk_cache(runner, &rng, 64 << 10);
        assert_int_equal(runner->trials, i);
        assert_true(runner->visits >= before + 2 * (64 << 10) / LINE);
        before = runner->visits;
    }
    assert_int_equal(runner->disturbed, 0);
    runner_release(runner);
}

/* With random replacement a string gets rid of what was there before lap by lap only: so
 * laps more or less show. */
static void a_ramp_warms_up_longer(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    machine.caches[0].policy = STRATA_RANDOM;
    struct runner *runner = simulate(&machine, 1);
    const struct ground *ground = &runner->ground[BASE_PAGES];
    struct refs refs = {0};
    struct rng rng = {1};
    double sum[2] = {0, 0};
    for (int i = 0; i < 40; i++) {
        walk_cache(runner, &rng, 512 << 10);
        assert_int_equal(refs_cache(&refs, ground, &rng, 28 << 10, 8), 0);
        refs.ramp = i % 2;
        sum[i % 2] += walk(runner, &refs) - HOT;
    }
    assert_true(sum[1] > 0);
    assert_true(sum[1] < 0.9 * sum[0]);
    refs_release(&refs);
    runner_release(runner);
}

/* Of a ring twice as long as a cache with random replacement a fifth is still there when
 * its turn comes again; under pressure, less than a hundredth. */
static void pressure_leaves_nothing_to_chance(void **state)
{
    (void)state;
    enum { BYTES = 80 << 10 };
    struct strata_machine machine = small();
    machine.caches[0].policy = STRATA_RANDOM;
    struct runner *runner = simulate(&machine, 1);
    const struct ground *ground = &runner->ground[BASE_PAGES];
    struct refs refs = {0};
    struct rng rng = {1};
    double hits = (NEXT - walk_cache(runner, &rng, BYTES)) / (NEXT - HOT);
    assert_between(hits, 0.05, 0.25);
    assert_int_equal(refs_sparse_pressed(&refs, ground, &rng, BYTES, 1, 8, 4), 0);
    hits = (NEXT - walk(runner, &refs)) / (NEXT - HOT);
    assert_between(hits, 0, 0.02);
    refs_release(&refs);
    runner_release(runner);
}

/* A ring that is longer than all that the machine remembers need not be walked whole; one
 * that only comes back to a few places must be. */
static void only_long_rings_are_forgotten(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    struct runner *runner = simulate(&machine, 1);
    const struct ground *ground = &runner->ground[BASE_PAGES];
    struct refs refs = {0};
    struct rng rng = {1};
    assert_int_equal(refs_sparse_pressed(&refs, ground, &rng, 128 << 10, 1, 8, 4), 0);
    assert_same(walk(runner, &refs), NEXT);
    assert_int_equal(refs_sparse_pressed(&refs, ground, &rng, 12 << 20, 1, 8, 2), 0);
    uint64_t before = runner->visits;
    assert_between(walk(runner, &refs), MEMORY, MEMORY + WALK);
    assert_true(runner->visits - before < refs.n);
    refs_release(&refs);
    runner_release(runner);
}

/* Mean and standard deviation of many trials of a string that costs HOT. */
static void sample(const struct strata_machine *machine, uint64_t seed, double *mean,
                   double *spread)
{
    enum { TRIALS = 1000 };
    struct runner *runner = simulate(machine, seed);
    struct rng rng = {seed};
    double sum = 0, squares = 0;
    for (int i = 0; i < TRIALS; i++) {
        double cycles = walk_cache(runner, &rng, 4 << 10);
        sum += cycles;
        squares += cycles * cycles;
    }
    *mean = sum / TRIALS;
    *spread = sqrt(fmax(0, squares / TRIALS - *mean * *mean));
    runner_release(runner);
}

/* A trial is the least of three runs, and so is the add that makes the unit: of three
 * normal numbers the least has a standard deviation of 0.748. */
static void jitter_spreads_the_trials(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    double mean, spread;
    machine.noise.jitter = 0.02;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        sample(&machine, seed, &mean, &spread);
        assert_between(mean / HOT, 0.99, 1.01);
        assert_between(spread / HOT, 0.9 * 0.748 * 0.02, 1.1 * 0.748 * 0.02);
    }
}

/* Every run is interrupted: a walk of 2048 visits and 8192 cycles takes twice as long, and
 * an add of 2^17 cycles a sixteenth longer. */
static void spikes_prolong_a_walk(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    double mean, spread;
    machine.noise.spikes = 1;
    machine.noise.spike_cycles = 2048 * HOT;
    sample(&machine, 1, &mean, &spread);
    assert_same(mean, 2 * HOT / (1 + 2048.0 * HOT / (1 << 17)));
}

/* All three runs of a trial must be interrupted before it shows: one trial in eight. */
static void spikes_come_as_often_as_they_should(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    machine.noise.spikes = 0.5;
    machine.noise.spike_cycles = 1000000;
    struct runner *runner = simulate(&machine, 3);
    struct rng rng = {3};
    int spiked = 0;
    for (int i = 0; i < 1000; i++)
        spiked += walk_cache(runner, &rng, 4 << 10) > 10 * HOT;
    assert_in_range(spiked, 73, 177); /* 125, and five standard deviations */
    runner_release(runner);
}

/* However coarse the clock: a walk is so long that it is off by a thousandth at the most.
 */
static void a_coarse_clock_is_good_enough(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    for (uint64_t tick = 1; tick <= 1000000; tick *= 10) {
        machine.noise.timer_ns = tick;
        struct runner *runner = simulate(&machine, 1);
        struct rng rng = {1};
        assert_true(runner->tick_ns == (double)tick);
        for (int i = 0; i < 20; i++)
            for (uint64_t bytes = 4 << 10; bytes <= 1 << 20; bytes *= 16) {
                double true_cycles = bytes > 256 << 10  ? MEMORY
                                     : bytes > 32 << 10 ? NEXT
                                                        : HOT;
                assert_between(walk_cache(runner, &rng, bytes) / true_cycles, 1 - 0.0025,
                               1 + 0.0025);
            }
        runner_release(runner);
    }
}

static void a_seed_names_a_run(void **state)
{
    (void)state;
    struct strata_machine machine = small();
    machine.noise = (struct strata_noise){
        .jitter = 0.02, .spikes = 0.01, .spike_cycles = 50000, .timer_ns = 1000};
    struct runner *one = simulate(&machine, 5), *same = simulate(&machine, 5),
                  *other = simulate(&machine, 6);
    struct rng a = {1}, b = {1}, c = {1};
    int different = 0;
    assert_true(one->cycle_ns == same->cycle_ns);
    for (int i = 0; i < 20; i++) {
        double cycles = walk_cache(one, &a, 64 << 10);
        assert_true(cycles == walk_cache(same, &b, 64 << 10));
        different += cycles != walk_cache(other, &c, 64 << 10);
    }
    assert_true(different > 10);
    runner_release(one);
    runner_release(same);
    runner_release(other);
}

/* This machine. */

static struct runner *start_timing(int *cpu, uint64_t bytes, uint64_t huge_bytes)
{
    struct runner *runner = NULL;
    struct strata_error error = {0};
    if (runner_timing(&runner, cpu, bytes, huge_bytes, &error))
        fail_msg("%s", error.text);
    return runner;
}

static void times_this_machine(void **state)
{
    (void)state;
    int cpu = -1;
    struct runner *runner = start_timing(&cpu, 4 << 20, 0);
    const struct ground *ground = &runner->ground[BASE_PAGES];
    struct refs refs = {0};
    struct rng rng = {1};
    struct trial trial;
    assert_false(runner->simulated);
    assert_true(cpu >= -1);
    assert_true(isfinite(runner->cycle_ns) && runner->cycle_ns > 0);
    assert_true(isfinite(runner->tick_ns) && runner->tick_ns > 0);
    assert_int_equal(ground->page, page_size());
    assert_int_equal(ground->bytes % ground->page, 0);
    assert_in_range(ground->bytes, 1 << 20, 4 << 20);
    assert_int_equal(runner->ground[HUGE_PAGES].bytes, 0);
    for (uint64_t bytes = 1 << 10; bytes <= ground->bytes; bytes *= 4) {
        assert_int_equal(refs_cache(&refs, ground, &rng, bytes, 8), 0);
        refs.ramp = bytes == 4 << 10;
        assert_int_equal(runner_walk(runner, BASE_PAGES, &refs, &trial), 0);
        assert_true(isfinite(trial.cycles) && trial.cycles > 0);
    }
    for (uint64_t bytes = 1 << 10; bytes <= ground->bytes; bytes *= 16) {
        assert_int_equal(refs_sparse_pressed(&refs, ground, &rng, bytes, 1, 8, 3), 0);
        uint64_t before = runner->visits;
        assert_int_equal(runner_walk(runner, BASE_PAGES, &refs, &trial), 0);
        assert_true(isfinite(trial.cycles) && trial.cycles > 0);
        assert_true(runner->visits >= before + refs.n + refs.timed);
    }
    assert_true(runner->disturbed <= runner->trials);
    double now = runner_clock(runner);
    assert_true(now > 0 && runner_clock(runner) >= now);
    refs_release(&refs);
    runner_release(runner);
}

/* Once the time is over, not even a lap of a long ring is walked to its end. */
static void a_walk_is_cut_short_when_the_time_is_over(void **state)
{
    (void)state;
    int cpu = -1;
    struct runner *runner = start_timing(&cpu, 16 << 20, 0);
    const struct ground *ground = &runner->ground[BASE_PAGES];
    struct refs refs = {0};
    struct rng rng = {1};
    struct trial trial;
    assert_int_equal(refs_sparse_pressed(&refs, ground, &rng, ground->bytes / 2, 1, 8, 4),
                     0);
    runner->until = runner_clock(runner);
    assert_int_equal(runner_walk(runner, BASE_PAGES, &refs, &trial), 0);
    assert_true(runner->visits < refs.n);
    assert_int_equal(refs_cache(&refs, ground, &rng, ground->bytes / 2, 8), 0);
    runner->visits = 0;
    assert_int_equal(runner_walk(runner, BASE_PAGES, &refs, &trial), 0);
    assert_true(runner->visits < refs.n);
    refs_release(&refs);
    runner_release(runner);
}

/* There may be none; but if there are, they are whole ones. */
static void huge_pages_of_this_machine(void **state)
{
    (void)state;
    int cpu = -1;
    uint64_t huge = huge_page_size();
    struct runner *runner = start_timing(&cpu, 1 << 20, 4 * (huge ? huge : 1 << 20));
    const struct ground *ground = &runner->ground[HUGE_PAGES];
    assert_true(ground->bytes == 0 || (huge && ground->page == huge));
    assert_true(ground->bytes == 0 || ground->bytes % huge == 0);
    if (ground->bytes) {
        struct refs refs = {0};
        struct rng rng = {1};
        struct trial trial;
        assert_int_equal(refs_gap(&refs, ground, &rng, 8, PAGE, 0), 0);
        assert_int_equal(runner_walk(runner, HUGE_PAGES, &refs, &trial), 0);
        assert_true(isfinite(trial.cycles) && trial.cycles > 0);
        refs_release(&refs);
    }
    runner_release(runner);
}

static void no_arena_no_runner(void **state)
{
    (void)state;
    int cpu = -1;
    struct runner *runner = NULL;
    struct strata_error error = {0};
    assert_int_equal(runner_timing(&runner, &cpu, 64 << 10, 0, &error), STRATA_UNABLE);
    assert_int_equal(error.status, STRATA_UNABLE);
    assert_non_null(strstr(error.text, "memory"));
    assert_null(runner);
}

static void a_processor_that_is_not_there_is_refused(void **state)
{
    (void)state;
    static const int impossible[] = {CPU_SETSIZE, 70000};
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        int cpu = impossible[i];
        char number[16];
        struct runner *runner = NULL;
        struct strata_error error = {0};
        assert_int_equal(runner_timing(&runner, &cpu, 1 << 20, 0, &error),
                         STRATA_BAD_INPUT);
        snprintf(number, sizeof number, "%d", impossible[i]);
        assert_non_null(strstr(error.text, number));
        assert_null(runner);
    }
}

/* The caller's thread may run where it could before, whatever became of the runner. */
static void the_thread_is_free_again(void **state)
{
    (void)state;
    cpu_set_t before, during, after;
    if (sched_getaffinity(0, sizeof before, &before))
        skip();
    int cpu = -1;
    struct runner *runner = start_timing(&cpu, 1 << 20, 0);
    assert_int_equal(sched_getaffinity(0, sizeof during, &during), 0);
    if (cpu >= 0) {
        assert_int_equal(CPU_COUNT(&during), 1);
        assert_true(CPU_ISSET(cpu, &during));
    }
    runner_release(runner);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));

    struct strata_error error;
    cpu = -1;
    assert_int_equal(runner_timing(&runner, &cpu, 64 << 10, 0, &error), STRATA_UNABLE);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_the_machine),
        cmocka_unit_test(arenas_are_whole_pages),
        cmocka_unit_test(levels_cost_what_they_cost),
        cmocka_unit_test(gaps_conflict_beyond_the_ways),
        cmocka_unit_test(pressure_drives_out_of_the_smaller_cache),
        cmocka_unit_test(pages_cost_a_walk_beyond_the_entries),
        cmocka_unit_test(rows_of_pages_conflict_beyond_the_ways),
        cmocka_unit_test(stripes_fit_from_the_line_size_on),
        cmocka_unit_test(second_of_a_pair_hits_within_a_line),
        cmocka_unit_test(huge_pages_need_no_base_entries),
        cmocka_unit_test(effort_and_trials_are_counted),
        cmocka_unit_test(a_ramp_warms_up_longer),
        cmocka_unit_test(pressure_leaves_nothing_to_chance),
        cmocka_unit_test(only_long_rings_are_forgotten),
        cmocka_unit_test(jitter_spreads_the_trials),
        cmocka_unit_test(spikes_prolong_a_walk),
        cmocka_unit_test(spikes_come_as_often_as_they_should),
        cmocka_unit_test(a_coarse_clock_is_good_enough),
        cmocka_unit_test(a_seed_names_a_run),
        cmocka_unit_test(times_this_machine),
        cmocka_unit_test(a_walk_is_cut_short_when_the_time_is_over),
        cmocka_unit_test(huge_pages_of_this_machine),
        cmocka_unit_test(no_arena_no_runner),
        cmocka_unit_test(a_processor_that_is_not_there_is_refused),
        cmocka_unit_test(the_thread_is_free_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
