/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The probe on machines that nobody tuned for: the share of parameters that it finds over
 * random ones, and whether its confidences mean what they say.
 *
 *     build/bench/random [MACHINES [FIRST-SEED]] */
#include "parallel.h"
#include "random_machine.h"
#include "score.h"

#include <strata/error.h>

static uint64_t first_seed = 1;
static struct score total;

static void probe_one(int i, void *result)
{
    struct strata_machine machine;
    struct strata_probed probed;
    struct strata_error error;
    uint64_t seed = first_seed + (uint64_t)i;
    random_machine(seed, &machine);
    struct strata_probe_options options = {.machine = &machine, .cpu = -1, .seed = seed};
    if (strata_probe(&options, &probed, &error)) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, error.text);
        _exit(1);
    }
    score_probe(result, &machine, &probed);
    strata_probed_release(&probed);
}

/* With the totals so far: all of them take long. */
static void print_one(int i, const void *result)
{
    const struct score *score = result;
    score_add(&total, score);
    int right = total.band_right[BANDS - 1], all = total.band_all[BANDS - 1];
    printf("seed %llu: %s; so far %.2f%% found, %d of %d right at 0.95 or more\n%s",
           (unsigned long long)first_seed + (unsigned)i,
           *score->wrongs ? "not all right" : "all right", 100 * score_share(&total), right,
           all, score->wrongs);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int machines = argc > 1 ? atoi(argv[1]) : 200;
    first_seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    printf("%d random machines\n", machines);
    int failed = parallel(machines, sizeof(struct score), probe_one, print_one);
    putchar('\n');
    score_print(&total);
    return failed || score_share(&total) < 0.98;
}
