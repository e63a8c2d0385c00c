/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether one string is slower than another by a given amount: a sequential test.
 *
 * Pairs of trials, one of each string, are made until the sign test says that their median
 * difference lies on one side of half the amount. Signs bear the outliers of a shared
 * machine; pairs bear its drift. */
#include "core/sort.h"
#include "probe/probing.h"

#include <math.h>
#include <string.h>

enum { FEWEST = 12, MOST = 1600 };

#define ERROR 0.00025 /* of one look at the differences so far… */
#define LOOKS 10      /* …and of the whole test, with its many looks, so much more */

/* The chance that a fair coin falls on one side at most k times of n. */
static double coin(int k, int n)
{
    double tail = 0, chance = exp2(-n);
    for (int i = 0; i <= k; i++) {
        tail += chance;
        chance *= (double)(n - i) / (i + 1);
    }
    return tail;
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

int decide_slower(struct probing *p, const struct string *a, double xa,
                  const struct string *b, double xb, double amount,
                  struct decision *decision)
{
    return decide_within(p, a, xa, b, xb, amount, MOST, decision);
}

int decide_within(struct probing *p, const struct string *a, double xa,
                  const struct string *b, double xb, double amount, int most,
                  struct decision *decision)
{
    double difference[MOST], mine, other, error = 1;
    int above = 0, n = 0;
    *decision = (struct decision){.confidence = 0.5};
    if (late(p))
        return 0;
    while (n < most && n < MOST && (n < FEWEST || error > ERROR)) {
        int status = try_string(p, a, xa, &mine);
        if (!status)
            status = try_string(p, b, xb, &other);
        if (status)
            return status;
        difference[n++] = mine - other;
        above += mine - other > amount / 2;
        error = coin(above < n - above ? above : n - above, n);
        if (n >= FEWEST && !time_left(p, 0))
            break;
    }
    decision->slower = 2 * above > n;
    decision->share = (double)above / n;
    decision->by = median(difference, n);
    decision->confidence = 1 - fmin(0.5, LOOKS * error);
    return 0;
}
