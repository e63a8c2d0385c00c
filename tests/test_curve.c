/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The analysis of latency curves, each function against what defines it: isotonic
 * regression against its min-max formula, the fit of steps against every possible fit,
 * levels against staircases that were made to have them. */
#include "analyze/curve.h"
#include "core/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

/* Full width at half height of a Gaussian, in standard deviations: 2 sqrt(2 ln 2). */
#define FULL_WIDTH 2.3548200450309493
#define PI         3.141592653589793

static void assert_near(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%.12g is not within %g of %.12g", value, tolerance, wanted);
}

static double uniform(struct rng *rng, double low, double high)
{
    return low + (high - low) * rng_unit(rng);
}

static void rounds_to_cycles(void **state)
{
    (void)state;
    double y[] = {0.2, 0.9, 1.4, 1.6, 3.9999, 4.0001, 200.4};
    const double wanted[] = {1, 1, 1, 2, 4, 4, 200};
    round_to_cycles(y, 7);
    assert_memory_equal(y, wanted, sizeof wanted);
    round_to_cycles(y, 0);
}

/* The regression at i is the largest, over starts a <= i, of the least mean of a..b. */
static double min_max(const double *y, const double *weights, size_t n, size_t i)
{
    double most = -INFINITY;
    for (size_t a = 0; a <= i; a++) {
        double least = INFINITY, sum = 0, weight = 0;
        for (size_t b = a; b < n; b++) {
            sum += weights[b] * y[b];
            weight += weights[b];
            if (b >= i)
                least = fmin(least, sum / weight);
        }
        most = fmax(most, least);
    }
    return most;
}

static void isotonic_is_the_nearest_rising_curve(void **state)
{
    (void)state;
    struct rng rng = {1};
    for (int round = 0; round < 500; round++) {
        size_t n = 1 + rng_below(&rng, 30);
        double y[30], weights[30], fitted[30], ones[30];
        for (size_t i = 0; i < n; i++) {
            y[i] = uniform(&rng, 0, 10) + (double)i / 4;
            weights[i] = round % 2 ? uniform(&rng, 0.1, 3) : 1;
            ones[i] = 1;
        }
        memcpy(fitted, y, n * sizeof *y);
        assert_int_equal(isotonic(fitted, round % 2 ? weights : NULL, n), 0);
        for (size_t i = 0; i < n; i++) {
            assert_near(fitted[i], min_max(y, round % 2 ? weights : ones, n, i), 1e-9);
            assert_true(i == 0 || fitted[i] >= fitted[i - 1]);
        }
    }
}

/* A disturbed point is told by two behind it; a lucky one alone lowers nothing. */
static void the_envelope_needs_two_witnesses(void **state)
{
    (void)state;
    double y[] = {4, 9, 4, 4, 12, 30, 12, 40, 12, 5, 44, 43, 90};
    const double wanted[] = {4, 4, 4, 4, 12, 12, 12, 12, 12, 5, 44, 43, 90};
    lower_envelope(y, 13);
    assert_memory_equal(y, wanted, sizeof wanted);
    lower_envelope(y, 0);
}

static void isotonic_leaves_a_rising_curve_alone(void **state)
{
    (void)state;
    double y[] = {1, 1, 2, 5, 5, 9};
    const double wanted[] = {1, 1, 2, 5, 5, 9};
    assert_int_equal(isotonic(y, NULL, 6), 0);
    assert_memory_equal(y, wanted, sizeof wanted);
    assert_int_equal(isotonic(y, NULL, 0), 0);
}

static void smoothing_keeps_constants_and_bounds(void **state)
{
    (void)state;
    struct rng rng = {2};
    for (int round = 0; round < 100; round++) {
        size_t n = 1 + rng_below(&rng, 40);
        double x[40], y[40], flat[40], smoothed[40], low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            x[i] = (i ? x[i - 1] : 0) + uniform(&rng, 0.05, 1.5); /* uneven */
            flat[i] = 7;
            y[i] = uniform(&rng, 1, 9);
            low = fmin(low, y[i]);
            high = fmax(high, y[i]);
        }
        smooth(x, flat, smoothed, n, 1);
        for (size_t i = 0; i < n; i++)
            assert_near(smoothed[i], 7, 1e-12);
        smooth(x, y, smoothed, n, 1);
        for (size_t i = 0; i < n; i++)
            assert_true(smoothed[i] >= low - 1e-12 && smoothed[i] <= high + 1e-12);
    }
}

static void smoothing_is_symmetric(void **state)
{
    (void)state;
    enum { N = 31 };
    struct rng rng = {3};
    double x[N], y[N], mirrored_x[N], mirrored_y[N], smoothed[N], mirrored[N];
    for (size_t i = 0; i < N; i++) {
        x[i] = (i ? x[i - 1] : 0) + uniform(&rng, 0.1, 1);
        y[i] = uniform(&rng, 0, 5);
    }
    for (size_t i = 0; i < N; i++) {
        mirrored_x[i] = -x[N - 1 - i];
        mirrored_y[i] = y[N - 1 - i];
    }
    smooth(x, y, smoothed, N, 0.8);
    smooth(mirrored_x, mirrored_y, mirrored, N, 0.8);
    for (size_t i = 0; i < N; i++)
        assert_near(mirrored[i], smoothed[N - 1 - i], 1e-12);
}

/* A single spike on an even grid comes out as the Gaussian itself, of the full width (the
 * ends of the curve cut off a little of it). */
static void smoothing_has_the_width_that_was_asked_for(void **state)
{
    (void)state;
    enum { N = 401, MIDDLE = N / 2 };
    static double x[N], y[N], smoothed[N];
    for (size_t i = 0; i < N; i++) {
        x[i] = 0.01 * (double)i;
        y[i] = i == MIDDLE;
    }
    smooth(x, y, smoothed, N, 1);
    assert_near(smoothed[MIDDLE + 50] / smoothed[MIDDLE], 0.5, 1e-3);
    assert_near(smoothed[MIDDLE - 50] / smoothed[MIDDLE], 0.5, 1e-3);
}

/* Where points are dense they must not outvote where they are sparse. */
static void smoothing_weighs_points_by_their_span(void **state)
{
    (void)state;
    enum { N = 41, MORE = 2 * N - 1 };
    double x[MORE], y[MORE], smoothed[MORE], even_x[N], even_y[N], even[N];
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
        even_x[i] = 0.1 * (double)i;
        even_y[i] = even_x[i];
        x[n] = even_x[i];
        y[n++] = even_y[i];
        if (i >= N / 2 && i + 1 < N) { /* twice as many in the upper half */
            x[n] = even_x[i] + 0.05;
            y[n] = x[n];
            n++;
        }
    }
    smooth(even_x, even_y, even, N, 0.7);
    smooth(x, y, smoothed, n, 0.7);
    assert_near(smoothed[N / 2], even[N / 2], 0.005); /* unweighted it is 0.09 off */
}

static double area(const double *bins, size_t n, double low, double high)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += bins[i];
    return sum * (high - low) / (double)(n - 1);
}

/* Each stretch of x adds a bump of its length, whatever the slope. */
static void density_integrates_to_the_span(void **state)
{
    (void)state;
    enum { BINS = 1024 };
    struct rng rng = {4};
    static double bins[BINS];
    double sigma = 0.3 / FULL_WIDTH;
    for (int round = 0; round < 20; round++) {
        size_t n = 2 + rng_below(&rng, 20);
        double x[22], y[22];
        for (size_t i = 0; i < n; i++) {
            x[i] = (i ? x[i - 1] : 10) + uniform(&rng, 0.1, 1);
            y[i] = uniform(&rng, 2, 8);
        }
        density(x, y, n, 0, 10, bins, BINS, 0.3);
        assert_near(area(bins, BINS, 0, 10) / (sigma * sqrt(2 * PI)), x[n - 1] - x[0],
                    1e-3);
    }
}

static void density_is_high_where_the_curve_is_flat(void **state)
{
    (void)state;
    enum { BINS = 101 };
    const double x[] = {0, 4, 5, 9}, y[] = {2, 2, 8, 8};
    double bins[BINS];
    density(x, y, 4, 0, 10, bins, BINS, 0.3);
    assert_true(bins[20] > 10 * bins[50] && bins[80] > 10 * bins[50]);
    assert_near(bins[20], bins[80], 1e-9);
    assert_true(bins[50] > 0); /* the line between the points counts as well */
    const double one_x[] = {3}, one_y[] = {5};
    density(one_x, one_y, 1, 0, 10, bins, BINS, 0.3);
    assert_near(bins[50], 1, 1e-12);
}

static void peaks_are_found_once_each(void **state)
{
    (void)state;
    static const struct {
        double bins[9];
        size_t n, found, place[4];
    } cases[] = {
        {{0, 1, 0, 0, 2, 0}, 6, 2, {1, 4}},
        {{0, 1, 1, 1, 0}, 5, 1, {2}}, /* a flat top: its middle */
        {{0, 1, 1, 2, 0}, 5, 1, {3}}, /* a shoulder is no peak */
        {{3, 2, 1}, 3, 1, {0}},       /* at the edges, too */
        {{1, 2, 3}, 3, 1, {2}},       /**/
        {{2, 1, 1, 2}, 4, 2, {0, 3}}, /* a valley between */
        {{5, 5, 5}, 3, 1, {1}},       /* all flat */
        {{4}, 1, 1, {0}},             /* one place */
        {{0}, 0, 0, {0}},             /* none */
        {{0, 1, 0, 1, 0, 1, 0, 1, 0}, 9, 4, {1, 3, 5, 7}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        size_t place[8];
        assert_int_equal(peaks(cases[c].bins, cases[c].n, place, 8), cases[c].found);
        for (size_t i = 0; i < cases[c].found; i++)
            assert_int_equal(place[i], cases[c].place[i]);
    }
    size_t place[2];
    assert_int_equal(peaks(cases[9].bins, 9, place, 2), 2); /* no more than asked for */
}

/* The cost of a fit by its definition. */
static double cost_of(const double *y, const double *weights, const size_t *last,
                      size_t steps)
{
    double cost = 0;
    for (size_t s = 0, i = 0; s < steps; s++)
        for (; i <= last[s]; i++)
            cost += (weights ? weights[i] : 1) * (y[i] - y[last[s]]) * (y[i] - y[last[s]]);
    return cost;
}

/* What an exhaustive search looks for. */
struct search {
    const double *y, *weights;
    size_t n, steps;
    const struct window *windows;
    size_t last[MAX_LEVELS];
    double least;
};

/* Tries every end of step s behind `from`. */
static void search_from(struct search *search, size_t s, size_t from)
{
    bool final = s + 1 == search->steps;
    for (size_t end = final ? search->n - 1 : from; end < search->n; end++) {
        double height = search->y[end];
        search->last[s] = end;
        if (end < from || (search->windows && (height < search->windows[s].low ||
                                               height > search->windows[s].high)))
            continue;
        if (final)
            search->least = fmin(search->least, cost_of(search->y, search->weights,
                                                        search->last, search->steps));
        else
            search_from(search, s + 1, end + 1);
    }
}

static void check_fit(struct rng *rng, bool weighted, bool windowed)
{
    double y[9], weights[9];
    struct window windows[4];
    size_t n = 1 + rng_below(rng, 9), steps = 1 + rng_below(rng, n < 4 ? n : 4);
    for (size_t i = 0; i < n; i++) {
        y[i] = (i ? y[i - 1] : 0) + (rng_below(rng, 3) ? uniform(rng, 0, 0.2) : 3);
        weights[i] = uniform(rng, 0.2, 2);
    }
    for (size_t s = 0; s < steps; s++) {
        windows[s].low = uniform(rng, 0, y[n - 1]);
        windows[s].high = windows[s].low + uniform(rng, 0, y[n - 1]);
    }
    windows[steps - 1].high = INFINITY;
    struct search search = {.y = y,
                            .weights = weighted ? weights : NULL,
                            .n = n,
                            .steps = steps,
                            .windows = windowed ? windows : NULL,
                            .least = INFINITY};
    search_from(&search, 0, 0);
    struct levels levels;
    int status = fit_steps(y, search.weights, n, steps, search.windows, &levels);
    assert_int_equal(status, isfinite(search.least) ? 0 : -1);
    if (status)
        return;
    size_t last[MAX_LEVELS];
    assert_int_equal(levels.n, steps);
    for (size_t s = 0; s < steps; s++) {
        last[s] = levels.plateau[s].last;
        assert_int_equal(levels.plateau[s].first, s ? last[s - 1] + 1 : 0);
        assert_true(levels.plateau[s].height == y[last[s]]);
        if (windowed)
            assert_true(y[last[s]] >= windows[s].low && y[last[s]] <= windows[s].high);
    }
    assert_int_equal(last[steps - 1], n - 1);
    assert_near(cost_of(y, search.weights, last, steps), search.least, 1e-9);
}

static void steps_are_the_best_of_all(void **state)
{
    (void)state;
    struct rng rng = {5};
    for (int round = 0; round < 2000; round++)
        check_fit(&rng, round & 1, round & 2);
}

static void steps_that_cannot_be_are_refused(void **state)
{
    (void)state;
    struct levels levels;
    const double y[] = {1, 2, 3};
    const struct window nowhere[] = {{7, 8}, {7, 8}};
    assert_int_equal(fit_steps(y, NULL, 3, 0, NULL, &levels), -1);
    assert_int_equal(fit_steps(y, NULL, 3, 4, NULL, &levels), -1);
    assert_int_equal(fit_steps(y, NULL, 0, 1, NULL, &levels), -1);
    assert_int_equal(fit_steps(y, NULL, 3, 2, nowhere, &levels), -1);
    assert_int_equal(fit_steps(y, NULL, 3, 3, NULL, &levels), 0);
}

/* A rise behind a long plateau belongs to the step that it leads to: what is reported is
 * what is safe to use. */
static void a_soft_rise_goes_to_the_upper_step(void **state)
{
    (void)state;
    const double y[] = {1, 1, 1, 1, 1, 1, 1, 1, 1.6, 2.4, 3, 3, 3, 3};
    struct levels levels;
    assert_int_equal(fit_steps(y, NULL, 14, 2, NULL, &levels), 0);
    assert_int_equal(levels.plateau[0].last, 7);
}

enum { STAIR_POINTS = 17 * 8 + 1 };

/* A staircase over 17 octaves, eight points in each: level i ends at the point ends[i]. */
struct stair {
    size_t n; /* levels, the last one without an end */
    size_t ends[MAX_LEVELS];
    double height[MAX_LEVELS];
    double x[STAIR_POINTS], y[STAIR_POINTS];
};

static void build_stair(struct stair *stair)
{
    size_t level = 0;
    for (size_t i = 0; i < STAIR_POINTS; i++) {
        if (level + 1 < stair->n && i > stair->ends[level])
            level++;
        stair->x[i] = 1024 * exp2((double)i / 8);
        stair->y[i] = stair->height[level];
    }
}

/* Levels at least two octaves long, each at least `rise` times as slow as the one before.
 */
static void random_stair(struct rng *rng, double rise, struct stair *stair)
{
    stair->n = 1 + rng_below(rng, 5);
    stair->height[0] = (double)(2 + rng_below(rng, 4));
    for (size_t i = 0; i + 1 < stair->n; i++) {
        size_t room = STAIR_POINTS / stair->n;
        stair->ends[i] = i * room + 16 + rng_below(rng, room - 20);
        if (i)
            stair->ends[i] += stair->ends[i] < stair->ends[i - 1] + 16 ? 8 : 0;
        stair->height[i + 1] = stair->height[i] * uniform(rng, rise, 4 * rise);
    }
    build_stair(stair);
}

static void check_stair(const struct stair *stair, double tolerance)
{
    struct density found;
    struct levels levels;
    assert_int_equal(find_levels(stair->x, stair->y, STAIR_POINTS, &levels, &found), 0);
    assert_int_equal(levels.n, stair->n);
    assert_int_equal(found.npeaks, stair->n);
    for (size_t i = 0; i < stair->n; i++) {
        assert_near(levels.plateau[i].height, stair->height[i],
                    tolerance * stair->height[i]);
        if (i + 1 < stair->n)
            assert_int_equal(levels.plateau[i].last, stair->ends[i]);
    }
}

static void levels_of_staircases_are_found(void **state)
{
    (void)state;
    struct rng rng = {6};
    for (int round = 0; round < 60; round++) {
        struct stair stair;
        struct density found;
        random_stair(&rng, 2, &stair);
        check_stair(&stair, 1e-9);
        assert_int_equal(count_levels(stair.x, stair.y, STAIR_POINTS, &found), stair.n);
    }
}

/* Jitter of a percent, which the minimum of a few trials leaves. */
static void levels_of_noisy_staircases_are_found(void **state)
{
    (void)state;
    struct rng rng = {7};
    for (int round = 0; round < 60; round++) {
        struct stair stair;
        random_stair(&rng, 2, &stair);
        for (size_t i = 0; i < STAIR_POINTS; i++)
            stair.y[i] *= 1 + uniform(&rng, 0, 0.01);
        check_stair(&stair, 0.011);
    }
}

static void curves_that_are_too_short_do_no_harm(void **state)
{
    (void)state;
    struct levels levels;
    struct density found;
    const double x[] = {1024, 2048}, y[] = {4, 9};
    assert_int_equal(find_levels(x, y, 0, &levels, &found), -1);
    assert_int_equal(find_levels(x, y, 1, &levels, NULL), 0);
    assert_int_equal(levels.n, 1);
    assert_int_equal(find_levels(x, y, 2, &levels, &found), 0);
    assert_true(levels.n >= 1 && levels.n <= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_to_cycles),
        cmocka_unit_test(isotonic_is_the_nearest_rising_curve),
        cmocka_unit_test(isotonic_leaves_a_rising_curve_alone),
        cmocka_unit_test(the_envelope_needs_two_witnesses),
        cmocka_unit_test(smoothing_keeps_constants_and_bounds),
        cmocka_unit_test(smoothing_is_symmetric),
        cmocka_unit_test(smoothing_has_the_width_that_was_asked_for),
        cmocka_unit_test(smoothing_weighs_points_by_their_span),
        cmocka_unit_test(density_integrates_to_the_span),
        cmocka_unit_test(density_is_high_where_the_curve_is_flat),
        cmocka_unit_test(peaks_are_found_once_each),
        cmocka_unit_test(steps_are_the_best_of_all),
        cmocka_unit_test(steps_that_cannot_be_are_refused),
        cmocka_unit_test(a_soft_rise_goes_to_the_upper_step),
        cmocka_unit_test(levels_of_staircases_are_found),
        cmocka_unit_test(levels_of_noisy_staircases_are_found),
        cmocka_unit_test(curves_that_are_too_short_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
