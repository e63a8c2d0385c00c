/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata inspect on a simulated machine: the kernels, as they were compiled, run under
 * Valgrind, and each event of the virtual PMU is computed from what a run did.
 *
 * To test the analysis, counts can be made dirty: by a relative spread, and by what a
 * background counts that grows with time. */
#include "cli/inspecting.h"
#include "cli/virtual_raw.h"
#include "collect/collect.h"
#include "collect/places.h"
#include "core/fail.h"
#include "core/file.h"
#include "core/rng.h"
#include "host/shipped.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 16 << 20 };

static int name_events(struct inspection *inspection, struct strata_error *error)
{
    const char *name, *about;
    unsigned needs;
    if (inspection->nevents)
        return STRATA_OK;
    for (size_t i = 0; (name = virtual_event(i, &about, &needs)); i++)
        if (inspection_add(inspection, name) != 0)
            return fail(error, STRATA_FAILED, "out of memory");
    return STRATA_OK;
}

static uint64_t power_of_two(uint64_t least, uint64_t value)
{
    while (least < value)
        least *= 2;
    return least;
}

/* Whether something is prefetched in random order too. Elsewhere walks by larger units
 * would only take time: what lines show, they show again. */
static bool acts_on_every_miss(const struct strata_machine *machine)
{
    for (uint32_t i = 0; i < machine->nprefetchers; i++) {
        uint32_t kind = machine->prefetchers[i].kind;
        if (kind == STRATA_PREFETCH_NEXT_LINE || kind == STRATA_PREFETCH_ADJACENT ||
            kind == STRATA_PREFETCH_STREAMER)
            return true;
    }
    return false;
}

/* How far walks go: twice the last cache, four times the last TLB; and by which units. That
 * is all that is taken from the file; what events count is found from the counts. */
static struct plan_options bounds(const struct strata_machine *machine, unsigned sets,
                                  uint64_t seed)
{
    struct plan_options o = {.sets = sets, .page = machine->page, .unit = 16, .seed = seed};
    uint64_t largest = 0, second = 0, entries = 0;
    if (acts_on_every_miss(machine))
        o.sets |= PLAN_UNITS;
    for (uint32_t i = 0; i < machine->ncaches; i++) {
        const struct strata_cache *cache = &machine->caches[i];
        if (cache->kind == STRATA_INSTRUCTION)
            continue;
        largest = cache->size > largest ? cache->size : largest;
        second = cache->level <= 2 && cache->size > second ? cache->size : second;
        o.unit = cache->line > o.unit ? cache->line : o.unit;
    }
    for (uint32_t i = 0; i < machine->ntlbs; i++)
        if (machine->tlbs[i].kind != STRATA_INSTRUCTION &&
            machine->tlbs[i].page == machine->page && machine->tlbs[i].entries > entries)
            entries = machine->tlbs[i].entries;
    o.bytes = power_of_two(1 << 17, 2 * largest);
    o.study = power_of_two(1 << 17, 4 * second);
    o.pages = power_of_two(64, 4 * entries);
    return o;
}

/* They come from the same runs, and take no more time. */
static int add_references(struct inspection *inspection, unsigned sets,
                          struct strata_error *error)
{
    const char *names[256], *about;
    unsigned needs;
    size_t n = 0;
    while (n < 256 && (names[n] = virtual_event(n, &about, &needs)))
        n++;
    if (sets & PLAN_CACHE && inspection_refer(inspection, names, n) != 0)
        return fail(error, STRATA_FAILED, "out of memory");
    return STRATA_OK;
}

/* Writes what the kernels are to do to a file in the folder of the run. */
static int write_plan(const struct inspection *inspection, const char *path,
                      struct strata_error *error)
{
    return write_file(path, (const char *)&inspection->plan.options,
                      sizeof inspection->plan.options, error);
}

/* A number with mean 0 and deviation 1, near enough: a sum of twelve even ones. */
static double spread(struct rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += rng_unit(rng);
    return sum;
}

static double make_dirty(const struct inspection *inspection, struct rng *rng, double count,
                         double time)
{
    count *= 1 + inspection->noise * spread(rng);
    count += inspection->drift * (1 + time) * (0.9 + 0.2 * rng_unit(rng));
    return fmax(0, round(count));
}

static void take_counts(struct inspection *inspection, const struct strata_machine *machine,
                        const struct raw_totals *totals)
{
    struct rng rng = {inspection->seed};
    bool dirty = inspection->noise > 0 || inspection->drift > 0;
    for (size_t run = 0; run < inspection->plan.n; run++) {
        struct virtual_counts counts = {.machine = machine, .branches = true};
        virtual_add_raw(&counts, &totals[run]);
        for (size_t i = 0; i < inspection->nevents; i++) {
            double *to = &inspection->counts[run * inspection->nevents + i];
            char why[PMU_WHY];
            uint64_t count;
            if (virtual_count(&counts, inspection->names[i], &count, why))
                *to = dirty ? make_dirty(inspection, &rng, (double)count, (double)run / 100)
                            : (double)count;
        }
        inspection->ns[run] = (double)counts.sim.cycles * 1e9 / (double)machine->frequency;
    }
}

/* Says of each event that the machine does not have why that is so; fails if that is so of
 * all of the first `named`. */
static int refuse_events(struct inspection *inspection,
                         const struct strata_machine *machine, size_t named,
                         struct strata_error *error)
{
    const struct virtual_counts nothing = {.machine = machine, .branches = true};
    size_t refused = 0;
    for (size_t i = 0; i < inspection->nevents; i++) {
        char why[PMU_WHY];
        uint64_t count;
        if (virtual_count(&nothing, inspection->names[i], &count, why))
            continue;
        refused += i < named;
        if (inspection_refuse(inspection, i, why) != 0)
            return fail(error, STRATA_FAILED, "out of memory");
    }
    return named && refused == named ? fail(error, STRATA_UNABLE, "%s is not counted: %s",
                                            inspection->names[0], inspection->why[0])
                                     : STRATA_OK;
}

static int read_counts(struct inspection *inspection, const struct collected *collected,
                       const char *path, const struct strata_machine *machine,
                       struct strata_error *error)
{
    char *text;
    size_t size, head = sizeof inspection->plan.options;
    int status = read_file(path, FILE_MOST, &text, &size, error);
    if (status)
        return status;
    const struct raw_totals *totals = (const void *)(text + head);
    if (collected->end.end != RAW_EXITED || collected->end.status != 0 ||
        size != head + inspection->plan.n * sizeof *totals) {
        char log[200];
        run_folder_log(&collected->folder, log, sizeof log);
        status = fail(error, STRATA_FAILED, "the kernels did not come to their end%s%s",
                      *log ? "; valgrind says: " : "", log);
    } else {
        take_counts(inspection, machine, totals);
    }
    free(text);
    return status;
}

/* The program that has the kernels: strata itself, or one that was compiled otherwise. */
static int place_of_kernels(char path[PATH_MAX], struct strata_error *error)
{
    const char *other = getenv("STRATA_KERNELS");
    if (!other || !*other)
        return place_of_program(path, error);
    struct program program;
    int status = program_find(other, &program, error);
    if (!status)
        memcpy(path, program.path, sizeof program.path);
    return status;
}

static int run_kernels(struct inspection *inspection, struct collect_options *options,
                       struct strata_error *error)
{
    struct collected collected;
    char path[PATH_MAX + 16], strata[PATH_MAX];
    int status = place_of_kernels(strata, error);
    if (!status)
        status = collect_prepare(options, &collected, error);
    if (status)
        return status;
    snprintf(path, sizeof path, "%s/kernels", collected.folder.path);
    char command[] = "kernels";
    char *argv[] = {strata, command, path, NULL};
    options->argv = argv;
    status = write_plan(inspection, path, error);
    if (!status)
        status = collect_run(options, &collected, error);
    if (!status)
        status = read_counts(inspection, &collected, path, &options->config.machine, error);
    run_folder_remove(&collected.folder);
    collect_release(&collected);
    return status;
}

int inspect_sim(struct inspection *inspection, unsigned sets, struct strata_error *error)
{
    char path[PATH_MAX];
    struct collect_options options;
    collect_defaults(&options);
    options.config.branches = 1;
    options.config.paused = 1; /* only the totals matter, and not whose they are */
    size_t named = inspection->nevents;
    int status = add_references(inspection, sets, error);
    if (!status)
        status = name_events(inspection, error);
    if (!status)
        status = place_of_machine(inspection->machine, path, error);
    if (!status)
        status = strata_machine_read(path, &options.config.machine, error);
    if (!status)
        status = refuse_events(inspection, &options.config.machine, named, error);
    if (status)
        return status;
    const struct strata_machine *machine = &options.config.machine;
    const struct plan_options o = bounds(machine, sets & ~PLAN_SYSTEM, inspection->seed);
    const char *slash = strrchr(path, '/');
    snprintf(inspection->processor, sizeof inspection->processor, "%s", machine->name);
    snprintf(inspection->note, sizeof inspection->note, "simulating %.200s under valgrind",
             inspection->machine || !slash ? path : slash + 1);
    if (plan_make(&o, &inspection->matrices, &inspection->plan) != 0 ||
        inspection_room(inspection) != 0)
        return fail(error, STRATA_FAILED, "out of memory");
    return run_kernels(inspection, &options, error);
}
