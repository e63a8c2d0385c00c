/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How an autotuner uses strata_probe(): it chooses the block of a matrix transposition
 * from what was measured, and then shows it timed beside other blocks.
 *
 *     tile [--machine FILE] [--seconds S]
 *
 * A block of b x b numbers is read by rows and written by columns. It pays if the lines of
 * both stay in the first cache until all of them is used, and if the pages that the rows
 * of both lie in stay in the first TLB, so:
 *
 *     2 b b sizeof(double) <= usable size of L1
 *     2 b                  <= entries of the L1 TLB      (a row is longer than a page)
 *     b is a multiple of the numbers in a line
 *
 * With --machine the hierarchy is that of a simulated machine; then there is nothing to
 * be timed, and only the choice is printed. S (4) is how long the probe may take.
 *
 * Build it by `make examples`, or against an installed strata:
 *     cc tile.c $(pkg-config --cflags --libs strata) */
#include <stdio.h>
#include <stdlib.h>
#include <strata/error.h>
#include <strata/machine.h>
#include <strata/probe.h>
#include <string.h>
#include <time.h>

enum {
    N = 3000,   /* numbers in a row: 72 MB a matrix, and no power of two */
    ROUNDS = 3, /* of each block, of which the fastest counts */
};

/* The blocks that are timed, by what they are of the chosen one. */
static const struct {
    int times, of;
} neighbours[] = {{1, 8}, {1, 4}, {1, 2}, {1, 1}, {2, 1}, {4, 1}, {8, 1}};

/* Every answer comes with the chance that it is right: a doubtful one is not built on. */
static int trusted(const struct strata_value *value)
{
    return value->known && value->confidence >= 0.9;
}

/* The least of what the parameters allow; 0 if the first cache is not known. */
static size_t choose_block(const struct strata_probed *probed)
{
    if (!probed->ncaches || !probed->caches[0].effective.known)
        return 0;
    const struct strata_probed_cache *l1 = &probed->caches[0];
    size_t line = trusted(&l1->line) ? (size_t)l1->line.value / sizeof(double) : 1;
    size_t block = 1;
    line = line ? line : 1;
    while (2 * (double)((block + 1) * (block + 1) * sizeof(double)) <= l1->effective.value)
        block++;
    for (int i = 0; i < probed->ntlbs; i++) {
        const struct strata_probed_tlb *tlb = &probed->tlbs[i];
        if (tlb->level == 1 && tlb->page == probed->page && trusted(&tlb->entries) &&
            2 * (double)block > tlb->entries.value)
            block = (size_t)tlb->entries.value / 2;
    }
    return block > line ? block / line * line : line;
}

static void transpose(double *to, const double *from, size_t block)
{
    for (size_t i0 = 0; i0 < N; i0 += block)
        for (size_t j0 = 0; j0 < N; j0 += block)
            for (size_t i = i0; i < i0 + block && i < N; i++)
                for (size_t j = j0; j < j0 + block && j < N; j++)
                    to[j * N + i] = from[i * N + j];
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Nanoseconds a number, the best of some rounds. */
static double time_block(double *to, const double *from, size_t block)
{
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        transpose(to, from, block);
        double ns = (seconds() - start) * 1e9 / ((double)N * N);
        best = ns < best ? ns : best;
    }
    return best;
}

static int is_transposed(const double *to, const double *from)
{
    for (size_t i = 0; i < N; i += 7)
        for (size_t j = 0; j < N; j += 11)
            if (to[j * N + i] != from[i * N + j])
                return 0;
    return 1;
}

static int time_neighbours(size_t chosen)
{
    double *from = malloc(sizeof(double) * N * N), *to = malloc(sizeof(double) * N * N);
    int right = from && to;
    for (size_t i = 0; right && i < (size_t)N * N; i++)
        from[i] = to[i] = (double)i; /* also touches every page before the clock runs */
    if (right)
        printf("transposing %d x %d doubles:\n  block    ns a number\n", N, N);
    for (size_t i = 0; right && i < sizeof neighbours / sizeof *neighbours; i++) {
        size_t block = chosen * (size_t)neighbours[i].times / (size_t)neighbours[i].of;
        if (!block)
            continue;
        printf("  %5zu    %11.2f%s\n", block, time_block(to, from, block),
               block == chosen ? "   chosen" : "");
        right = is_transposed(to, from);
    }
    if (right)
        printf("  %5d    %11.2f   no blocks\n", N, time_block(to, from, N));
    free(from);
    free(to);
    return right ? 0 : 1;
}

static void print_value(const char *name, const struct strata_value *value)
{
    if (trusted(value))
        printf("  %-12s %.0f\n", name, value->value);
    else
        printf("  %-12s not known: %s\n", name, value->known ? "doubtful" : value->why);
}

static int tune(const struct strata_probed *probed, int simulated)
{
    size_t block = choose_block(probed);
    if (!block) {
        fprintf(stderr, "tile: the first cache is not known: %s\n",
                probed->ncaches ? probed->caches[0].effective.why : "none was found");
        return STRATA_UNABLE;
    }
    printf("%s:\n", probed->name);
    print_value("L1 usable", &probed->caches[0].effective);
    print_value("L1 line", &probed->caches[0].line);
    if (probed->ntlbs)
        print_value("TLB entries", &probed->tlbs[0].entries);
    printf("  %-12s %zu\n", "block", block);
    return simulated ? STRATA_OK : time_neighbours(block);
}

static int read_arguments(int argc, char **argv, const char **file, double *budget)
{
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && !strcmp(argv[i], "--machine"))
            *file = argv[i + 1];
        else if (i + 1 < argc && !strcmp(argv[i], "--seconds"))
            *budget = atof(argv[i + 1]);
        else
            return -1;
    }
    return *budget > 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct strata_probe_options options = {.cpu = -1, .budget = 4};
    struct strata_machine machine;
    struct strata_probed probed;
    struct strata_error error = {0};
    const char *file = NULL;
    int status = STRATA_OK;
    if (read_arguments(argc, argv, &file, &options.budget)) {
        fprintf(stderr, "usage: tile [--machine FILE] [--seconds S]\n");
        return STRATA_BAD_INPUT;
    }
    if (file) {
        status = strata_machine_read(file, &machine, &error);
        options.machine = &machine;
    }
    if (!status)
        status = strata_probe(&options, &probed, &error);
    if (status) {
        fprintf(stderr, "tile: %s\n", error.text);
        return status;
    }
    status = tune(&probed, file != NULL);
    strata_probed_release(&probed);
    return status;
}
