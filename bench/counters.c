/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The probe by counts on simulated machines whose truth is known: every size, line,
 * associativity and number of entries must be exact, and few accesses must do.
 *
 *     build/bench/counters machines [FILE...]      those of machines/, or the files
 *     build/bench/counters random [MACHINES [FIRST-SEED]]
 *     build/bench/counters effort [FILE|SEED...]   accesses beside those of timing
 *     build/bench/counters itanium                 beside the figures of the paper
 *     build/bench/counters lies                    events that lie must be named
 *
 * What is wrong or not told is listed. `random` takes 200 machines if no number is given,
 * `machines` and `effort` take those of machines/ if no file is; a number for `effort` is
 * the seed of a random machine. */
#include "counted_score.h"
#include "parallel.h"
#include "random_machine.h"

#include <glob.h>
#include <math.h>
#include <strata/error.h>

static uint64_t first_seed = 1;
static char **paths;
static struct counted_score total;
static double least_ratio, most_accesses, sum_accesses;

struct outcome {
    struct counted_score score;
    char name[64];
    uint64_t accesses, timing;
    double seconds;
};

static void probe_machine(const struct strata_machine *machine, uint64_t seed,
                          struct outcome *outcome)
{
    struct strata_probed probed;
    struct strata_error error;
    memset(outcome, 0, sizeof *outcome);
    snprintf(outcome->name, sizeof outcome->name, "%s", machine->name);
    if (counted_probe(machine, seed, NULL, 0, &probed, &error)) {
        fprintf(stderr, "%s: %s\n", machine->name, error.text);
        _exit(1);
    }
    outcome->accesses = probed.accesses;
    outcome->seconds = probed.seconds;
    counted_score(&outcome->score, machine, &probed);
    strata_probed_release(&probed);
}

static void read_machine(const char *path, struct strata_machine *machine)
{
    struct strata_error error;
    if (strata_machine_read(path, machine, &error)) {
        fprintf(stderr, "%s\n", error.text);
        _exit(1);
    }
}

static void probe_file(int i, void *result)
{
    struct strata_machine machine;
    read_machine(paths[i], &machine);
    probe_machine(&machine, 0, result);
}

static void probe_seed(int i, void *result)
{
    struct strata_machine machine;
    random_machine(first_seed + (uint64_t)i, &machine);
    probe_machine(&machine, first_seed + (uint64_t)i, result);
}

/* By counts and by the clock, to compare. */
static void probe_both(int i, void *result)
{
    struct strata_machine machine;
    struct strata_probed probed;
    struct strata_error error;
    struct outcome *outcome = result;
    char *end;
    uint64_t seed = strtoull(paths[i], &end, 10);
    if (*end) {
        seed = 0;
        read_machine(paths[i], &machine);
    } else {
        random_machine(seed, &machine);
    }
    probe_machine(&machine, seed, result);
    struct strata_probe_options options = {.machine = &machine, .cpu = -1};
    if (strata_probe(&options, &probed, &error)) {
        fprintf(stderr, "%s: %s\n", machine.name, error.text);
        _exit(1);
    }
    outcome->timing = probed.accesses;
    strata_probed_release(&probed);
}

static void print_one(int i, const void *result)
{
    const struct outcome *outcome = result;
    (void)i;
    counted_score_add(&total, &outcome->score);
    printf("%-40s %3d of %3d right, %6.2f M accesses, %5.1f s", outcome->name,
           outcome->score.right, outcome->score.all, (double)outcome->accesses / 1e6,
           outcome->seconds);
    sum_accesses += (double)outcome->accesses;
    most_accesses = fmax(most_accesses, (double)outcome->accesses);
    if (outcome->timing) {
        double ratio = (double)outcome->timing / (double)outcome->accesses;
        printf(", timing %.1f M: %.1f times as many", (double)outcome->timing / 1e6, ratio);
        least_ratio = least_ratio > 0 ? fmin(least_ratio, ratio) : ratio;
    }
    printf("\n%s", outcome->score.wrongs);
    fflush(stdout);
}

/* The figures of Dongarra and others (2004), and what is found on the simulated machine. */

static void print_cell(const struct strata_value *value, double unit)
{
    value->known ? printf(" %6g", value->value / unit) : printf(" %6s", "?");
}

static void print_itanium(const struct strata_probed *probed)
{
    static const double paper[3][3] = {{16, 64, 4}, {256, 128, 8}, {1536, 128, 0}};
    static const double tlbs[2][2] = {{32, 4}, {128, 16}};
    for (int i = 0; i < probed->ncaches; i++) {
        const struct strata_probed_cache *cache = &probed->caches[i];
        const double *p = paper[cache->level - 1];
        printf("  L%d   %6g", cache->level, p[0]), print_cell(&cache->size, 1024);
        printf(" |%6g", p[1]), print_cell(&cache->line, 1);
        p[2] > 0 ? printf(" |%6g", p[2]) : printf(" |%6s", "-");
        print_cell(&cache->ways, 1), putchar('\n');
    }
    for (int i = 0; i < probed->ntlbs; i++) {
        const struct strata_probed_tlb *tlb = &probed->tlbs[i];
        const double *p = tlbs[tlb->level - 1];
        printf("  TLB%d %6g", tlb->level, p[0]), print_cell(&tlb->entries, 1);
        printf(" |%6g %6g |  full", p[1], (double)tlb->page / 1024);
        print_cell(&tlb->ways, 1), putchar('\n');
    }
}

static int run_itanium(void)
{
    static const char path[] = "machines/intel-itanium-2-900-16k.machine";
    static const enum strata_types types[] = {STRATA_INT, STRATA_FLOAT};
    struct strata_machine machine;
    struct strata_error error;
    if (strata_machine_read(path, &machine, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    printf(
        "columns: the paper, found; size in K (TLBs: entries), line in bytes (TLBs: page "
        "in K), ways\n");
    for (int i = 0; i < 2; i++) {
        struct strata_probed probed;
        counted_type = types[i];
        if (counted_probe(&machine, 0, NULL, 0, &probed, &error)) {
            fprintf(stderr, "%s\n", error.text);
            return 1;
        }
        printf("%s: %.2f M accesses\n", i ? "double" : "int",
               (double)probed.accesses / 1e6);
        print_itanium(&probed);
        strata_probed_release(&probed);
    }
    return 0;
}

/* Lies: one event of one machine at a time. */

static bool is_named(const struct strata_probed *probed, const char *event, const char *how)
{
    for (int i = 0; i < probed->nnotes; i++)
        if (strstr(probed->notes[i], event) && strstr(probed->notes[i], how))
            return true;
    return false;
}

static int run_lies(void)
{
    static const struct {
        enum event_fault kind;
        const char *what, *how;
    } lies[] = {{FAULT_STUCK, "never moves", "never moves"},
                {FAULT_DOUBLE, "counts twice", "counts twice"},
                {FAULT_NOISE, "5% noise", "noise"}};
    static const struct {
        int event;
        const char *name;
    } events[] = {{CACHE_EVENT(1), "l1d_misses"},
                  {CACHE_EVENT(2), "l2_misses"},
                  {CACHE_EVENT(3), "l3_misses"},
                  {TLB_EVENT(1), "dtlb_misses"},
                  {TLB_EVENT(2), "dtlb2_misses"}};
    struct strata_machine machine;
    struct strata_error error;
    int found = 0, all = 0;
    if (strata_machine_read("machines/generic.machine", &machine, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    for (size_t e = 0; e < sizeof events / sizeof *events; e++)
        for (size_t l = 0; l < sizeof lies / sizeof *lies; l++)
            for (uint64_t seed = 1; seed <= 20; seed++) {
                struct counting_fault fault = {events[e].event, lies[l].kind, 0.05};
                struct strata_probed probed;
                counted_events(&machine, seed, &fault, &probed);
                bool named = is_named(&probed, events[e].name, lies[l].how);
                found += named && probed.nnotes == 1;
                all++;
                if (seed == 1)
                    printf("%-14s %-14s %s\n", events[e].name, lies[l].what,
                           named ? probed.notes[0] : "NOT FOUND");
                strata_probed_release(&probed);
            }
    printf("\n%d of %d lies named, and no other event accused\n", found, all);
    return found != all;
}

static int finish(int n, int failed)
{
    counted_score_print(&total);
    printf("%.2f M accesses on average, %.2f M at the most\n", sum_accesses / n / 1e6,
           most_accesses / 1e6);
    if (least_ratio > 0)
        printf("timing takes at least %.1f times as many\n", least_ratio);
    return failed || counted_share(&total) < 0.99 || (least_ratio > 0 && least_ratio < 10);
}

/* The files that are given, or those of machines/. */
static int run_files(int argc, char **argv, void (*probe)(int i, void *result))
{
    glob_t found = {0};
    paths = argv;
    if (!argc && glob("machines/*.machine", 0, NULL, &found) == 0) {
        paths = found.gl_pathv;
        argc = (int)found.gl_pathc;
    }
    int failed = parallel(argc, sizeof(struct outcome), probe, print_one);
    globfree(&found);
    return finish(argc, failed);
}

static int run_random(int n)
{
    return finish(n, parallel(n, sizeof(struct outcome), probe_seed, print_one));
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "machines";
    int given = argc > 2 ? argc - 2 : 0;
    if (strcmp(mode, "random") == 0) {
        first_seed = given > 1 ? strtoull(argv[3], NULL, 0) : first_seed;
        return run_random(given ? atoi(argv[2]) : 200);
    }
    if (strcmp(mode, "effort") == 0)
        return run_files(given, argv + 2, probe_both);
    if (strcmp(mode, "itanium") == 0)
        return run_itanium();
    if (strcmp(mode, "lies") == 0)
        return run_lies();
    return run_files(given, argv + 2, probe_file);
}
