/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The probe by counts on simulated machines whose truth is known: every size, line,
 * associativity and number of entries must be exact, and few accesses must do.
 *
 *     build/bench/counters machines [FILE...]      those of machines/, or the files
 *     build/bench/counters random [MACHINES [FIRST-SEED]]
 *     build/bench/counters effort [MACHINES]       accesses beside those of timing
 *
 * What is wrong or not told is listed. The last two modes take 200 and 6 machines if no
 * number is given. */
#include "counted_score.h"
#include "parallel.h"
#include "random_machine.h"

#include <glob.h>
#include <strata/error.h>

static uint64_t first_seed = 1;
static char **paths;
static struct counted_score total;

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

static void probe_file(int i, void *result)
{
    struct strata_machine machine;
    struct strata_error error;
    if (strata_machine_read(paths[i], &machine, &error)) {
        fprintf(stderr, "%s\n", error.text);
        _exit(1);
    }
    probe_machine(&machine, 0, result);
}

static void probe_seed(int i, void *result)
{
    struct strata_machine machine;
    random_machine(first_seed + (uint64_t)i, &machine);
    probe_machine(&machine, first_seed + (uint64_t)i, result);
}

/* The same by the clock, to compare. */
static void probe_both(int i, void *result)
{
    struct strata_machine machine;
    struct strata_probed probed;
    struct strata_error error;
    struct outcome *outcome = result;
    probe_seed(i, result);
    random_machine(first_seed + (uint64_t)i, &machine);
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
    if (outcome->timing)
        printf(", timing %.1f M: %.1f times as many", (double)outcome->timing / 1e6,
               (double)outcome->timing / (double)outcome->accesses);
    printf("\n%s", outcome->score.wrongs);
    fflush(stdout);
}

static int finish(int failed)
{
    counted_score_print(&total);
    return failed || counted_share(&total) < 0.99;
}

static int run_files(int argc, char **argv)
{
    glob_t found = {0};
    paths = argv;
    if (!argc && glob("machines/*.machine", 0, NULL, &found) == 0) {
        paths = found.gl_pathv;
        argc = (int)found.gl_pathc;
    }
    return finish(parallel(argc, sizeof(struct outcome), probe_file, print_one));
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "machines";
    int n = argc > 2 ? atoi(argv[2]) : 0;
    if (argc > 3)
        first_seed = strtoull(argv[3], NULL, 0);
    if (strcmp(mode, "random") == 0)
        return finish(parallel(n ? n : 200, sizeof(struct outcome), probe_seed, print_one));
    if (strcmp(mode, "effort") == 0)
        return finish(parallel(n ? n : 6, sizeof(struct outcome), probe_both, print_one));
    return run_files(argc > 2 ? argc - 2 : 0, argv + 2);
}
