/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The latencies that the probe tells of this machine beside a plain chase: pointers to
 * every line of a footprint in random order, 4K pages, the least of fifteen, right after
 * the probe and on the same processor. It shares no code with the probe, so it does not
 * share its mistakes.
 *
 *     build/bench/chase [RUNS]
 *
 * A chase within L2 stays in the reach of the first TLB where it can; one within L3 does
 * not, and pays for that. Where others use the L3, both vary from second to second. */
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <strata/error.h>
#include <strata/probe.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { RUNS = 20, TRIES = 15, LINE = 64, VISITS = 1 << 18, MOST = 64 << 20 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Links the lines of a footprint in a random order. */
static void **link_lines(char *memory, size_t n)
{
    uint32_t *order = malloc(n * sizeof *order);
    if (!order)
        exit(1);
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n - 1; i > 0; i--) {
        size_t j = (((size_t)random() << 20) ^ (size_t)random()) % (i + 1);
        uint32_t swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
    for (size_t i = 0; i < n; i++)
        *(void **)(memory + (size_t)order[i] * LINE) =
            memory + (size_t)order[(i + 1) % n] * LINE;
    void **first = (void **)(memory + (size_t)order[0] * LINE);
    free(order);
    return first;
}

static double chase_ns(char *memory, double bytes)
{
    size_t n = (size_t)(bytes / LINE), visits = n > VISITS ? n : VISITS;
    double least = INFINITY;
    for (int i = 0; i < TRIES; i++) {
        void *volatile *p = (void *volatile *)link_lines(memory, n);
        for (size_t j = 0; j < 2 * n; j++)
            p = *p;
        double start = now_ns();
        for (size_t j = 0; j < visits; j++)
            p = *p;
        least = fmin(least, (now_ns() - start) / (double)visits);
    }
    return least;
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void unpin(const cpu_set_t *all)
{
    sched_setaffinity(0, sizeof *all, all);
}

/* Bytes that one level has room for and the one before has not. */
static double footprint(const struct strata_probed *probed, int level)
{
    double low = 2 * probed->caches[level - 1].effective.value;
    double high = 0.7 * probed->caches[level].effective.value;
    double reach = 0.75 * probed->tlbs[0].entries.value * (double)probed->tlbs[0].page;
    if (probed->ntlbs && probed->tlbs[0].entries.known && reach > low)
        high = fmin(high, reach);
    return fmin(fmin(low, high), MOST);
}

/* Prints a level and returns whether its interval holds what the chase took. */
static int show(const struct strata_probed *probed, int level, char *memory)
{
    const struct strata_value *told = &probed->caches[level].latency_cycles;
    double bytes = footprint(probed, level);
    double took = chase_ns(memory, bytes) / probed->cycle_ns;
    int holds = told->known && told->low <= took && took <= told->high;
    printf("  L%d %6.1f [%5.1f, %5.1f] at %.2f, chase of %5.0fK %6.1f %s", level + 1,
           told->value, told->low, told->high, told->confidence, bytes / 1024, took,
           holds ? "held" : "NOT HELD");
    return holds;
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : RUNS, held[3] = {0}, told[3] = {0};
    char *memory =
        mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cpu_set_t all;
    if (memory == MAP_FAILED || madvise(memory, MOST, MADV_NOHUGEPAGE))
        return 3;
    memset(memory, 1, MOST);
    sched_getaffinity(0, sizeof all, &all);
    for (int run = 0; run < runs; run++) {
        struct strata_probe_options options = {.cpu = -1, .seed = (uint64_t)run + 1};
        struct strata_probed probed;
        struct strata_error error;
        if (strata_probe(&options, &probed, &error))
            return fprintf(stderr, "%s\n", error.text), 1;
        pin(probed.cpu);
        for (int level = 1; level < probed.ncaches && level < 3; level++) {
            told[level]++;
            held[level] += show(&probed, level, memory);
        }
        unpin(&all);
        printf("  %.1f s\n", probed.seconds);
        fflush(stdout);
        strata_probed_release(&probed);
    }
    printf("the interval holds a plain chase: L2 %d of %d, L3 %d of %d (%d runs)\n",
           held[1], told[1], held[2], told[2], runs);
    return held[1] == told[1] && held[2] == told[2] ? 0 : 1;
}
