/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `strata record` costs: CPU time and memory beside those of the program alone and of
 * cachegrind, whose caches it has, with TLBs and with misses counted by object, function
 * and line.
 *
 *     build/bench/record_speed [-r REPEATS] [PROGRAM]...
 *
 * CPU time is that of the whole command in user mode: for strata, reading symbols and
 * writing the profile is part of it. The three take turns, and the least of each counts,
 * since neighbours only ever add time. Targets: the geometric mean of the ratios to
 * cachegrind is at most 1, and no ratio is above 1.3.
 *
 * The simulator of Buck (2004, chapter 3) took 37 to 109 times the program's own time. */
#include "workloads.h"

#include <math.h>

#define MEAN_TARGET  1.0
#define WORST_TARGET 1.3

enum { NATIVE, CACHEGRIND, STRATA, WAYS };

/* Own programs: arrays, random access, allocation. The last are not part of the mean: they
 * show what the number of live objects costs. */
static const struct workload own_programs[] = {
    {"matrix", {"matrix"}},
    {"hash", {"hash"}},
    {"allocate", {"allocate"}},
    {"objects", {"objects", "1300"}},
    {"objects+", {"objects", "1300000"}},
};
enum { OWN_PROGRAMS = sizeof own_programs / sizeof *own_programs, COUNTED = 3 };

struct cost {
    struct usage usage[WAYS]; /* least time, most memory */
    bool same_output;
};

struct summary {
    int programs, missed;
    double logs, worst, least_slowdown, most_slowdown;
};

static void keep_best(struct usage *best, struct usage now, bool first)
{
    best->seconds = first ? now.seconds : fmin(best->seconds, now.seconds);
    best->megabytes = fmax(best->megabytes, now.megabytes);
}

static struct cost measure(const struct bench *bench, const char *const *program,
                           int repeats)
{
    static const char *const options[] = {"--exact", "--", NULL};
    static const char *const nothing[] = {NULL};
    static const char *const outputs[WAYS] = {"output", "output-cg", "output-st"};
    const char *before[RUN_WORDS], *words[RUN_WORDS];
    const char *const *const prefixes[WAYS] = {nothing, cachegrind_words(),
                                               strata_words(bench, before, options)};
    struct cost cost = {.same_output = true};
    for (int i = 0; i < repeats; i++) {
        for (int way = 0; way < WAYS; way++)
            keep_best(
                &cost.usage[way],
                run(bench, run_words(words, prefixes[way], program), NULL, outputs[way]),
                i == 0);
        cost.same_output &= same_files(bench, "output", "output-st");
    }
    return cost;
}

static void print_cost(const char *name, const struct cost *cost)
{
    const struct usage *usage = cost->usage;
    printf("%-9s %6.2f %5.0f |", name, usage[NATIVE].seconds, usage[NATIVE].megabytes);
    for (int way = CACHEGRIND; way <= STRATA; way++)
        printf(" %6.2f %6.1fx %5.0f |", usage[way].seconds,
               usage[way].seconds / usage[NATIVE].seconds, usage[way].megabytes);
    printf(" %5.2f%s\n", usage[STRATA].seconds / usage[CACHEGRIND].seconds,
           cost->same_output ? "" : "  OUTPUT DIFFERS");
    fflush(stdout);
}

static void add_up(struct summary *summary, const struct cost *cost)
{
    double ratio = cost->usage[STRATA].seconds / cost->usage[CACHEGRIND].seconds;
    double slowdown = cost->usage[STRATA].seconds / cost->usage[NATIVE].seconds;
    bool first = summary->programs++ == 0;
    summary->logs += log(ratio);
    summary->worst = fmax(summary->worst, ratio);
    summary->least_slowdown = first ? slowdown : fmin(summary->least_slowdown, slowdown);
    summary->most_slowdown = fmax(summary->most_slowdown, slowdown);
}

static void print_head(int repeats)
{
    printf("CPU time in user mode, the least of %d; times native; MB: most memory\n",
           repeats);
    printf("%-9s %12s | %20s | %20s | %s\n", "", "native", "cachegrind", "strata record",
           "strata /");
    printf("%-9s %6s %5s | %6s %7s %5s | %6s %7s %5s | %s\n", "", "s", "MB", "s", "native",
           "MB", "s", "native", "MB", "cachegrind");
}

/* Returns whether the targets are met. */
static bool print_summary(const struct summary *summary)
{
    double mean = summary->programs ? exp(summary->logs / summary->programs) : INFINITY;
    bool met = mean <= MEAN_TARGET && summary->worst <= WORST_TARGET && !summary->missed;
    printf("times native: %.1f to %.1f (Buck's simulator: 37 to 109)\n",
           summary->least_slowdown, summary->most_slowdown);
    printf("times cachegrind: geometric mean of %d programs %.2f (target %.1f), largest "
           "%.2f (%.1f): %s\n",
           summary->programs, mean, MEAN_TARGET, summary->worst, WORST_TARGET,
           met ? "met" : "MISSED");
    return met;
}

/* Measures one program and prints its row. */
static void measure_one(const struct bench *bench, const char *name,
                        const char *const *program, int repeats, struct summary *summary)
{
    struct cost cost = measure(bench, program, repeats);
    print_cost(name, &cost);
    if (summary) {
        add_up(summary, &cost);
        summary->missed += !cost.same_output;
    }
}

static void measure_own(const struct bench *bench, int i, int repeats,
                        struct summary *summary)
{
    char path[PATH_MAX];
    const char *words[RUN_WORDS];
    const char *const first[] = {format_to(path, sizeof path, "%s/bench/programs/%s",
                                           bench->build, own_programs[i].argv[0]),
                                 NULL};
    if (i == COUNTED)
        puts("the same with 1,300 and with 1,300,000 live objects, visited at random:");
    measure_one(bench, own_programs[i].name,
                run_words(words, first, own_programs[i].argv + 1), repeats,
                i < COUNTED ? summary : NULL);
}

int main(int argc, char **argv)
{
    struct bench bench;
    struct summary summary = {.programs = 0};
    const char *words[RUN_WORDS];
    int repeats = argc > 2 && strcmp(argv[1], "-r") == 0 ? atoi(argv[2]) : 3;
    char **names = argv + (argc > 2 && strcmp(argv[1], "-r") == 0 ? 3 : 1);
    int n = argc - (int)(names - argv);
    if (repeats < 1)
        die("usage: record_speed [-r REPEATS] [PROGRAM]...");
    bench_begin(&bench);
    workloads_prepare(&bench);
    print_head(repeats);
    for (int i = 0; i < REAL_PROGRAMS; i++) {
        if (!is_chosen(real_programs[i].name, names, n))
            continue;
        if (workload_there(&bench, &real_programs[i]))
            measure_one(&bench, real_programs[i].name,
                        workload_argv(&bench, &real_programs[i], words), repeats, &summary);
        else
            summary.missed++;
    }
    for (int i = 0; i < OWN_PROGRAMS; i++)
        if (is_chosen(own_programs[i].name, names, n))
            measure_own(&bench, i, repeats, &summary);
    bool met = print_summary(&summary);
    bench_end(&bench);
    return !met;
}
