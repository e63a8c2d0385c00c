/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Running a plan; perform.h has the contract. */
#include "inspect/perform.h"

#include "core/fail.h"
#include "inspect/kernels.h"
#include "inspect/walks.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct named_work;

/* All that a run needs; work() gets it. */
struct stage {
    const struct plan *plan;
    const struct run *run;
    kernel_function *kernel;        /* of the run, or NULL */
    const struct named_work *named; /* the same */
    struct kernel_state state;
    char *buffer, *fresh; /* fresh: pages for faults */
    size_t bytes, fresh_bytes;
    struct link *link; /* where a walk is */
    struct link *last; /* of a ring that is walked both ways */
    const char *at;    /* the same for one that ascends */
    struct writing writing;
    char *strewn;
    volatile uint64_t *watched;
    volatile uint64_t spare; /* written to where nothing is watched */
};

/* The kernels of the operating system, by their names in its matrix. */

static void touch_pages(struct stage *stage, uint64_t n)
{
    uint64_t page = stage->plan->options.page;
    madvise(stage->fresh, stage->fresh_bytes, MADV_DONTNEED);
    for (uint64_t i = 0; i < n && (i + 1) * page <= stage->fresh_bytes; i++)
        ((volatile char *)stage->fresh)[i * page] = 1;
}

static void take_naps(struct stage *stage, uint64_t n)
{
    const struct timespec nap = {.tv_nsec = 1000};
    (void)stage;
    while (n-- > 0)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

static void sleep_long(uint64_t n)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    while (n-- > 0)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

static void ask_kernel(struct stage *stage, uint64_t n)
{
    (void)stage;
    while (n-- > 0)
        syscall(SYS_getppid);
}

static void write_watched(struct stage *stage, uint64_t n)
{
    volatile uint64_t *word = stage->watched ? stage->watched : &stage->spare;
    while (n-- > 0)
        *word = n;
}

/* Those of machine code. */

static void work_idle(struct stage *stage, uint64_t n)
{
    (void)stage;
    idle_bare(n);
}

static void work_store(struct stage *stage, uint64_t n)
{
    store_bare(n, &stage->spare);
}

static void work_load(struct stage *stage, uint64_t n)
{
    load_bare(n, &stage->spare);
}

static void work_guess(struct stage *stage, uint64_t n)
{
    stage->state.random = guess_bare(n, stage->state.random);
}

static void work_miss(struct stage *stage, uint64_t n)
{
    stage->link = walk_bare(stage->link, n);
}

static void work_strew(struct stage *stage, uint64_t n)
{
    char *end = stage->buffer + stage->plan->options.bytes - STREW;
    stage->strewn =
        strew_bare(n, stage->strewn ? stage->strewn : stage->buffer, stage->buffer, end);
}

static const struct named_work {
    const char *name;
    void (*run)(struct stage *stage, uint64_t n);
} named_works[] = {{"touch", touch_pages},
                   {"nap", take_naps},
                   {"ask", ask_kernel},
                   {"watch", write_watched},
                   {"idle", work_idle},
                   {"store", work_store},
                   {"load", work_load},
                   {"guess", work_guess},
                   {"miss", work_miss},
                   {"strew", work_strew},
                   {0}};

static const struct named_work *find_work(const char *name)
{
    const struct named_work *found = named_works;
    while (found->name && strcmp(found->name, name) != 0)
        found++;
    return found->name ? found : NULL;
}

/* Preparing: what is not counted. */

static uint64_t units_of(const struct stage *stage)
{
    const struct run *run = stage->run;
    return run->kind == RUN_PAGES_WRITE ? run->x : run->x / run->unit;
}

/* Units of a walk without links. Of pages, each is at another unit of its page. */
static uint64_t unit_bytes(const struct stage *stage)
{
    const struct run *run = stage->run;
    return run->kind == RUN_PAGES_WRITE ? stage->plan->options.page + run->unit : run->unit;
}

/* The largest power of two that divides the units, but not more than a block of the run
 * where it has any. */
static uint64_t block_of(const struct stage *stage, uint64_t units)
{
    const struct run *run = stage->run;
    uint64_t most = run->block * stage->plan->options.page / run->unit;
    uint64_t block = units & -units;
    while (most && block > most)
        block /= 2;
    return block;
}

static int link_chain(struct stage *stage)
{
    const struct run *run = stage->run;
    const struct plan_options *o = &stage->plan->options;
    const struct ground_plan ground = {stage->buffer, o->page,
                                       run->unit ? run->unit : o->unit};
    struct rng rng = {o->seed + run->x};
    switch (run->kind) {
    case RUN_WORK: /* all pages at once: neither caches nor TLBs help */
        stage->link = chain_random(&ground, o->bytes, o->bytes / o->page, &rng);
        break;
    case RUN_READ:
        stage->link = chain_random(&ground, run->x, run->block, &rng);
        break;
    case RUN_BLOCKS:
        stage->link = chain_rounds(&ground, run->x, run->block, &rng);
        break;
    case RUN_APART:
        stage->link = chain_apart(&ground, run->x, &rng);
        break;
    case RUN_PAIRS:
        stage->link = chain_pairs(&ground, run->x, run->block, &rng);
        break;
    case RUN_BACK:
        stage->link = chain_quiet(&ground, run->x, run->block, &rng);
        break;
    case RUN_CASCADE:
        stage->link = chain_blocks(&ground, run->x, &rng);
        break;
    default:
        stage->link = chain_pages(&ground, run->x, &rng);
    }
    return stage->link ? 0 : -1;
}

static const char *ascend(const struct stage *stage, const char *at, uint64_t n)
{
    return walk_ascending(at, stage->buffer, stage->buffer + stage->run->x,
                          stage->run->unit, n);
}

/* Laps of a chain that is too long for any cache gain nothing: one is enough to find its
 * pages, and for shorter ones two. */
static void warm_up(struct stage *stage)
{
    const struct run *run = stage->run;
    if (!run->visits)
        return;
    uint64_t units = units_of(stage), laps = units > 1 << 18 ? 1 : 2;
    switch (run->kind) {
    case RUN_READ:
    case RUN_PAIRS:
    case RUN_APART:
    case RUN_BLOCKS:
        stage->link = walk_on(stage->link, laps * units);
        break;
    case RUN_PAGES:
        stage->link = walk_on(stage->link, 2 * run->x);
        break;
    case RUN_WRITE:
    case RUN_PAGES_WRITE:
        stage->writing = (struct writing){.buffer = stage->buffer,
                                          .units = units,
                                          .unit = unit_bytes(stage),
                                          .block = block_of(stage, units),
                                          .at = stage->buffer};
        walk_writing(&stage->writing, laps * units);
        break;
    case RUN_ASCEND:
        stage->at = ascend(stage, stage->buffer, laps * units);
        break;
    default:
        break;
    }
}

static bool is_walk(enum run_kind kind)
{
    return kind >= RUN_READ && kind != RUN_WRITE && kind != RUN_ASCEND &&
           kind != RUN_PAGES_WRITE;
}

static int prepare(struct stage *stage, const struct run *before)
{
    const struct run *run = stage->run;
    static const char *const codes[] = {"simple", "e", "d"};
    if (run->kind == RUN_CODE)
        stage->kernel = kernel_find(codes[run->kernel % 3])->run;
    else if (run->kind == RUN_CHANCE)
        stage->kernel = kernel_find("one_in")->run;
    if (run->kind == RUN_CHANCE)
        stage->state.divisor = run->kernel;
    bool again = before && before->kind == run->kind && before->kernel == run->kernel;
    if (stage->kernel && !again)
        stage->kernel(&stage->state, 1000); /* the predictor has to see it before */
    if (is_walk(run->kind) || (stage->named && stage->named->run == work_miss && !again))
        if (link_chain(stage) != 0)
            return -1;
    warm_up(stage);
    return 0;
}

/* Working: what is counted. */

static void work_cascade(struct stage *stage)
{
    const struct run *run = stage->run;
    uint64_t page = stage->plan->options.page, units = page / run->unit;
    uint64_t blocks = run->x / page, laps = run->visits / (blocks * units);
    for (uint64_t lap = 0; lap < laps; lap++)
        for (uint64_t i = 0; i < blocks; i++) {
            uint64_t block = (i + lap * run->kernel) % blocks;
            walk_on((struct link *)(void *)(stage->buffer + block * page), units);
        }
}

static void work(void *argument)
{
    struct stage *stage = argument;
    const struct run *run = stage->run;
    switch (run->kind) {
    case RUN_BRANCH:
    case RUN_CODE:
    case RUN_CHANCE:
        stage->kernel(&stage->state, run->x);
        break;
    case RUN_WORK:
    case RUN_SYSTEM:
        stage->named->run(stage, run->x);
        break;
    case RUN_HALT:
        sleep_long(run->x);
        break;
    case RUN_READ:
    case RUN_PAIRS:
    case RUN_APART:
    case RUN_BLOCKS:
    case RUN_PAGES:
        stage->link = walk_on(stage->link, run->visits);
        break;
    case RUN_BACK:
    case RUN_PAGES_BACK:
        walk_both_ways(stage->link, stage->last, run->visits, run->kernel);
        break;
    case RUN_WRITE:
    case RUN_PAGES_WRITE:
        walk_writing(&stage->writing, run->visits);
        break;
    case RUN_ASCEND:
        stage->at = ascend(stage, stage->at, run->visits);
        break;
    case RUN_CASCADE:
        work_cascade(stage);
        break;
    default:
        break;
    }
}

/* What has to happen right before each group is counted. */
static void rewind_walk(struct stage *stage)
{
    const struct run *run = stage->run;
    if (run->kind == RUN_BACK || run->kind == RUN_PAGES_BACK) {
        stage->last = stage->link->before;
        walk_on(stage->link, run->visits);
    }
    if (run->kind == RUN_CASCADE)
        work_cascade(stage);
}

static int do_run(struct stage *stage, size_t i, const struct counters *counting,
                  struct strata_error *error)
{
    for (size_t group = 0; group < counting->groups; group++) {
        rewind_walk(stage);
        int status = counting->count(counting->context, i, group, work, stage, error);
        if (status)
            return status;
    }
    return STRATA_OK;
}

/* What the run's name in its matrix stands for. */
static int find_kernel(struct stage *stage, const struct matrices *matrices,
                       struct strata_error *error)
{
    const struct run *run = stage->run;
    const struct matrix *matrix = run->kind == RUN_BRANCH   ? &matrices->branches
                                  : run->kind == RUN_SYSTEM ? &matrices->system
                                  : run->kind == RUN_WORK   ? &matrices->work
                                                            : NULL;
    const char *name = matrix ? matrix->kernels[run->kernel].name : NULL;
    const struct kernel *kernel = run->kind == RUN_BRANCH ? kernel_find(name) : NULL;
    stage->kernel = kernel ? kernel->run : NULL;
    stage->named = name && run->kind != RUN_BRANCH ? find_work(name) : NULL;
    if (name && !stage->kernel && !stage->named)
        return fail(error, STRATA_BAD_INPUT, "a matrix names a kernel %s: there is none",
                    name);
    return STRATA_OK;
}

static int run_all(struct stage *stage, const struct matrices *matrices,
                   const struct counters *counting, struct strata_error *error)
{
    const struct plan *plan = stage->plan;
    for (size_t i = 0; i < plan->n; i++) {
        const struct run *run = stage->run = &plan->runs[i];
        int status = find_kernel(stage, matrices, error);
        if (!status && prepare(stage, i ? run - 1 : NULL) != 0)
            status = fail(error, STRATA_FAILED, "out of memory");
        if (!status)
            status = do_run(stage, i, counting, error);
        if (status)
            return status;
        if (counting->progress &&
            counting->progress(counting->progress_context,
                               (double)(i + 1) / (double)plan->n, NULL))
            return fail(error, STRATA_FAILED, "interrupted: nothing can be said yet");
    }
    return STRATA_OK;
}

/* Base pages: what is asked about TLBs is asked of these. */
static char *get_pages(size_t bytes)
{
    if (!bytes)
        return NULL;
    char *pages =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    madvise(pages, bytes, MADV_NOHUGEPAGE);
    return pages;
}

int perform(const struct plan *plan, const struct matrices *matrices,
            const struct counters *counting, struct strata_error *error)
{
    struct stage stage = {.plan = plan, .watched = counting->watched};
    /* Pages that are written at growing units reach a little further. */
    stage.bytes = plan_bytes(plan);
    stage.bytes += stage.bytes / 32;
    stage.fresh_bytes = plan->options.sets & PLAN_SYSTEM ? 64 * plan->options.page : 0;
    stage.buffer = get_pages(stage.bytes);
    stage.fresh = get_pages(stage.fresh_bytes);
    kernel_prepare(&stage.state);
    int status =
        (stage.bytes && !stage.buffer) || (stage.fresh_bytes && !stage.fresh)
            ? fail(error, STRATA_FAILED, "no memory for walks of %zu bytes", stage.bytes)
            : run_all(&stage, matrices, counting, error);
    if (stage.buffer)
        munmap(stage.buffer, stage.bytes);
    if (stage.fresh)
        munmap(stage.fresh, stage.fresh_bytes);
    return status;
}
