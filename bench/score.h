/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a probe of a simulated machine found, held against the machine.
 *
 * Every parameter is right, wrong or not told. Effective capacities are right between half
 * and all of the nominal one: how much of a physically indexed cache a program can use
 * depends on the pages it gets. Latencies and penalties of TLBs are right within a cycle
 * or a tenth.
 *
 * Confidences are tested by what they are about: that a count is the true one, that a
 * capacity is right in the sense above, that the interval of a time holds the true one. */
#ifndef BENCH_SCORE_H
#define BENCH_SCORE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <strata/probe.h>
#include <string.h>

enum parameter {
    CACHE_LEVELS,
    L1_SIZE,
    L1_WAYS,
    LINE,
    EFFECTIVE,
    LATENCY,
    TLB_LEVELS,
    ENTRIES,
    TLB_WAYS,
    PENALTY,
    OUTER_SIZE, /* from here on null is an answer: they are told where they can be */
    OUTER_WAYS,
    PARAMETERS
};

static const char *const parameter_names[PARAMETERS] = {
    "cache levels", "L1 size", "L1 ways",  "line size",   "effective capacity", "latency",
    "TLB levels",   "entries", "TLB ways", "TLB penalty", "L2+ size",           "L2+ ways",
};

enum { BANDS = 4 }; /* of confidence: below 0.8, 0.9, 0.95, and from there on */

struct score {
    int right[PARAMETERS], wrong[PARAMETERS], null[PARAMETERS];
    int band_right[BANDS], band_all[BANDS];
    int held, times;   /* intervals of times that hold the truth, and all */
    double widths;     /* of those intervals, as shares of the truth, added up */
    char wrongs[4096]; /* one line for each */
};

static inline int band_of(double confidence)
{
    return confidence < 0.8 ? 0 : confidence < 0.9 ? 1 : confidence < 0.95 ? 2 : 3;
}

static inline void score_wrong(struct score *score, const char *what, int level,
                               double truth, const struct strata_value *value)
{
    char line[320];
    if (value->known)
        snprintf(line, sizeof line, "  L%d %s: %g, found %g (%g to %g) at %.3f\n", level,
                 what, truth, value->value, value->low, value->high, value->confidence);
    else
        snprintf(line, sizeof line, "  L%d %s: %g, not told: %s\n", level, what, truth,
                 value->why);
    if (strlen(score->wrongs) + strlen(line) < sizeof score->wrongs)
        strcat(score->wrongs, line);
}

static inline void score_answer(struct score *score, enum parameter parameter, int level,
                                const struct strata_value *value, double truth, bool right)
{
    if (!value->known)
        score->null[parameter]++;
    else if (right)
        score->right[parameter]++;
    else
        score->wrong[parameter]++;
    if (!right && (value->known || parameter < OUTER_SIZE))
        score_wrong(score, parameter_names[parameter], level, truth, value);
}

static inline void score_confidence(struct score *score, const struct strata_value *value,
                                    bool right)
{
    if (!value->known)
        return;
    score->band_all[band_of(value->confidence)]++;
    score->band_right[band_of(value->confidence)] += right;
}

/* Right if low <= value <= high. */
static inline void score_value(struct score *score, enum parameter parameter, int level,
                               const struct strata_value *value, double truth, double low,
                               double high)
{
    bool right = value->known && value->value >= low && value->value <= high;
    score_answer(score, parameter, level, value, truth, right);
    score_confidence(score, value, right);
}

static inline void score_exact(struct score *score, enum parameter parameter, int level,
                               const struct strata_value *value, double truth)
{
    score_value(score, parameter, level, value, truth, truth, truth);
}

/* A time: the value must be near, the interval must hold the truth. */
static inline void score_near(struct score *score, enum parameter parameter, int level,
                              const struct strata_value *value, double truth, double share)
{
    double by = fmax(1, truth * share);
    bool held = value->known && value->low <= truth && truth <= value->high;
    bool near = value->known && fabs(value->value - truth) <= by;
    score_answer(score, parameter, level, value, truth, near);
    score_confidence(score, value, held);
    if (!value->known)
        return;
    score->held += held;
    score->times++;
    score->widths += (value->high - value->low) / truth;
    if (!held && near && value->confidence >= 0.95)
        score_wrong(score, "interval of a time", level, truth, value);
}

static inline void score_count(struct score *score, enum parameter parameter, int truth,
                               int found)
{
    struct strata_value value = {.known = true, .value = found, .confidence = 0};
    score->right[parameter] += truth == found;
    score->wrong[parameter] += truth != found;
    if (truth != found)
        score_wrong(score, parameter_names[parameter], 0, truth, &value);
}

/* The data caches of a machine, nearest first. */
static inline int data_caches(const struct strata_machine *machine,
                              const struct strata_cache **caches)
{
    int n = 0;
    for (uint32_t i = 0; i < machine->ncaches; i++)
        if (machine->caches[i].kind != STRATA_INSTRUCTION)
            caches[n++] = &machine->caches[i];
    return n;
}

static inline int data_tlbs(const struct strata_machine *machine, uint64_t page,
                            const struct strata_tlb **tlbs)
{
    int n = 0;
    for (uint32_t i = 0; i < machine->ntlbs; i++)
        if (machine->tlbs[i].kind != STRATA_INSTRUCTION && machine->tlbs[i].page == page)
            tlbs[n++] = &machine->tlbs[i];
    return n;
}

static inline void score_caches(struct score *score, const struct strata_machine *machine,
                                const struct strata_probed *probed)
{
    const struct strata_cache *caches[STRATA_MAX_CACHES];
    int n = data_caches(machine, caches);
    score_count(score, CACHE_LEVELS, n, probed->ncaches);
    score_confidence(score, &probed->levels, n == probed->ncaches);
    if (n != probed->ncaches)
        return;
    double usable = 0; /* an exclusive cache does not hold what the ones before do */
    for (int i = 0; i < n; i++) {
        const struct strata_probed_cache *found = &probed->caches[i];
        double size = (double)caches[i]->size;
        usable = size + (caches[i]->inclusion == STRATA_EXCLUSIVE ? usable : 0);
        score_exact(score, i ? OUTER_SIZE : L1_SIZE, i + 1, &found->size, size);
        score_exact(score, i ? OUTER_WAYS : L1_WAYS, i + 1, &found->ways, caches[i]->ways);
        score_exact(score, LINE, i + 1, &found->line, caches[i]->line);
        score_value(score, EFFECTIVE, i + 1, &found->effective, size, size / 2, usable);
        score_near(score, LATENCY, i + 1, &found->latency_cycles, caches[i]->latency, 0.1);
    }
    score_near(score, LATENCY, n + 1, &probed->memory_cycles, machine->memory_latency, 0.1);
}

/* Of one page size. `most` is how many pages the probe can have tried. */
static inline void score_tlbs(struct score *score, const struct strata_machine *machine,
                              uint64_t page, double most,
                              const struct strata_probed *probed)
{
    const struct strata_tlb *tlbs[STRATA_MAX_TLBS];
    const struct strata_probed_tlb *found[STRATA_MAX_TLBS];
    int n = data_tlbs(machine, page, tlbs), m = 0;
    while (n && tlbs[n - 1]->entries > most / 2)
        n--; /* out of reach */
    for (int i = 0; i < probed->ntlbs; i++)
        if (probed->tlbs[i].page == page && (probed->tlbs[i].entries.known || n))
            found[m++] = &probed->tlbs[i];
    score_count(score, TLB_LEVELS, n, m);
    for (int i = 0; i < n && n == m; i++) {
        bool last = (uint32_t)i + 1 == (uint32_t)data_tlbs(machine, page, tlbs);
        double walk = page == machine->huge && machine->walk_huge_latency
                          ? machine->walk_huge_latency
                          : machine->walk_latency;
        double penalty = last ? walk : tlbs[i + 1]->latency;
        score_exact(score, ENTRIES, i + 1, &found[i]->entries, tlbs[i]->entries);
        score_exact(score, TLB_WAYS, i + 1, &found[i]->ways, tlbs[i]->ways);
        score_near(score, PENALTY, i + 1, &found[i]->penalty_cycles, penalty, 0.1);
    }
}

static inline void score_probe(struct score *score, const struct strata_machine *machine,
                               const struct strata_probed *probed)
{
    memset(score, 0, sizeof *score);
    score_caches(score, machine, probed);
    score_tlbs(score, machine, machine->page, 16384, probed);
    if (machine->huge)
        score_tlbs(score, machine, machine->huge,
                   (double)((UINT64_C(512) << 20) / machine->huge), probed);
}

static inline void score_add(struct score *sum, const struct score *score)
{
    for (int i = 0; i < PARAMETERS; i++) {
        sum->right[i] += score->right[i];
        sum->wrong[i] += score->wrong[i];
        sum->null[i] += score->null[i];
    }
    for (int i = 0; i < BANDS; i++) {
        sum->band_right[i] += score->band_right[i];
        sum->band_all[i] += score->band_all[i];
    }
    sum->held += score->held;
    sum->times += score->times;
    sum->widths += score->widths;
}

/* The share of what must be told that was told right. */
static inline double score_share(const struct score *score)
{
    int right = 0, all = 0;
    for (int i = 0; i < OUTER_SIZE; i++) {
        right += score->right[i];
        all += score->right[i] + score->wrong[i] + score->null[i];
    }
    return all ? (double)right / all : 0;
}

static inline void score_print(const struct score *score)
{
    static const char *const bands[BANDS] = {"below 0.80", "0.80 to 0.90", "0.90 to 0.95",
                                             "0.95 and more"};
    printf("%-20s %7s %7s %9s %8s\n", "parameter", "right", "wrong", "not told", "share");
    for (int i = 0; i < PARAMETERS; i++) {
        int all = score->right[i] + score->wrong[i] + score->null[i];
        printf("%-20s %7d %7d %9d %7.1f%%\n", parameter_names[i], score->right[i],
               score->wrong[i], score->null[i], all ? 100.0 * score->right[i] / all : 0);
    }
    printf("%-20s %34.2f%%\n\n", "all but L2+ size, ways", 100 * score_share(score));
    printf("%-20s %7s %7s %17s\n", "confidence", "right", "of", "share");
    for (int i = 0; i < BANDS; i++)
        if (score->band_all[i])
            printf("%-20s %7d %7d %16.1f%%\n", bands[i], score->band_right[i],
                   score->band_all[i], 100.0 * score->band_right[i] / score->band_all[i]);
    if (score->times)
        printf("\nintervals of times: %d of %d hold the true one; %.1f%% wide on average\n",
               score->held, score->times, 100 * score->widths / score->times);
}

#endif
