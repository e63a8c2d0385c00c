/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From a latency curve to the levels of a hierarchy. */
#include "analyze/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Full width at half height of a Gaussian, in standard deviations. */
#define FULL_WIDTH 2.3548200450309493

#define FAR 6 /* standard deviations: beyond that a Gaussian is nothing */

#define OCTAVE 1.0 /* levels are at least a factor of two apart */

void round_to_cycles(double *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = fmax(1, round(y[i]));
}

int isotonic(double *y, const double *weights, size_t n)
{
    /* A stack of pools, each with its mean, weight and number of points. */
    struct pool {
        double mean, weight;
        size_t points;
    } *pool = malloc((n ? n : 1) * sizeof *pool);
    size_t pools = 0;
    if (!pool)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct pool p = {y[i], weights ? weights[i] : 1, 1};
        while (pools && pool[pools - 1].mean > p.mean) {
            const struct pool *q = &pool[--pools];
            p.mean = (p.mean * p.weight + q->mean * q->weight) / (p.weight + q->weight);
            p.weight += q->weight;
            p.points += q->points;
        }
        pool[pools++] = p;
    }
    for (size_t i = 0, j = 0; j < pools; j++)
        for (size_t k = 0; k < pool[j].points; k++)
            y[i++] = pool[j].mean;
    free(pool);
    return 0;
}

void lower_envelope(double *y, size_t n)
{
    double least = INFINITY, second = INFINITY;
    for (size_t i = n; i-- > 0;) {
        double here = y[i];
        y[i] = fmin(here, second);
        second = fmin(second, fmax(least, here));
        least = fmin(least, here);
    }
}

/* The span of x that point i stands for. */
static double span(const double *x, size_t n, size_t i)
{
    double left = i ? x[i] - x[i - 1] : 0, right = i + 1 < n ? x[i + 1] - x[i] : 0;
    return n == 1 ? 1 : (left + right) / 2;
}

void smooth(const double *x, const double *y, double *smoothed, size_t n, double width)
{
    double sigma = width / FULL_WIDTH;
    for (size_t i = 0; i < n; i++) {
        double sum = 0, weights = 0;
        for (size_t j = 0; j < n; j++) {
            double d = (x[j] - x[i]) / sigma;
            if (fabs(d) > FAR)
                continue;
            double w = exp(-d * d / 2) * span(x, n, j);
            sum += w * y[j];
            weights += w;
        }
        smoothed[i] = weights > 0 ? sum / weights : y[i];
    }
}

static void add_bump(double *bins, size_t nbins, double low, double step, double sigma,
                     double at, double weight)
{
    double first = ceil((at - FAR * sigma - low) / step);
    double last = floor((at + FAR * sigma - low) / step);
    for (size_t b = (size_t)fmax(0, first); b < nbins && (double)b <= last; b++) {
        double d = (low + (double)b * step - at) / sigma;
        bins[b] += weight * exp(-d * d / 2);
    }
}

void density(const double *x, const double *y, size_t n, double low, double high,
             double *bins, size_t nbins, double width)
{
    enum { PIECES = 4 }; /* of the line between two points */
    double step = (high - low) / (double)(nbins - 1), sigma = width / FULL_WIDTH;
    memset(bins, 0, nbins * sizeof *bins);
    for (size_t i = 0; i + 1 < n; i++)
        for (int k = 0; k < PIECES; k++) {
            double t = (k + 0.5) / PIECES;
            add_bump(bins, nbins, low, step, sigma, y[i] + t * (y[i + 1] - y[i]),
                     (x[i + 1] - x[i]) / PIECES);
        }
    if (n == 1)
        add_bump(bins, nbins, low, step, sigma, y[0], 1);
}

size_t peaks(const double *bins, size_t n, size_t *place, size_t most)
{
    size_t found = 0, rose = 0; /* rose: where the last rise ended */
    int rising = n > 0;
    for (size_t i = 1; i <= n; i++) {
        double before = bins[i - 1], now = i < n ? bins[i] : -INFINITY;
        if (now > before) {
            rising = 1;
            rose = i;
        } else if (now < before && rising) {
            if (found < most)
                place[found++] = (rose + i - 1) / 2;
            rising = 0;
        }
    }
    return found;
}

/* Prefix sums over the points of a fit: weight, weighted y, weighted squares. */
struct sums {
    double w, y, yy;
};

/* The cost of points i..j as one step of height y[j]. */
static double step_cost(const struct sums *sums, const double *y, size_t i, size_t j)
{
    double w = sums[j + 1].w - sums[i].w, s = sums[j + 1].y - sums[i].y;
    double q = sums[j + 1].yy - sums[i].yy;
    return fmax(0, q - 2 * y[j] * s + w * y[j] * y[j]);
}

static void trace_steps(const double *y, size_t n, size_t steps, const size_t *from,
                        struct levels *levels)
{
    size_t last = n - 1;
    levels->n = steps;
    for (size_t s = steps; s-- > 0;) {
        size_t first = s ? from[s * n + last] : 0;
        levels->plateau[s] = (struct plateau){first, last, y[last]};
        last = first - 1;
    }
}

/* Whether step s may end at a height: always without windows. */
static int allowed(const struct window *windows, size_t s, double height)
{
    return !windows || (height >= windows[s].low && height <= windows[s].high);
}

int fit_steps(const double *y, const double *weights, size_t n, size_t steps,
              const struct window *windows, struct levels *levels)
{
    if (!steps || steps > n || steps > MAX_LEVELS)
        return -1;
    struct sums *sums = calloc(n + 1, sizeof *sums);
    double *best = calloc(steps * n, sizeof *best);
    size_t *from = calloc(steps * n, sizeof *from);
    int status = -1;
    if (!sums || !best || !from)
        goto out;
    for (size_t i = 0; i < n; i++) {
        double w = weights ? weights[i] : 1;
        sums[i + 1] = (struct sums){sums[i].w + w, sums[i].y + w * y[i],
                                    sums[i].yy + w * y[i] * y[i]};
        best[i] = allowed(windows, 0, y[i]) ? step_cost(sums, y, 0, i) : INFINITY;
    }
    /* best[s][j]: the least cost of points 0..j as s + 1 steps; on a tie the earlier rise.
     */
    for (size_t s = 1; s < steps; s++)
        for (size_t j = 0; j < n; j++) {
            double least = INFINITY;
            for (size_t i = s; i <= j && allowed(windows, s, y[j]); i++) {
                double cost = best[(s - 1) * n + i - 1] + step_cost(sums, y, i, j);
                if (cost < least) {
                    least = cost;
                    from[s * n + j] = i;
                }
            }
            best[s * n + j] = least;
        }
    if (isfinite(best[steps * n - 1])) {
        trace_steps(y, n, steps, from, levels);
        status = 0;
    }
out:
    free(sums);
    free(best);
    free(from);
    return status;
}

static void log2_all(const double *from, double *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = log2(from[i]);
}

/* The curve, linear between its points, at even places. Caller frees; y lies behind x. */
static double *resample(const double *x, const double *y, size_t n, size_t *even)
{
    enum { PER_OCTAVE = 32 };
    *even = (size_t)ceil((x[n - 1] - x[0]) * PER_OCTAVE) + 1;
    double *out = malloc(2 * *even * sizeof *out);
    double step = *even > 1 ? (x[n - 1] - x[0]) / (double)(*even - 1) : 0;
    for (size_t i = 0, j = 0; out && i < *even; i++) {
        double at = x[0] + (double)i * step;
        while (j + 2 < n && x[j + 1] < at)
            j++;
        double t = n > 1 ? fmin(1, fmax(0, (at - x[j]) / (x[j + 1] - x[j]))) : 0;
        out[i] = at;
        out[*even + i] = n > 1 ? y[j] + t * (y[j + 1] - y[j]) : y[j];
    }
    return out;
}

size_t count_levels(const double *x, const double *y, size_t n, struct density *found)
{
    size_t place[MAX_LEVELS], even, count = 0;
    double *lx = n ? malloc(2 * n * sizeof *lx) : NULL, *ex = NULL, *smoothed = NULL;
    if (!lx)
        return 0;
    log2_all(x, lx, n);
    log2_all(y, lx + n, n);
    ex = resample(lx, lx + n, n, &even);
    smoothed = malloc(even * sizeof *smoothed);
    if (!ex || !smoothed)
        goto out;
    smooth(ex, ex + even, smoothed, even, OCTAVE);
    found->low = smoothed[0] - 1;
    found->high = smoothed[even - 1] + 1;
    density(ex, smoothed, even, found->low, found->high, found->bins, DENSITY_BINS,
            LEAST_RISE);
    count = found->npeaks = peaks(found->bins, DENSITY_BINS, place, MAX_LEVELS);
    for (size_t i = 0; i < count; i++)
        found->peaks[i] =
            found->low + (found->high - found->low) * (double)place[i] / (DENSITY_BINS - 1);
out:
    free(lx);
    free(ex);
    free(smoothed);
    return count;
}

/* The heights at which each level may end: not nearer to another level's, and at most the
 * least rise above its own. */
static void set_windows(const struct density *found, struct window *windows)
{
    for (size_t i = 0; i < found->npeaks; i++) {
        double here = found->peaks[i];
        windows[i].low = i ? (found->peaks[i - 1] + here) / 2 : -INFINITY;
        windows[i].high = i + 1 < found->npeaks
                              ? fmin((here + found->peaks[i + 1]) / 2, here + LEAST_RISE)
                              : INFINITY;
    }
}

/* Fits as many steps as there are peaks to log2 y, which does not fall. */
static int fit_peaks(const double *x, const double *y, size_t n,
                     const struct density *found, struct levels *levels)
{
    struct window windows[MAX_LEVELS];
    double *lx = malloc(2 * n * sizeof *lx);
    if (!lx)
        return -1;
    double *weights = lx + n;
    log2_all(x, lx, n);
    for (size_t i = 0; i < n; i++)
        weights[i] = span(lx, n, i);
    set_windows(found, windows);
    size_t steps = found->npeaks < n ? found->npeaks : n;
    /* A plateau that is a single point may lie off its peak, which is of smoothed data. */
    int status = fit_steps(y, weights, n, steps, windows, levels);
    if (status)
        status = fit_steps(y, weights, n, steps, NULL, levels);
    free(lx);
    return status;
}

/* Leaves out the lowest peaks until there are at most `most`. */
static void keep_peaks(struct density *found, size_t most)
{
    while (found->npeaks > most) {
        size_t lowest = 0;
        double least = INFINITY, step = (found->high - found->low) / (DENSITY_BINS - 1);
        for (size_t i = 0; i < found->npeaks; i++) {
            double height =
                found->bins[(size_t)round((found->peaks[i] - found->low) / step)];
            if (height < least) {
                least = height;
                lowest = i;
            }
        }
        found->npeaks--;
        memmove(&found->peaks[lowest], &found->peaks[lowest + 1],
                (found->npeaks - lowest) * sizeof *found->peaks);
    }
}

int find_levels(const double *x, const double *y, size_t n, struct levels *levels,
                struct density *found)
{
    return find_most_levels(x, y, n, MAX_LEVELS, levels, found);
}

int find_most_levels(const double *x, const double *y, size_t n, size_t most,
                     struct levels *levels, struct density *found)
{
    struct density own;
    struct density *d = found ? found : &own;
    double *iso = n ? malloc(n * sizeof *iso) : NULL;
    int status = -1;
    if (!iso)
        return -1;
    log2_all(y, iso, n);
    if (isotonic(iso, NULL, n))
        goto out;
    for (size_t i = 0; i < n; i++)
        iso[i] = exp2(iso[i]);
    if (!count_levels(x, iso, n, d))
        goto out;
    keep_peaks(d, most);
    log2_all(iso, iso, n);
    status = fit_peaks(x, iso, n, d, levels);
    for (size_t i = 0; !status && i < levels->n; i++)
        levels->plateau[i].height = exp2(levels->plateau[i].height);
out:
    free(iso);
    return status;
}

struct reach rise_reach(const double *x, const double *y, const struct levels *levels,
                        size_t rise)
{
    const struct plateau *below = &levels->plateau[rise - 1], *above = below + 1;
    double base = y[(below->first + below->last) / 2], height = above->height - base;
    struct reach reach = {x[below->first], x[above->last], x[above->last]};
    size_t i = below->first;
    for (; i <= below->last && y[i] - base < height / 2; i++)
        if (y[i] - base < height / 8)
            reach.low = fmax(reach.low, x[i] * (1 - 2 * fmax(0, y[i] - base) / height));
    while (i < above->last && y[i] - base < height / 2)
        i++;
    reach.value = i ? sqrt(x[i - 1] * x[i]) : x[i];
    for (size_t j = above->last + 1; j-- > i && y[j] - base >= 0.75 * height;)
        reach.high = x[j];
    reach.value = fmin(reach.high, fmax(reach.low, round(reach.value)));
    reach.low = floor(reach.low);
    return reach;
}
