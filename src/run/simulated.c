/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The runner that asks a simulated machine.
 *
 * The same strings and the same discipline as on a real one, with virtual cycles for the
 * clock; then the machine's noise: every walk is stretched to a thousand ticks of its
 * clock, jittered, perhaps interrupted, and read off with the clock's resolution. */
#include "core/fail.h"
#include "host/clock.h"
#include "run/runner.h"
#include "sim/sim.h"

#include <math.h>
#include <stdlib.h>

enum {
    RUNS = 3,  /* the shortest of so many counts */
    ADDS = 64, /* so that the unit of all the others is not itself off */
};

struct simulated {
    struct runner runner;
    struct strata_machine machine;
    struct sim *sim;
    uint64_t base[ARENAS]; /* virtual addresses */
    double cycle_scale;    /* true cycles in a measured one */
    size_t span;           /* visits that the machine can remember */
    struct rng rng;        /* for the noise */
    double started_ns;
};

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

/* A standard normal number, by Box and Muller. */
static double normal(struct rng *rng)
{
    return sqrt(-2 * log(1 - rng_unit(rng))) * cos(6.283185307179586 * rng_unit(rng));
}

/* What the machine's clock says of a span of so many cycles. */
static double clocked(struct simulated *s, double cycles)
{
    const struct strata_noise *noise = &s->machine.noise;
    double tick = (double)noise->timer_ns * 1e-9 * (double)s->machine.frequency;
    if (noise->jitter > 0)
        cycles *= fmax(0, 1 + noise->jitter * normal(&s->rng));
    if (noise->spikes > 0 && rng_unit(&s->rng) < noise->spikes)
        cycles += (double)noise->spike_cycles;
    if (tick > 0)
        cycles = floor(cycles / tick + rng_unit(&s->rng)) * tick;
    return cycles;
}

/* The same for a walk that takes `cycles` a visit. */
static double clocked_walk(struct simulated *s, double cycles, size_t visits)
{
    double span = cycles * (double)visits, best = INFINITY;
    double ticks =
        1000 * (double)s->machine.noise.timer_ns * 1e-9 * (double)s->machine.frequency;
    double stretch = fmax(1, ticks / span);
    for (int i = 0; i < RUNS; i++)
        best = fmin(best, clocked(s, span * stretch));
    return best / (span * stretch) * cycles;
}

enum {
    FEW_VISITS = 1 << 11,  /* of short rings, several laps are measured */
    BRIEF_VISITS = 1 << 5, /* where a brief look will do */
    MANY_VISITS = 1 << 15, /* of long rings, a part */
};

/* The length of a ring, in visits, of which nothing is left when its turn comes again:
 * several times what all the caches hold, or what the TLBs reach. (Of one that is five
 * times as long as a cache with random replacement, less than a hundredth is.) A visit
 * takes up 64 bytes, or a first line. */
static size_t memory_span(const struct strata_machine *machine)
{
    enum { TIMES = 5 };
    uint64_t bytes = 0, line = 64;
    for (uint32_t i = 0; i < machine->ncaches; i++) {
        if (machine->caches[i].kind == STRATA_INSTRUCTION)
            continue;
        bytes += machine->caches[i].size;
        line = machine->caches[i].line < line ? machine->caches[i].line : line;
    }
    for (uint32_t i = 0; i < machine->ntlbs; i++) {
        const struct strata_tlb *tlb = &machine->tlbs[i];
        if (tlb->page == machine->page && tlb->entries * tlb->page > bytes)
            bytes = tlb->entries * tlb->page;
    }
    return TIMES * bytes / line;
}

/* Walks in laps until they no longer get faster (runner.h). A ramp has favoured the
 * beginning: after one, whole laps are compared. */
static void walk_laps(struct simulated *s, uint64_t base, const struct refs *refs)
{
    size_t part = runner_part(refs->n), rest = refs->n - part;
    double before = INFINITY;
    for (size_t i = 1; refs->ramp && i < RAMP; i++)
        sim_chase(s->sim, base, refs->at, refs->n * i / RAMP);
    for (int lap = 0; lap < runner_laps(refs->n); lap++) {
        double now = (double)sim_chase(s->sim, base, refs->at, part);
        if (!refs->ramp && now > SAME * before)
            break;
        double more = (double)sim_chase(s->sim, base, refs->at + part, rest);
        if (refs->ramp && now + more > SAME * before)
            break;
        before = refs->ramp ? now + more : now;
    }
}

/* Where the visits that count begin. The lap that the warming up leaves goes on there. */
static size_t start_of(const struct refs *refs)
{
    return refs->timed ? refs->n : refs->ramp ? 0 : runner_part(refs->n);
}

/* Whether nothing of a ring is left when its turn comes again. Half as many places will do
 * that are visited twice. */
static bool forgotten(const struct simulated *s, const struct refs *refs)
{
    return !refs->ramp && refs->n > s->span && 2 * (refs->n - refs->again) > s->span &&
           start_of(refs) >= MANY_VISITS;
}

/* A ring that is far longer than the machine can remember finds nothing of itself: it is as
 * if all were empty, but for what comes at once before. */
static void warm_up(struct simulated *s, uint64_t base, const struct refs *refs)
{
    if (forgotten(s, refs)) {
        sim_flush(s->sim);
        sim_chase(s->sim, base, refs->at + start_of(refs) - MANY_VISITS, MANY_VISITS);
        return;
    }
    if (!refs->timed)
        walk_laps(s, base, refs);
}

/* Goes on with the lap that the warming up left, then as many as it takes. Returns the
 * cycles of so many visits. */
static uint64_t walk_all(struct simulated *s, uint64_t base, const struct refs *refs,
                         size_t *visits)
{
    size_t start = start_of(refs), left = refs->n - start;
    uint64_t cycles;
    *visits = left < MANY_VISITS ? left : MANY_VISITS;
    cycles = sim_chase(s->sim, base, refs->at + start, *visits);
    for (; *visits < FEW_VISITS; *visits += refs->n)
        cycles += sim_chase(s->sim, base, refs->at, refs->n);
    return cycles;
}

/* The same of the visits at the start of each lap; those that no longer get faster count.
 */
static uint64_t walk_timed(struct simulated *s, uint64_t base, const struct refs *refs,
                           size_t *visits)
{
    size_t timed = refs->timed, rest = refs->n - timed;
    uint64_t cycles = sim_chase(s->sim, base, refs->at, timed), before = UINT64_MAX;
    int laps = forgotten(s, refs) ? 1 : runner_laps(refs->n);
    for (int lap = 1; lap < laps && (double)cycles <= SAME * (double)before; lap++) {
        before = cycles;
        sim_chase(s->sim, base, refs->at + timed, rest);
        cycles = sim_chase(s->sim, base, refs->at, timed);
    }
    size_t enough = refs->brief ? BRIEF_VISITS : FEW_VISITS;
    for (*visits = timed; *visits < enough; *visits += timed) {
        sim_chase(s->sim, base, refs->at + timed, rest);
        cycles += sim_chase(s->sim, base, refs->at, timed);
    }
    return cycles;
}

static int simulated_walk(struct runner *runner, enum arena arena, const struct refs *refs,
                          struct trial *trial)
{
    struct simulated *s = (struct simulated *)runner;
    uint64_t base = s->base[arena];
    size_t visits;
    warm_up(s, base, refs);
    uint64_t cycles =
        refs->timed ? walk_timed(s, base, refs, &visits) : walk_all(s, base, refs, &visits);
    runner->visits = sim_counts(s->sim)->accesses[SIM_LOAD];
    trial->disturbed = false;
    trial->cycles =
        clocked_walk(s, (double)cycles / (double)visits, visits) * s->cycle_scale;
    return 0;
}

static double simulated_clock(struct runner *runner)
{
    return (clock_ns() - ((struct simulated *)runner)->started_ns) * 1e-9;
}

static void simulated_release(struct runner *runner)
{
    struct simulated *s = (struct simulated *)runner;
    if (s->sim)
        sim_release(s->sim);
    free(s);
}

static const struct runner_ops simulated_ops = {
    .walk = simulated_walk, .clock = simulated_clock, .release = simulated_release};

static struct ground ground(uint64_t page, uint64_t bytes)
{
    return (struct ground){
        .page = page, .bytes = page ? bytes - bytes % page : 0, .line = 64};
}

int runner_simulated(struct runner **runner, const struct strata_machine *machine,
                     uint64_t seed, uint64_t bytes, uint64_t huge_bytes,
                     struct strata_error *error)
{
    const struct allocator allocator = {allocate, release, NULL};
    struct simulated *s = calloc(1, sizeof *s);
    if (!s)
        return fail(error, STRATA_FAILED, "out of memory");
    s->started_ns = clock_ns();
    s->machine = *machine;
    s->span = memory_span(machine);
    s->rng.state = seed;
    s->sim = sim_create(machine, seed, &allocator);
    if (!s->sim) {
        simulated_release(&s->runner);
        return fail(error, STRATA_FAILED, "out of memory for the simulated machine");
    }
    s->runner.ops = &simulated_ops;
    s->runner.simulated = true;
    s->runner.until = INFINITY;
    s->runner.tick_ns = (double)machine->noise.timer_ns;
    s->runner.ground[BASE_PAGES] = ground(machine->page, bytes);
    s->runner.ground[HUGE_PAGES] = ground(machine->huge, huge_bytes);
    s->base[BASE_PAGES] = UINT64_C(1) << 40;
    s->base[HUGE_PAGES] = UINT64_C(1) << 42;
    if (machine->huge && !machine->splintered &&
        sim_map_huge(s->sim, s->base[HUGE_PAGES], huge_bytes))
        s->runner.ground[HUGE_PAGES].bytes = 0;
    /* The integer add is timed on the same dirty clock as everything else. */
    double add = 0;
    for (int i = 0; i < ADDS; i++)
        add += clocked_walk(s, 1, 1 << 17) / ADDS;
    s->cycle_scale = 1 / add;
    s->runner.cycle_ns = add * 1e9 / (double)machine->frequency;
    *runner = &s->runner;
    return 0;
}
