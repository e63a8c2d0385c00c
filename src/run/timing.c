/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The runner that asks the clock of this machine.
 *
 * A string becomes a ring of pointers in memory, each of which can only be followed when
 * the one before has arrived, so the time of a walk is that of its loads one after the
 * other. The ring is written in the order of the walk: that is also the first lap, which
 * leaves the caches as a walk would. The clock is read outside of an unrolled loop that
 * does nothing else.
 *
 * A trial is several runs. One during which the thread lost its processor does not count:
 * what ran meanwhile may have emptied the caches, so the ring is warmed up and timed again.
 * Where others want the processor, it is had for a few milliseconds at a time, and both
 * must happen within these. So the ring is then warmed up by loads that do not wait for one
 * another, ten times as fast. What is disturbed in the end is marked. */
#include "core/fail.h"
#include "core/sort.h"
#include "host/clock.h"
#include "host/memory.h"
#include "host/processors.h"
#include "run/runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct timing {
    struct runner runner;
    char *memory[ARENAS];
    double started_ns, started_thread_ns;
    double shortest_ns; /* a walk that is long enough for the clock */
    double reading_ns;  /* what reading the clock twice adds to a walk */
    struct affinity before;
    int home; /* the processor; -1: it is not pinned, or was asked for */
};

/* Follows n links. Kept out of line, so that nothing is moved across the readings of the
 * clock. */
static __attribute__((noinline)) void *chase(void *p, size_t n)
{
#define LOAD p = *(void *volatile *)p
    for (size_t i = n % 16; i > 0; i--)
        LOAD;
    for (size_t i = 0; i < n / 16; i++) {
        LOAD, LOAD, LOAD, LOAD, LOAD, LOAD, LOAD, LOAD;
        LOAD, LOAD, LOAD, LOAD, LOAD, LOAD, LOAD, LOAD;
    }
#undef LOAD
    return p;
}

static void *lay_out(char *memory, const struct refs *refs)
{
    void **first = (void **)(memory + refs->at[0]), **p = first;
    for (size_t i = 1; i < refs->n; i++) {
        void **next = (void **)(memory + refs->at[i]);
        *p = next;
        p = next;
    }
    *p = first;
    return first;
}

/* Time for n visits from *p on, which moves. */
static double timed_chase(void **p, size_t n)
{
    double start = clock_ns();
    *p = chase(*p, n);
    return clock_ns() - start;
}

/* What a walk of no visits takes. */
static double reading_time(void)
{
    enum { READINGS = 1000 };
    double best = INFINITY;
    void *p = &p;
    for (int i = 0; i < READINGS; i++)
        best = fmin(best, timed_chase(&p, 0));
    return best;
}

enum {
    RUNS = 3,              /* the shortest of so many counts */
    FIRST_VISITS = 1 << 9, /* then doubled until the clock is good enough */
    LONG_VISITS = 1 << 13, /* of a long ring: short stretches of it differ too much */
    LARGEST = 1 << 18,     /* ring that what ran meanwhile can have driven out of a cache */
    BRIEF = 64,            /* such a part of the usual time is enough for a brief look… */
    FINE = 4,          /* …unless the start of a lap is more than such a part of a tick:
                          then the middle half of… */
    BRIEF_LAPS = 64,   /* …so many laps tells, whatever came between in some of them */
    AT_ONCE = 1 << 15, /* visits, before the clock is looked at */
    TRIES = 8,         /* before a disturbed trial is taken for want of a better one */
};

static double timing_clock(struct runner *runner)
{
    const struct timing *timing = (struct timing *)runner;
    double wall = clock_ns() - timing->started_ns, had;
    if (runner->stretch <= 1)
        return wall * 1e-9;
    had = fmin(wall, clock_thread_ns() - timing->started_thread_ns);
    return fmax(had, wall / runner->stretch) * 1e-9;
}

static bool is_over(struct runner *runner)
{
    return timing_clock(runner) > runner->until;
}

/* The start of a lap that counts. It may be short: then reading the clock does show. */
static double timed_start(struct runner *runner, void **p, const struct refs *refs)
{
    runner->visits += refs->timed;
    return fmax(1, timed_chase(p, refs->timed) - ((struct timing *)runner)->reading_ns);
}

/* Follows n links that are not timed, or fewer if the time is over: of a ring that is
 * larger than the caches, a lap may take a second on a busy machine. */
static void *pass(struct runner *runner, void *p, size_t n)
{
    while (n > 0 && !is_over(runner)) {
        size_t part = n < AT_ONCE ? n : AT_ONCE;
        p = chase(p, part);
        runner->visits += part;
        n -= part;
    }
    return p;
}

static void untimed_rest(struct runner *runner, void **p, const struct refs *refs)
{
    *p = pass(runner, *p, refs->n - refs->timed);
}

/* Time for so many visits from *p on; where only the start of a lap counts, for as many of
 * those, with *p behind one before and after. */
static double timed_visits(struct runner *runner, void **p, const struct refs *refs,
                           size_t visits)
{
    double ns = 0;
    if (!refs->timed) {
        runner->visits += visits;
        return timed_chase(p, visits);
    }
    for (size_t i = 0; i < visits; i += refs->timed) {
        untimed_rest(runner, p, refs);
        ns += timed_start(runner, p, refs);
    }
    return ns;
}

/* Walks in laps until they no longer get faster (runner.h). Returns where it stands. */
static void *warm_up(struct runner *runner, void *first, const struct refs *refs)
{
    size_t part = runner_part(refs->n), compared = refs->ramp ? refs->n : part;
    void *p = first;
    double before = INFINITY;
    for (size_t i = 1; refs->ramp && i < RAMP; i++)
        pass(runner, first, refs->n * i / RAMP);
    for (int lap = 0; lap < runner_laps(refs->n) && !is_over(runner); lap++) {
        double now = timed_chase(&p, compared);
        runner->visits += compared;
        if (now > SAME * before)
            break;
        before = now;
        /* a ramp has favoured the beginning: whole laps are compared */
        p = pass(runner, p, refs->n - compared);
    }
    return p;
}

/* Visits of a warm ring that are enough for the clock. */
static size_t enough_visits(struct timing *timing, void **p, const struct refs *refs)
{
    size_t visits = refs->n < LONG_VISITS ? FIRST_VISITS : LONG_VISITS;
    while (timed_visits(&timing->runner, p, refs, visits) < timing->shortest_ns / 2 &&
           visits < SIZE_MAX / 2)
        visits *= 2;
    return visits;
}

/* Brings a ring into the caches, in the order of the walk, by loads that do not wait for
 * one another: in a tenth of the time of a lap. A second time for what did not stay. */
static void touch(const char *memory, const struct refs *refs)
{
    for (int lap = 0; lap < 2; lap++)
        for (size_t i = 0; i < refs->n; i++)
            (void)*(const volatile char *)(memory + refs->at[i]);
}

/* The shortest of several times for as many visits, of those that were not disturbed:
 * `cold` says that what was there before may be gone. Returns whether there was one. What
 * is larger than any cache need not be warm. */
static bool undisturbed_runs(struct runner *runner, const char *memory, void **p,
                             const struct refs *refs, size_t visits, bool cold, double *ns)
{
    double disturbed = INFINITY;
    int runs = 0;
    *ns = INFINITY;
    for (int i = 0; runs < RUNS && i < RUNS + TRIES; i++) {
        long before = thread_preemptions();
        if (cold && refs->n < LARGEST)
            touch(memory, refs);
        double now = timed_visits(runner, p, refs, visits);
        cold = thread_preemptions() != before;
        runs += !cold;
        *(cold ? &disturbed : ns) = fmin(cold ? disturbed : *ns, now);
        if (is_over(runner))
            break;
        runner->trials += cold;
        runner->disturbed += cold;
    }
    *ns = runs ? *ns : disturbed;
    return runs > 0;
}

/* Laps until their starts no longer get faster: the fastest that was not disturbed. Returns
 * whether there was one. */
static bool settled_lap(struct runner *runner, void **p, const struct refs *refs,
                        double *ns)
{
    bool any = false, settled = false;
    *ns = INFINITY;
    for (int lap = 0; lap < runner_laps(refs->n) && !settled && !is_over(runner); lap++) {
        if (lap)
            untimed_rest(runner, p, refs);
        long before = thread_preemptions();
        double now = timed_start(runner, p, refs);
        if (thread_preemptions() != before)
            continue;
        settled = any && now > SAME * *ns;
        *ns = fmin(*ns, now);
        any = true;
    }
    return any;
}

/* The middle half of some laps, by their starts: a thread that loses its processor now and
 * then loses some laps, but not the trial. Their mean, because the clock rounds. */
static double middle_laps(struct runner *runner, void **p, const struct refs *refs)
{
    double ns[BRIEF_LAPS], sum = 0;
    for (int i = 0; i < LAPS && !is_over(runner); i++)
        *p = pass(runner, *p, refs->n);
    for (int i = 0; i < BRIEF_LAPS; i++) {
        ns[i] = timed_start(runner, p, refs);
        untimed_rest(runner, p, refs);
    }
    sort_ascending(ns, BRIEF_LAPS);
    for (int i = BRIEF_LAPS / 4; i < BRIEF_LAPS * 3 / 4; i++)
        sum += ns[i];
    return sum / (BRIEF_LAPS / 2);
}

/* Of a string of which only the start of a lap counts, the laps that warm it up tell the
 * time already, if that is long enough for the clock: such laps take long. */
static void walk_timed(struct timing *timing, const char *memory, void *first,
                       const struct refs *refs, struct trial *trial)
{
    struct runner *runner = &timing->runner;
    double ns = refs->brief ? middle_laps(runner, &first, refs) : 0;
    if (FINE * ns > runner->tick_ns) {
        trial->disturbed = false;
        trial->cycles = ns / (double)refs->timed / runner->cycle_ns;
        return;
    }
    trial->disturbed = !settled_lap(runner, &first, refs, &ns);
    if (trial->disturbed)
        ns = timed_visits(runner, &first, refs, refs->timed);
    double enough = timing->shortest_ns / (refs->brief ? BRIEF : 1);
    size_t laps = ns < enough / 2 ? (size_t)(enough / ns) : 1;
    size_t visits = refs->timed * laps;
    if (laps > 1)
        trial->disturbed =
            !undisturbed_runs(runner, memory, &first, refs, visits, false, &ns);
    trial->cycles = ns / (double)visits / runner->cycle_ns;
}

static int timing_walk(struct runner *runner, enum arena arena, const struct refs *refs,
                       struct trial *trial)
{
    struct timing *timing = (struct timing *)runner;
    char *memory = timing->memory[arena];
    long before = thread_preemptions();
    void *p = lay_out(memory, refs);
    double ns;
    if (refs->timed) {
        walk_timed(timing, memory, p, refs, trial);
        return 0;
    }
    p = warm_up(runner, p, refs);
    size_t visits = enough_visits(timing, &p, refs);
    bool cold = thread_preemptions() != before;
    trial->disturbed = !undisturbed_runs(runner, memory, &p, refs, visits, cold, &ns);
    trial->cycles = ns / (double)visits / runner->cycle_ns;
    return 0;
}

static void timing_release(struct runner *runner)
{
    struct timing *timing = (struct timing *)runner;
    for (int i = 0; i < ARENAS; i++)
        unmap_pages(timing->memory[i], runner->ground[i].bytes);
    unpin_thread(&timing->before);
    free(timing);
}

static bool timing_leave(struct runner *runner)
{
    struct timing *timing = (struct timing *)runner;
    return timing->home >= 0 && pin_elsewhere(timing->home, &timing->before) >= 0;
}

static void timing_come_back(struct runner *runner)
{
    struct affinity unused;
    pin_thread(((struct timing *)runner)->home, &unused);
}

static const struct runner_ops timing_ops = {.walk = timing_walk,
                                             .clock = timing_clock,
                                             .leave = timing_leave,
                                             .come_back = timing_come_back,
                                             .release = timing_release};

/* Takes as much as is wanted, or less where memory is short, but no arena below a
 * megabyte. */
static void take_arena(struct timing *timing, enum arena arena, uint64_t page,
                       uint64_t bytes, void *(*map)(uint64_t))
{
    uint64_t most = memory_available() / 4;
    while (bytes > most)
        bytes /= 2;
    bytes -= bytes % page;
    for (; page && bytes >= 1u << 20; bytes = bytes / 2 / page * page) {
        timing->memory[arena] = map(bytes);
        if (timing->memory[arena]) {
            timing->runner.ground[arena] =
                (struct ground){.page = page, .bytes = bytes, .line = 64};
            return;
        }
    }
}

int runner_timing(struct runner **runner, int *cpu, uint64_t bytes, uint64_t huge_bytes,
                  struct strata_error *error)
{
    struct timing *timing = calloc(1, sizeof *timing);
    if (!timing)
        return fail(error, STRATA_FAILED, "out of memory");
    timing->started_ns = clock_ns();
    timing->started_thread_ns = clock_thread_ns();
    timing->runner.ops = &timing_ops;
    timing->runner.until = INFINITY;
    int wanted = *cpu;
    *cpu = pin_thread(wanted, &timing->before);
    timing->home = wanted >= 0 ? -1 : *cpu;
    if (wanted >= 0 && *cpu < 0) {
        timing_release(&timing->runner);
        return fail(
            error, STRATA_BAD_INPUT,
            "there is no cpu %d that this process may use; `nproc` and `taskset -p $$` "
            "tell which there are",
            wanted);
    }
    clock_warm_up();
    timing->runner.cycle_ns = clock_add_ns();
    timing->runner.tick_ns = clock_tick_ns();
    timing->shortest_ns = fmax(1000 * timing->runner.tick_ns, 40e3);
    timing->reading_ns = reading_time();
    take_arena(timing, BASE_PAGES, page_size(), bytes, map_base_pages);
    if (!timing->runner.ground[BASE_PAGES].bytes) {
        timing_release(&timing->runner);
        return fail(error, STRATA_UNABLE,
                    "not enough memory to measure on: at least 4M must be free (raise "
                    "the limit of the control group, or `ulimit -v`)");
    }
    uint64_t huge = huge_page_size();
    if (huge)
        take_arena(timing, HUGE_PAGES, huge, huge_bytes, map_huge_pages);
    *runner = &timing->runner;
    return 0;
}
