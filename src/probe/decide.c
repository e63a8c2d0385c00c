/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether one string is slower than another by a given amount: a sequential test.
 *
 * Pairs of trials, one of each string, are made until the confidence interval of the median
 * difference, by the order statistics of the sign test, lies on one side of half the
 * amount. Medians bear the outliers of a shared machine; pairs bear its drift. */
#include "probe/probing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST = 12, MOST = 400 };

#define ERROR 0.0005 /* of one interval, both tails; there may be hundreds in a test */

/* The rank from either end, counted from 0, of the interval's ends for n differences; -1 if n are too few. */
static int rank_of_interval(int n)
{
    double tail = 0, chance = exp2(-n);
    int k = 0;
    while (k < n) {
        tail += chance;
        if (2 * tail > ERROR)
            break;
        chance *= (double)(n - k) / (k + 1);
        k++;
    }
    return k - 1;
}

static void insert(double *sorted, int n, double value)
{
    int i = n;
    for (; i > 0 && sorted[i - 1] > value; i--)
        sorted[i] = sorted[i - 1];
    sorted[i] = value;
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

int decide_slower(struct probing *p, const struct string *a, double xa, const struct string *b,
                  double xb, double amount, struct decision *decision)
{
    double difference[MOST], mine, other;
    memset(decision, 0, sizeof *decision);
    for (int n = 0; n < MOST;) {
        int status = try_string(p, a, xa, &mine);
        if (!status)
            status = try_string(p, b, xb, &other);
        if (status)
            return status;
        insert(difference, n++, mine - other);
        int rank = n >= FEWEST ? rank_of_interval(n) : -1;
        decision->by = (difference[(n - 1) / 2] + difference[n / 2]) / 2;
        decision->slower = decision->by > amount / 2;
        if (rank >= 0 && (difference[rank] > amount / 2 || difference[n - 1 - rank] < amount / 2)) {
            decision->sure = true;
            break;
        }
        if (n >= FEWEST && !time_left(p, 0))
            break;
    }
    return 0;
}
