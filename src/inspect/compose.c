/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Composite metrics: a category that no event has, as a sum of events that there are. */
#include "inspect/findings.h"
#include "inspect/fit.h"

#include <math.h>
#include <string.h>

enum { CANDIDATES = 64, WEIGHT_MOST = 3 };

struct candidates {
    size_t n;
    size_t events[CANDIDATES];
};

/* One event of each category, and none that is in none: what is not understood makes no
 * metric that is. */
static void choose(const struct findings *findings, struct candidates *found)
{
    found->n = 0;
    for (size_t i = 0; i < findings->n && found->n < CANDIDATES; i++) {
        const struct finding *f = &findings->events[i];
        bool known = false;
        for (size_t j = 0; j < found->n; j++)
            known |= strcmp(findings->events[found->events[j]].category, f->category) == 0;
        if (f->family == FAMILY_BRANCH && !known)
            found->events[found->n++] = i;
    }
}

/* Solves a system of at most TERMS equations in place by elimination; false: singular. */
static bool solve(double a[TERMS][TERMS + 1], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t pivot = i;
        for (size_t j = i + 1; j < n; j++)
            if (fabs(a[j][i]) > fabs(a[pivot][i]))
                pivot = j;
        if (fabs(a[pivot][i]) < 1e-6)
            return false;
        for (size_t k = 0; k <= n; k++) {
            double other = a[i][k];
            a[i][k] = a[pivot][k];
            a[pivot][k] = other;
        }
        for (size_t j = 0; j < n; j++) {
            double times = j == i ? 0 : a[j][i] / a[i][i];
            for (size_t k = i; k <= n; k++)
                a[j][k] -= times * a[i][k];
        }
    }
    for (size_t i = 0; i < n; i++)
        a[i][n] /= a[i][i];
    return true;
}

/* The weights by least squares, made whole; false: none, or too large. */
static bool weigh(const double *slopes[TERMS], size_t n, const double *wanted,
                  size_t kernels, int weights[TERMS])
{
    double a[TERMS][TERMS + 1] = {{0}};
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < kernels; k++)
                a[i][j] += slopes[i][k] * slopes[j][k];
        for (size_t k = 0; k < kernels; k++)
            a[i][n] += slopes[i][k] * wanted[k];
    }
    if (!solve(a, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        weights[i] = (int)lround(a[i][n]);
        if (!weights[i] || fabs(a[i][n]) > WEIGHT_MOST + 0.5)
            return false;
    }
    return true;
}

static void try_these(const struct counts_table *table, const struct findings *findings,
                      const struct matrix_category *wanted, const size_t *events, size_t n,
                      struct composite *best)
{
    const double *slopes[TERMS];
    int weights[TERMS];
    double sum[MATRIX_KERNELS] = {0};
    size_t kernels = table->matrices->branches.nkernels;
    for (size_t i = 0; i < n; i++)
        slopes[i] = findings->events[events[i]].slopes;
    if (!weigh(slopes, n, wanted->slopes, kernels, weights))
        return;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < kernels; k++)
            sum[k] += weights[i] * slopes[i][k];
    double good = goodness(sum, wanted->slopes, kernels);
    if (good < GOOD_ENOUGH || good <= best->goodness)
        return;
    *best = (struct composite){.n = n, .goodness = good};
    memcpy(best->events, events, n * sizeof *events);
    memcpy(best->weights, weights, n * sizeof *weights);
}

/* All choices of n candidates, from `first` on. */
static void try_all(const struct counts_table *table, const struct findings *findings,
                    const struct matrix_category *wanted,
                    const struct candidates *candidates, size_t first, size_t *chosen,
                    size_t have, size_t n, struct composite *best)
{
    if (have == n) {
        try_these(table, findings, wanted, chosen, n, best);
        return;
    }
    for (size_t i = first; i < candidates->n; i++) {
        chosen[have] = candidates->events[i];
        try_all(table, findings, wanted, candidates, i + 1, chosen, have + 1, n, best);
    }
}

struct composite compose(const struct counts_table *table, const struct findings *findings,
                         const struct matrix_category *wanted)
{
    struct candidates candidates;
    struct composite best = {0};
    size_t chosen[TERMS];
    choose(findings, &candidates);
    for (size_t n = 1; n <= TERMS && !best.n; n++)
        try_all(table, findings, wanted, &candidates, 0, chosen, 0, n, &best);
    return best;
}
