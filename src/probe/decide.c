/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether one string is slower than another by a given amount: a sequential test.
 *
 * Pairs of trials, one of each string, are made until the sign test says that their median
 * difference lies on one side of half the amount. Signs bear the outliers of a shared
 * machine; pairs bear its drift. Where a neighbour disturbs more than half of the trials of
 * the string, and fewer of the control, the median is his: then the lower quartile of the
 * differences is asked for, as long as the control is steady. */
#include "core/sort.h"
#include "probe/probing.h"

#include <math.h>
#include <string.h>

enum { FEWEST = 12, MOST = 1600 };

#define ERROR 0.00025 /* of one look at the differences so far… */
#define LOOKS 10      /* …and of the whole test, with its many looks, so much more */

double chance_of_at_most(int k, int n, double each)
{
    double tail = 0, chance = pow(1 - each, n);
    for (int i = 0; i <= k; i++) {
        tail += chance;
        chance *= (double)(n - i) / (i + 1) * each / (1 - each);
    }
    return fmin(1, tail);
}

double separation(const double *low, const double *high, size_t n)
{
    double orders = 1, wrong = 0;
    for (size_t i = 1; i <= n; i++)
        orders *= (double)(n + i) / (double)i;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            wrong += low[i] >= high[j];
    return fmin(1, exp2(wrong) / orders);
}

static double median(double *values, int n)
{
    sort_ascending(values, (size_t)n);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* The pairs of a test: n so far. */
struct pairs {
    int n, above; /* how many lie above half the amount */
    double difference[MOST], control[MOST];
};

static int add_pair(struct probing *p, const struct string *a, double xa,
                    const struct string *b, double xb, double amount, struct pairs *pairs)
{
    double mine, other;
    int status = try_string(p, a, xa, &mine);
    if (!status)
        status = try_string(p, b, xb, &other);
    if (status)
        return status;
    pairs->control[pairs->n] = other;
    pairs->difference[pairs->n++] = mine - other;
    pairs->above += mine - other > amount / 2;
    return 0;
}

/* Whether the middle half of the controls lies closer together than half of what is to be
 * told apart: then the clock is good, and what makes single trials slower is a neighbour.
 */
static bool steady(const struct pairs *pairs, double amount)
{
    double sorted[MOST];
    memcpy(sorted, pairs->control, (size_t)pairs->n * sizeof *sorted);
    sort_ascending(sorted, (size_t)pairs->n);
    return sorted[pairs->n * 3 / 4] - sorted[pairs->n / 4] < amount / 4;
}

/* `alike`: the share of pairs that must lie below half the amount for the two to be so. */
static int decide(struct probing *p, const struct string *a, double xa,
                  const struct string *b, double xb, double amount, int most, double alike,
                  struct decision *decision)
{
    struct pairs pairs = {.n = 0};
    double error = 1;
    *decision = (struct decision){.confidence = 0.5};
    if (late(p))
        return 0;
    while (pairs.n < most && pairs.n < MOST && (pairs.n < FEWEST || error > ERROR)) {
        int status = add_pair(p, a, xa, b, xb, amount, &pairs);
        if (status)
            return status;
        if (pairs.n == FEWEST && alike < 0.5 && !steady(&pairs, amount))
            alike = 0.5;
        error = fmin(chance_of_at_most(pairs.n - pairs.above, pairs.n, alike),
                     chance_of_at_most(pairs.above, pairs.n, 1 - alike));
        if (pairs.n >= FEWEST && !time_left(p, 0))
            break;
    }
    decision->slower = pairs.above > (1 - alike) * pairs.n;
    decision->share = (double)pairs.above / pairs.n;
    decision->by = median(pairs.difference, pairs.n);
    decision->confidence = 1 - fmin(0.5, LOOKS * error);
    return 0;
}

int decide_slower(struct probing *p, const struct string *a, double xa,
                  const struct string *b, double xb, double amount,
                  struct decision *decision)
{
    return decide(p, a, xa, b, xb, amount, MOST, 0.5, decision);
}

int decide_disturbed(struct probing *p, const struct string *a, double xa,
                     const struct string *b, double xb, double amount,
                     struct decision *decision)
{
    return decide(p, a, xa, b, xb, amount, MOST, 0.25, decision);
}

int decide_within(struct probing *p, const struct string *a, double xa,
                  const struct string *b, double xb, double amount, int most,
                  struct decision *decision)
{
    return decide(p, a, xa, b, xb, amount, most, 0.5, decision);
}
