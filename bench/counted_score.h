/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A probe by counts of a simulated machine, and what it found held against the machine:
 * every number is right only if it is exact. */
#ifndef BENCH_COUNTED_SCORE_H
#define BENCH_COUNTED_SCORE_H

#include "probe/counted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct counted_score {
    int right, wrong, null, all;
    char wrongs[4096];
};

static inline double counted_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static enum strata_types counted_type = STRATA_INT; /* what is loaded */
static bool counted_plots = false;                  /* whether plots want their kernels */

/* Only judges the events of a simulated machine, one of which may lie. */
static inline void counted_events(const struct strata_machine *machine, uint64_t seed,
                                  const struct counting_fault *fault,
                                  struct strata_probed *probed)
{
    struct strata_probe_options options = {.machine = machine, .cpu = -1};
    struct strata_error error;
    struct counting *counting;
    memset(probed, 0, sizeof *probed);
    if (counting_simulated(&counting, machine, seed, counted_base_bytes(machine->page), 0,
                           fault, 1, &error))
        return;
    struct counted c = {.counting = counting,
                        .probed = probed,
                        .options = &options,
                        .type = STRATA_INT,
                        .error = &error};
    c.rng.state = seed;
    judge_events(&c);
    free(c.moved);
    counting_release(counting);
}

/* Probes a simulated machine; `faults` are events that lie. */
static inline int counted_probe(const struct strata_machine *machine, uint64_t seed,
                                const struct counting_fault *faults, size_t n,
                                struct strata_probed *probed, struct strata_error *error)
{
    struct strata_probe_options options = {.machine = machine,
                                           .cpu = -1,
                                           .seed = seed,
                                           .type = counted_type,
                                           .kernels = counted_plots};
    struct counting *counting;
    double start = counted_seconds();
    int status = counting_simulated(&counting, machine, seed ? seed : 1,
                                    counted_base_bytes(machine->page),
                                    counted_huge_bytes(machine->huge), faults, n, error);
    if (status)
        return status;
    status = probe_counted(&options, counting, probed, error);
    counting_release(counting);
    probed->seconds = counted_seconds() - start;
    return status;
}

static inline void counted_check(struct counted_score *score, const char *what, int level,
                                 double truth, const struct strata_value *value)
{
    char line[320] = "";
    score->all++;
    if (!value->known) {
        score->null++;
        snprintf(line, sizeof line, "    L%d %s: %g, not told: %s\n", level, what, truth,
                 value->why);
    } else if (value->value != truth) {
        score->wrong++;
        snprintf(line, sizeof line, "    L%d %s: %g, found %g\n", level, what, truth,
                 value->value);
    } else {
        score->right++;
    }
    if (strlen(score->wrongs) + strlen(line) < sizeof score->wrongs)
        strcat(score->wrongs, line);
}

static inline void counted_number(struct counted_score *score, const char *what,
                                  double truth, double found)
{
    struct strata_value value = {.known = true, .value = found};
    counted_check(score, what, 0, truth, &value);
}

static inline void counted_score_caches(struct counted_score *score,
                                        const struct strata_machine *machine,
                                        const struct strata_probed *probed)
{
    int n = 0;
    static const struct strata_probed_cache none;
    for (uint32_t i = 0; i < machine->ncaches; i++) {
        const struct strata_cache *cache = &machine->caches[i];
        if (cache->kind == STRATA_INSTRUCTION)
            continue;
        const struct strata_probed_cache *found =
            n < probed->ncaches ? &probed->caches[n] : &none;
        n++;
        counted_check(score, "size", n, (double)cache->size, &found->size);
        counted_check(score, "line", n, cache->line, &found->line);
        counted_check(score, "ways", n, cache->ways, &found->ways);
    }
    counted_number(score, "cache levels", n, probed->ncaches);
}

static inline void counted_score_tlbs(struct counted_score *score,
                                      const struct strata_machine *machine,
                                      const struct strata_probed *probed)
{
    int n = 0;
    static const struct strata_probed_tlb none;
    for (uint32_t i = 0; i < machine->ntlbs; i++) {
        const struct strata_tlb *tlb = &machine->tlbs[i];
        if (tlb->kind == STRATA_INSTRUCTION)
            continue;
        const struct strata_probed_tlb *found = &none;
        for (int j = 0; j < probed->ntlbs; j++)
            if (probed->tlbs[j].level == (int)tlb->level &&
                probed->tlbs[j].page == tlb->page)
                found = &probed->tlbs[j];
        n++;
        counted_check(score, "TLB entries", (int)tlb->level, tlb->entries, &found->entries);
        counted_check(score, "TLB ways", (int)tlb->level, tlb->ways, &found->ways);
    }
    counted_number(score, "TLBs", n, probed->ntlbs);
}

static inline void counted_score(struct counted_score *score,
                                 const struct strata_machine *machine,
                                 const struct strata_probed *probed)
{
    memset(score, 0, sizeof *score);
    counted_score_caches(score, machine, probed);
    counted_score_tlbs(score, machine, probed);
}

static inline void counted_score_add(struct counted_score *sum,
                                     const struct counted_score *score)
{
    sum->right += score->right;
    sum->wrong += score->wrong;
    sum->null += score->null;
    sum->all += score->all;
}

static inline double counted_share(const struct counted_score *score)
{
    return score->all ? (double)score->right / score->all : 0;
}

static inline void counted_score_print(const struct counted_score *score)
{
    printf("\n%d of %d exact (%.2f%%), %d wrong, %d not told\n", score->right, score->all,
           100 * counted_share(score), score->wrong, score->null);
}

#endif
