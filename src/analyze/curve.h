/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From a latency curve to the levels of a hierarchy (Cooper and Sandoval 2011, section V).
 *
 * A curve is n points (x ascending and positive, y positive). Each function is pure. The
 * steps are: pool adjacent violators, so that latency never falls; smooth over log2 x with
 * a window of one octave, because levels are taken to be at least a factor of two apart;
 * estimate the density along log2 y with a window of log2 1.25, because a miss is taken to
 * cost at least a quarter more than a hit; its peaks are the levels; then fit a step
 * function with that many steps to the unsmoothed data by dynamic programming. These two
 * assumptions are the only constants. */
#ifndef ANALYZE_CURVE_H
#define ANALYZE_CURVE_H

#include <stddef.h>

enum { MAX_LEVELS = 12 };

#define LEAST_RISE 0.3219280949 /* log2 1.25: a miss costs at least a quarter more */

/* A plateau of the fitted step function: the points first..last, inclusive. */
struct plateau {
    size_t first, last;
    double height; /* at `last`: the worst of the plateau */
};

struct levels {
    size_t n;
    struct plateau plateau[MAX_LEVELS];
};

/* Rounds to whole cycles, at least one. */
void round_to_cycles(double *y, size_t n);

/* The non-decreasing curve nearest to y with the given weights (NULL: all 1), in place:
 * least squares by pooling adjacent violators, O(n). Returns -1 when out of memory. */
int isotonic(double *y, const double *weights, size_t n);

/* Lowers each y to the second least of those behind it, in place. Noise mostly adds time:
 * where two larger footprints cost less, a smaller one was disturbed. One is not enough,
 * because it may have been lucky. */
void lower_envelope(double *y, size_t n);

/* Gaussian smoothing over x of a curve whose points need not be evenly spaced; `width` is
 * the full width of the window at half its height. Points count by the span of x that they
 * stand for. x and y are as given: take logarithms before. smoothed must not be y. */
void smooth(const double *x, const double *y, double *smoothed, size_t n, double width);

/* Density along y of the curve through the points, the lines between them included, at
 * `bins` even places from `low` to `high`, smoothed by a Gaussian of full width `width`. */
void density(const double *x, const double *y, size_t n, double low, double high,
             double *bins, size_t nbins, double width);

/* Local maxima of bins[0..n): the places, ascending, at most `most`. A maximum that is flat
 * counts once. Returns how many there are. */
size_t peaks(const double *bins, size_t n, size_t *place, size_t most);

/* The best fit of `steps` steps to the non-decreasing y with the given weights (NULL: all
 * 1): each step is as high as its last point, and the squared distances to that are least,
 * which puts a rise into the step that it leads to. Step i ends at a height in windows[i]
 * (NULL: anywhere). O(steps n^2). Returns -1 if out of memory or if there is no such fit.
 */
struct window {
    double low, high;
};
int fit_steps(const double *y, const double *weights, size_t n, size_t steps,
              const struct window *windows, struct levels *levels);

/* The density of a curve along its latency, and the peaks of that: one for each level. */
enum { DENSITY_BINS = 512 };
struct density {
    double low, high; /* log2 cycles */
    double bins[DENSITY_BINS];
    size_t npeaks;
    double peaks[MAX_LEVELS]; /* log2 cycles */
};

/* The number of levels in a curve: x in bytes or pages, y in cycles. 0: out of memory. */
size_t count_levels(const double *x, const double *y, size_t n, struct density *found);

/* All together. found may be NULL. Returns -1 when out of memory or without points. */
int find_levels(const double *x, const double *y, size_t n, struct levels *levels,
                struct density *found);

/* The same with at most so many levels: those with the highest peaks. */
int find_most_levels(const double *x, const double *y, size_t n, size_t most,
                     struct levels *levels, struct density *found);

/* What a store may hold whose edge is the rise from one plateau of the curve to the next,
 * if it is visited all over again and again and a miss costs the whole rise:
 * - at least as much as hits: of x, of which a share m misses, x (1 - m) stayed in it.
 * (Twice m is taken off, because a miss may cost less at first than where the rise ends.)
 * - less than what misses three times of four: with a random index, which fills sets as
 *   unevenly as can be, 54% to 63% of so much as it holds miss (for 16 ways to 1, LRU).
 * - about as much as misses half of the time.
 * `rise` is the number of the upper plateau, from 1 on. */
struct reach {
    double low, value, high;
};
struct reach rise_reach(const double *x, const double *y, const struct levels *levels,
                        size_t rise);

#endif
