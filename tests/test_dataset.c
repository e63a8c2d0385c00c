/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datasets: the containers, the two file formats, and what is said of files that are no
 * datasets. */
#include "core/file.h"
#include "core/rng.h"
#include "dataset/dataset.h"

#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "test_tree.h"

/* A temporary folder is the state of the tests that write. */
static int make_folder(void **state)
{
    char *folder = strdup("/tmp/strata-dataset-XXXXXX");
    *state = folder && mkdtemp(folder) ? folder : NULL;
    return *state ? 0 : -1;
}

static int remove_folder(void **state)
{
    int status = tree_remove(*state);
    free(*state);
    return status;
}

static const char *in_folder(void **state, const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", (const char *)*state, name);
    return path;
}

static struct series *add(struct dataset *data, const char *name)
{
    struct series *series =
        dataset_add(data, name, "a \"title\", with µ", "bytes", "cycles");
    assert_non_null(series);
    return series;
}

static void observe(struct series *series, double x, double y)
{
    struct point *point = series_at(series, x);
    assert_non_null(point);
    assert_int_equal(point_add(point, y), 0);
}

static void points_are_kept_in_order(void **state)
{
    (void)state;
    struct dataset *data = dataset_create();
    struct series *series = add(data, "cache");
    struct rng rng = {3};
    for (int i = 0; i < 1000; i++) {
        double x = (double)rng_below(&rng, 300);
        observe(series, x, (double)i);
    }
    size_t observations = 0;
    for (size_t i = 0; i < series->npoints; i++) {
        assert_true(i == 0 || series->points[i].x > series->points[i - 1].x);
        for (size_t j = 1; j < series->points[i].n; j++)
            assert_true(series->points[i].y[j] > series->points[i].y[j - 1]);
        observations += series->points[i].n;
    }
    assert_int_equal(observations, 1000);
    assert_null(series_at(series, NAN));
    assert_null(series_at(series, INFINITY));
    assert_ptr_equal(dataset_find(data, "cache"), series);
    assert_null(dataset_find(data, "tlb1"));
    assert_null(dataset_find(NULL, "cache"));
    dataset_release(data);
    dataset_release(NULL);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void order_statistics_agree_with_sorting(void **state)
{
    (void)state;
    struct rng rng = {4};
    for (int round = 0; round < 300; round++) {
        struct point point = {.x = 1};
        size_t n = 1 + rng_below(&rng, 40);
        for (size_t i = 0; i < n; i++) {
            double y = rng_below(&rng, 5) ? rng_unit(&rng) * 100 - 50 : 0; /* with ties */
            assert_int_equal(point_add(&point, y), 0);
            if (rng_below(&rng, 4) == 0)
                assert_int_equal(point_add(&point, NAN), 0); /* is passed over */
        }
        double median = point_median(&point), least = point_min(&point);
        double sorted[80];
        size_t m = 0;
        for (size_t i = 0; i < point.n; i++)
            if (!isnan(point.y[i]))
                sorted[m++] = point.y[i];
        qsort(sorted, m, sizeof *sorted, by_value);
        assert_int_equal(m, n);
        assert_true(least == sorted[0]);
        assert_true(median == (sorted[(m - 1) / 2] + sorted[m / 2]) / 2);
        free(point.y);
    }
    struct point none = {.x = 1};
    assert_true(isnan(point_min(&none)) && isnan(point_median(&none)));
}

static void texts_are_cut_and_cleaned(void **state)
{
    (void)state;
    struct dataset *data = dataset_create();
    struct series *series =
        dataset_add(data, "a name that is far longer than its place in the series",
                    "\xff\n", NULL, "cycles");
    assert_int_equal(strlen(series->name), sizeof series->name - 1);
    assert_string_equal(series->title, "? ");
    assert_string_equal(series->x_unit, "");
    dataset_release(data);
}

/* One of everything that a file can hold. */
static struct dataset *sample(void)
{
    struct dataset *data = dataset_create();
    assert_non_null(data);
    strcpy(data->machine, "Zen 4 – \"µ\"");
    strcpy(data->command, "strata probe --data 'a b.json'");
    strcpy(data->version, "0.1.0");
    strcpy(data->settings, "source timing");
    data->seed = UINT64_MAX;
    data->cycle_ns = 0.27027027027027029;
    struct series *series = add(data, "cache");
    observe(series, 1024, 4);
    observe(series, 1024, 4.1);
    observe(series, 2048, NAN);
    observe(series, 1e15 + 1, 390.125);
    assert_non_null(series_at(series, 4096)); /* a point without observations */
    const struct step steps[] = {{1024, 4}, {INFINITY, 390}}, density[] = {{4, 0.5}};
    assert_int_equal(series_set_steps(series, steps, 2), 0);
    assert_int_equal(series_set_density(series, density, 1), 0);
    add(data, "tlb1");
    return data;
}

static void assert_same(double a, double b)
{
    assert_true(a == b || (isnan(a) && isnan(b)));
}

static void assert_same_series(const struct series *a, const struct series *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->title, b->title);
    assert_string_equal(a->x_unit, b->x_unit);
    assert_string_equal(a->y_unit, b->y_unit);
    assert_int_equal(a->npoints, b->npoints);
    assert_int_equal(a->nsteps, b->nsteps);
    assert_int_equal(a->ndensity, b->ndensity);
    for (size_t i = 0; i < a->npoints; i++) {
        assert_same(a->points[i].x, b->points[i].x);
        assert_int_equal(a->points[i].n, b->points[i].n);
        for (size_t j = 0; j < a->points[i].n; j++)
            assert_same(a->points[i].y[j], b->points[i].y[j]);
    }
    for (size_t i = 0; i < a->nsteps; i++) {
        assert_same(a->steps[i].end, b->steps[i].end);
        assert_same(a->steps[i].height, b->steps[i].height);
    }
    for (size_t i = 0; i < a->ndensity; i++)
        assert_same(a->density[i].height, b->density[i].height);
}

static void assert_same_data(const struct dataset *a, const struct dataset *b)
{
    assert_string_equal(a->machine, b->machine);
    assert_string_equal(a->command, b->command);
    assert_string_equal(a->version, b->version);
    assert_string_equal(a->settings, b->settings);
    assert_true(a->seed == b->seed);
    assert_same(a->cycle_ns, b->cycle_ns);
    assert_int_equal(a->nseries, b->nseries);
    for (size_t i = 0; i < a->nseries; i++)
        assert_same_series(a->series[i], b->series[i]);
}

static void json_reads_back_the_same(void **state)
{
    char path[256];
    struct strata_error error = {0};
    struct dataset *data = sample(), *again = NULL;
    in_folder(state, "x.json", path);
    assert_int_equal(dataset_write(data, path, &error), STRATA_OK);
    assert_int_equal(dataset_read(path, &again, &error), STRATA_OK);
    assert_same_data(data, again);
    dataset_release(again);
    for (uint64_t seed = UINT64_C(1) << 53; seed <= (UINT64_C(1) << 53) + 1; seed++) {
        data->seed = seed;
        assert_int_equal(dataset_write(data, path, &error), STRATA_OK);
        assert_int_equal(dataset_read(path, &again, &error), STRATA_OK);
        assert_true(again->seed == seed);
        dataset_release(again);
    }
    dataset_release(data);
}

static void csv_has_a_row_for_everything(void **state)
{
    static const char wanted[] =
        "# machine: Zen 4 – \"µ\"\n"
        "# command: strata probe --data 'a b.json'\n"
        "# version: 0.1.0\n"
        "# settings: source timing\n"
        "# seed: 18446744073709551615\n"
        "# cycle_ns: 0.27027027027027029\n"
        "series,what,x,y,x_unit,y_unit\n"
        "\"cache\",observation,1024,4,\"bytes\",\"cycles\"\n"
        "\"cache\",observation,1024,4.0999999999999996,\"bytes\",\"cycles\"\n"
        "\"cache\",observation,2048,,\"bytes\",\"cycles\"\n"
        "\"cache\",observation,1000000000000001,390.125,\"bytes\",\"cycles\"\n"
        "\"cache\",step,1024,4,\"bytes\",\"cycles\"\n"
        "\"cache\",step,inf,390,\"bytes\",\"cycles\"\n"
        "\"cache\",density,4,0.5,\"bytes\",\"cycles\"\n";
    char path[256], *text = NULL;
    size_t size = 0;
    struct strata_error error = {0};
    struct dataset *data = sample();
    in_folder(state, "x.csv", path);
    assert_int_equal(dataset_write(data, path, &error), STRATA_OK);
    assert_int_equal(read_file(path, 0, &text, &size, &error), STRATA_OK);
    assert_string_equal(text, wanted);
    free(text);
    dataset_release(data);
}

static void other_places_are_refused(void **state)
{
    char path[256];
    struct strata_error error = {0};
    struct dataset *data = sample();
    static const char *const endings[] = {"x.txt", ".json", "x", "x.JSON.gz"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        assert_int_equal(dataset_write(data, endings[i], &error), STRATA_BAD_INPUT);
        assert_non_null(strstr(error.text, "written as .json or .csv"));
    }
    in_folder(state, "no/x.json", path);
    assert_int_equal(dataset_write(data, path, &error), STRATA_FAILED);
    assert_non_null(strstr(error.text, path));
    assert_int_not_equal(access(path, F_OK), 0);
    dataset_release(data);
}

#define HEAD                                                                               \
    "{\"schema\":\"strata.dataset/1\",\"machine\":\"m\",\"command\":\"c\","                \
    "\"version\":\"v\",\"settings\":\"s\",\"seed\":1,\"cycle_ns\":1,"
#define NAMES "\"name\":\"a\",\"title\":\"t\",\"x_unit\":\"b\",\"y_unit\":\"c\","
#define SERIES(points, steps, density)                                                     \
    HEAD "\"series\":[{" NAMES "\"points\":" points ",\"steps\":" steps                    \
         ",\"density\":" density "}]}"

/* What is wrong, and words that the message must have. */
static const struct {
    const char *text, *words;
} bad_files[] = {
    {"", "x.json:1: not JSON"},
    {"{\"schema\":\n\n\"strata", "x.json:3: not JSON"},
    {"[]", "this is no dataset"},
    {"{\"schema\":\"strata.machine/1\"}", "must be \"strata.dataset/1\""},
    {"{\"schema\":\"strata.dataset/1\"}", "\"machine\" must be a string"},
    {"{\"schema\":\"strata.dataset/1\",\"schema\":1}", "duplicate"},
    {HEAD "\"series\":{}}", "\"series\" must be an array"},
    {HEAD "\"series\":[7]}", "series[0]: \"name\" must be a string"},
    {HEAD "\"seed\":-1,\"series\":[]}", "duplicate"},
    {"{\"schema\":\"strata.dataset/1\",\"machine\":\"m\",\"command\":\"c\","
     "\"version\":\"v\",\"settings\":\"s\",\"seed\":-1,\"cycle_ns\":1,\"series\":[]}",
     "\"seed\" must be a whole number"},
    {"{\"schema\":\"strata.dataset/1\",\"machine\":\"m\",\"command\":\"c\",\"version\":"
     "\"v\",\"settings\":\"s\",\"seed\":\"18446744073709551616\",\"cycle_ns\":1,\"series\":"
     "[]}",
     "\"seed\" must be a whole number"},
    {"{\"schema\":\"strata.dataset/1\",\"machine\":\"m\",\"command\":\"c\","
     "\"version\":\"0123456789012345678901234567890123456789\",\"settings\":\"s\"}",
     "\"version\" is longer than 31 bytes"},
    {SERIES("7", "[]", "[]"), "\"points\" must be an array"},
    {SERIES("[{\"x\":1}]", "[]", "[]"), "points[0]: must have a number \"x\""},
    {SERIES("[{\"x\":2,\"y\":[]},{\"x\":2,\"y\":[]}]", "[]", "[]"),
     "points[1]: x = 2 is not above"},
    {SERIES("[{\"x\":2,\"y\":[1,\"2\"]}]", "[]", "[]"), "y[1] must be a number or null"},
    {SERIES("[]", "{}", "[]"), "\"steps\" must be an array"},
    {SERIES("[]", "[{\"end\":1}]", "[]"), "\"height\" must be a number or null"},
    {SERIES("[]", "[{\"end\":null,\"height\":1},{\"end\":1,\"height\":1}]", "[]"),
     "steps[1]: end = 1 is not above"},
    {SERIES("[]", "[]", "[{\"end\":1,\"height\":1}]"), "\"latency\" must be a number"},
    {HEAD "\"series\":[{" NAMES "\"points\":[],\"steps\":[],\"density\":[]},{" NAMES
          "\"points\":[],\"steps\":[],\"density\":[]}]}",
     "series[1]: a second series \"a\""},
};

static void bad_files_are_explained(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        struct strata_error error = {0};
        struct dataset *data = (struct dataset *)state; /* must be left alone */
        const char *text = bad_files[i].text;
        assert_int_equal(dataset_parse("x.json", text, strlen(text), &data, &error),
                         STRATA_BAD_INPUT);
        assert_ptr_equal(data, state);
        assert_int_equal(error.status, STRATA_BAD_INPUT);
        if (!strstr(error.text, bad_files[i].words))
            fail_msg("%s\nsays: %s\nnot: %s", text, error.text, bad_files[i].words);
    }
}

static void unknown_keys_are_passed_over(void **state)
{
    (void)state;
    static const char text[] = HEAD "\"later\":{\"x\":1},\"series\":[]}";
    struct strata_error error = {0};
    struct dataset *data = NULL;
    assert_int_equal(dataset_parse("x", text, strlen(text), &data, &error), STRATA_OK);
    assert_int_equal(data->nseries, 0);
    dataset_release(data);
}

/* A file that was cut off anywhere is no dataset. */
static void truncated_files_are_refused(void **state)
{
    char path[256], *text = NULL;
    size_t size = 0;
    struct strata_error error = {0};
    struct dataset *data = sample(), *again;
    in_folder(state, "x.json", path);
    assert_int_equal(dataset_write(data, path, &error), STRATA_OK);
    assert_int_equal(read_file(path, 0, &text, &size, &error), STRATA_OK);
    for (size_t n = 0; n + 1 < size; n++) /* the last byte is a newline */
        assert_int_equal(dataset_parse("x", text, n, &again, &error), STRATA_BAD_INPUT);
    free(text);
    dataset_release(data);
    in_folder(state, "none.json", path);
    assert_int_equal(dataset_read(path, &again, &error), STRATA_BAD_INPUT);
    assert_non_null(strstr(error.text, "none.json: cannot open"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_kept_in_order),
        cmocka_unit_test(order_statistics_agree_with_sorting),
        cmocka_unit_test(texts_are_cut_and_cleaned),
        cmocka_unit_test_setup_teardown(json_reads_back_the_same, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(csv_has_a_row_for_everything, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(other_places_are_refused, make_folder,
                                        remove_folder),
        cmocka_unit_test(bad_files_are_explained),
        cmocka_unit_test(unknown_keys_are_passed_over),
        cmocka_unit_test_setup_teardown(truncated_files_are_refused, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
