/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datasets as files: JSON (schema strata.dataset/1), read back to an equal dataset, and
 * CSV for spreadsheets and data frames, written only. docs/format/dataset.md describes
 * both.
 *
 * JSON has no NAN and no infinity. An observation that is not finite is written as null
 * and read as NAN; the last step may have no end, which is null too. Keys that are not
 * known are passed over, so that a later minor addition does not break a reader. */
#include "core/fail.h"
#include "core/file.h"
#include "core/utf8.h"
#include "dataset/dataset.h"
#include "dataset/trials_file.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char schema[] = "strata.dataset/1";

/* A double holds every whole number up to here, and most JSON readers use doubles; a
 * larger seed is a string of digits. */
static const uint64_t exact = UINT64_C(1) << 53;

enum { LONGEST = 256 };

/* The texts of a dataset and of a series, for both directions. */
struct text_field {
    const char *key;
    size_t offset, size;
    bool optional; /* not written where it is empty */
};
#define FIELD(type, member, optional)                                                      \
    {                                                                                      \
#member, offsetof(struct type, member), sizeof(((struct type *)0)->member),        \
            optional                                                                       \
    }
#define TEXT(type, member) FIELD(type, member, false)

static const struct text_field dataset_texts[] = {
    TEXT(dataset, machine),
    TEXT(dataset, command),
    TEXT(dataset, version),
    TEXT(dataset, settings),
    FIELD(dataset, host, true),
    FIELD(dataset, date, true),
    {0},
};
static const struct text_field series_texts[] = {
    TEXT(series, name),
    TEXT(series, title),
    TEXT(series, x_unit),
    TEXT(series, y_unit),
    {0},
};

/* Writing. jansson's setters take NULL for a value that could not be made and return
 * -1, so that running out of memory anywhere comes out at the top. */

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static int set_texts(json_t *object, const void *record, const struct text_field *fields)
{
    int bad = 0;
    char clean[LONGEST];
    for (; fields->key; fields++) {
        utf8_clean((const char *)record + fields->offset, clean, sizeof clean);
        if (*clean || !fields->optional)
            bad |= json_object_set_new(object, fields->key, json_string(clean));
    }
    return bad;
}

static json_t *points_json(const struct series *series)
{
    json_t *array = json_array();
    int bad = !array;
    for (size_t i = 0; !bad && i < series->npoints; i++) {
        const struct point *point = &series->points[i];
        json_t *y = json_array();
        for (size_t j = 0; !bad && j < point->n; j++)
            bad |= json_array_append_new(y, number_or_null(point->y[j]));
        bad |= json_array_append_new(array, json_pack("{s:f, s:o}", "x", point->x, "y", y));
    }
    if (!bad)
        return array;
    json_decref(array);
    return NULL;
}

/* Steps and density are pairs under names of their own. */
static json_t *pairs_json(const struct step *pairs, size_t n, const char *end,
                          const char *height)
{
    json_t *array = json_array();
    int bad = !array;
    for (size_t i = 0; !bad && i < n; i++)
        bad |= json_array_append_new(array, json_pack("{s:o, s:o}", end,
                                                      number_or_null(pairs[i].end), height,
                                                      number_or_null(pairs[i].height)));
    if (!bad)
        return array;
    json_decref(array);
    return NULL;
}

static json_t *series_json(const struct series *series)
{
    json_t *object = json_object();
    int bad = set_texts(object, series, series_texts);
    bad |= json_object_set_new(object, "points", points_json(series));
    bad |= json_object_set_new(object, "steps",
                               pairs_json(series->steps, series->nsteps, "end", "height"));
    bad |= json_object_set_new(
        object, "density",
        pairs_json(series->density, series->ndensity, "latency", "density"));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *seed_json(uint64_t seed)
{
    char digits[24];
    if (seed <= exact)
        return json_integer((json_int_t)seed);
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)seed);
    return json_string(digits);
}

static json_t *dataset_json(const struct dataset *dataset)
{
    json_t *object = json_object(), *all = json_array();
    int bad = json_object_set_new(object, "schema", json_string(schema));
    bad |= set_texts(object, dataset, dataset_texts);
    bad |= json_object_set_new(object, "seed", seed_json(dataset->seed));
    bad |= json_object_set_new(object, "cycle_ns", number_or_null(dataset->cycle_ns));
    for (size_t i = 0; !bad && i < dataset->nseries; i++)
        bad |= json_array_append_new(all, series_json(dataset->series[i]));
    bad |= json_object_set_new(object, "series", all);
    if (dataset->trials)
        bad |= json_object_set_new(object, "trials", trials_json(dataset->trials));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static int print_json(FILE *out, const struct dataset *dataset)
{
    json_t *json = dataset_json(dataset);
    int bad = !json || json_dumpf(json, out, JSON_COMPACT) || putc('\n', out) == EOF;
    json_decref(json);
    return bad ? -1 : 0;
}

/* A text as a CSV field: quoted, with quotes doubled. */
static void print_quoted(FILE *out, const char *text)
{
    char clean[LONGEST];
    putc('"', out);
    for (const char *c = utf8_clean(text, clean, sizeof clean); *c; c++) {
        if (*c == '"')
            putc('"', out);
        putc(*c, out);
    }
    putc('"', out);
}

static void print_row(FILE *out, const struct series *series, const char *what, double x,
                      double y)
{
    print_quoted(out, series->name);
    fprintf(out, ",%s,%.17g,", what, x);
    if (!isnan(y))
        fprintf(out, "%.17g", y);
    putc(',', out);
    print_quoted(out, series->x_unit);
    putc(',', out);
    print_quoted(out, series->y_unit);
    putc('\n', out);
}

static void print_series(FILE *out, const struct series *series)
{
    for (size_t i = 0; i < series->npoints; i++)
        for (size_t j = 0; j < series->points[i].n; j++)
            print_row(out, series, "observation", series->points[i].x,
                      series->points[i].y[j]);
    for (size_t i = 0; i < series->nsteps; i++)
        print_row(out, series, "step", series->steps[i].end, series->steps[i].height);
    for (size_t i = 0; i < series->ndensity; i++)
        print_row(out, series, "density", series->density[i].end,
                  series->density[i].height);
}

static int print_csv(FILE *out, const struct dataset *dataset)
{
    char clean[LONGEST];
    for (const struct text_field *f = dataset_texts; f->key; f++) {
        utf8_clean((const char *)dataset + f->offset, clean, sizeof clean);
        if (*clean || !f->optional)
            fprintf(out, "# %s: %s\n", f->key, clean);
    }
    fprintf(out, "# seed: %llu\n# cycle_ns: %.17g\n", (unsigned long long)dataset->seed,
            dataset->cycle_ns);
    fputs("series,what,x,y,x_unit,y_unit\n", out);
    for (size_t i = 0; i < dataset->nseries; i++)
        print_series(out, dataset->series[i]);
    return ferror(out) ? -1 : 0;
}

static const struct format {
    const char *ending;
    int (*print)(FILE *out, const struct dataset *dataset);
} formats[] = {{".json", print_json}, {".csv", print_csv}};

static const struct format *format_of(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t n = strlen(formats[i].ending);
        if (length > n && !strcmp(path + length - n, formats[i].ending))
            return &formats[i];
    }
    return NULL;
}

int dataset_write(const struct dataset *dataset, const char *path,
                  struct strata_error *error)
{
    const struct format *format = format_of(path);
    if (!format)
        return fail(error, STRATA_BAD_INPUT,
                    "%s: a dataset is written as .json or .csv; give the file one of these "
                    "endings",
                    path);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return fail(error, STRATA_FAILED, "%s: out of memory", path);
    int bad = format->print(out, dataset);
    bad |= fclose(out); /* sets text and size */
    int status = bad ? fail(error, STRATA_FAILED, "%s: out of memory", path)
                     : write_file(path, text, size, error);
    free(text);
    return status;
}

/* Reading. */

struct reader {
    const char *name;
    struct strata_error *error;
    char place[80]; /* what is being read, for messages */
};

__attribute__((format(printf, 2, 3))) static int bad(const struct reader *reader,
                                                     const char *format, ...)
{
    char what[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return fail(reader->error, STRATA_BAD_INPUT, "%s: %s%s%s", reader->name, reader->place,
                *reader->place ? ": " : "", what);
}

static int no_memory(const struct reader *reader)
{
    return fail(reader->error, STRATA_FAILED, "%s: out of memory", reader->name);
}

static int read_texts(const struct reader *reader, const json_t *object, void *record,
                      const struct text_field *fields)
{
    for (; fields->key; fields++) {
        const json_t *value = json_object_get(object, fields->key);
        if (!value && fields->optional)
            continue;
        if (!json_is_string(value))
            return bad(reader, "\"%s\" must be a string", fields->key);
        if (json_string_length(value) >= fields->size)
            return bad(reader, "\"%s\" is longer than %zu bytes", fields->key,
                       fields->size - 1);
        utf8_clean(json_string_value(value), (char *)record + fields->offset, fields->size);
    }
    return STRATA_OK;
}

/* A number, or null for `missing`. */
static int read_number(const struct reader *reader, const json_t *object, const char *key,
                       double missing, double *number)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value) && !json_is_null(value))
        return bad(reader, "\"%s\" must be a number or null", key);
    *number = json_is_null(value) ? missing : json_number_value(value);
    return STRATA_OK;
}

static int read_observations(const struct reader *reader, const json_t *array,
                             struct point *point)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *y = json_array_get(array, i);
        if (!json_is_number(y) && !json_is_null(y))
            return bad(reader, "y[%zu] must be a number or null", i);
        if (point_add(point, json_is_null(y) ? NAN : json_number_value(y)))
            return no_memory(reader);
    }
    return STRATA_OK;
}

static int read_points(struct reader *reader, const json_t *object, struct series *series)
{
    const json_t *array = json_object_get(object, "points");
    if (!json_is_array(array))
        return bad(reader, "\"points\" must be an array");
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *entry = json_array_get(array, i);
        const json_t *x = json_object_get(entry, "x"), *y = json_object_get(entry, "y");
        snprintf(reader->place, sizeof reader->place, "series \"%s\", points[%zu]",
                 series->name, i);
        if (!json_is_number(x) || !json_is_array(y))
            return bad(reader, "must have a number \"x\" and an array \"y\"");
        double at = json_number_value(x);
        if (i && at <= series->points[i - 1].x)
            return bad(reader, "x = %g is not above the one before it", at);
        struct point *point = series_at(series, at);
        if (!point)
            return no_memory(reader);
        int status = read_observations(reader, y, point);
        if (status)
            return status;
    }
    return STRATA_OK;
}

/* Steps or density, as an array that the caller frees. */
static int read_pairs(struct reader *reader, const json_t *object, const char *key,
                      const char *end, const char *height, struct step **pairs, size_t *n)
{
    const json_t *array = json_object_get(object, key);
    if (!json_is_array(array))
        return bad(reader, "\"%s\" must be an array", key);
    *n = json_array_size(array);
    *pairs = calloc(*n ? *n : 1, sizeof **pairs);
    if (!*pairs)
        return no_memory(reader);
    for (size_t i = 0; i < *n; i++) {
        const json_t *entry = json_array_get(array, i);
        struct step *pair = *pairs + i;
        int status = read_number(reader, entry, end, INFINITY, &pair->end);
        if (!status)
            status = read_number(reader, entry, height, NAN, &pair->height);
        if (!status && i && pair->end <= pair[-1].end)
            status = bad(reader, "%s[%zu]: %s = %g is not above the one before it", key, i,
                         end, pair->end);
        if (status)
            return status;
    }
    return STRATA_OK;
}

static const struct pair_field {
    const char *key, *end, *height;
    int (*set)(struct series *series, const struct step *steps, size_t n);
} pair_fields[] = {
    {"steps", "end", "height", series_set_steps},
    {"density", "latency", "density", series_set_density},
};

static int read_findings(struct reader *reader, const json_t *object, struct series *series)
{
    snprintf(reader->place, sizeof reader->place, "series \"%s\"", series->name);
    for (size_t i = 0; i < sizeof pair_fields / sizeof *pair_fields; i++) {
        const struct pair_field *f = &pair_fields[i];
        struct step *pairs = NULL;
        size_t n = 0;
        int status = read_pairs(reader, object, f->key, f->end, f->height, &pairs, &n);
        if (!status && f->set(series, pairs, n))
            status = no_memory(reader);
        free(pairs);
        if (status)
            return status;
    }
    return STRATA_OK;
}

static int read_series(struct reader *reader, const json_t *object, struct dataset *dataset)
{
    struct series texts = {0};
    int status = read_texts(reader, object, &texts, series_texts);
    if (status)
        return status;
    if (dataset_find(dataset, texts.name))
        return bad(reader, "a second series \"%s\"", texts.name);
    struct series *series =
        dataset_add(dataset, texts.name, texts.title, texts.x_unit, texts.y_unit);
    if (!series)
        return no_memory(reader);
    status = read_points(reader, object, series);
    return status ? status : read_findings(reader, object, series);
}

/* A whole number from 0, or a string of digits for one that JSON readers would round. */
static int read_seed(const struct reader *reader, const json_t *value, uint64_t *seed)
{
    const char *digits = json_string_value(value);
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *seed = (uint64_t)json_integer_value(value);
        return STRATA_OK;
    }
    if (digits && *digits && !digits[strspn(digits, "0123456789")]) {
        errno = 0;
        *seed = strtoull(digits, NULL, 10);
        if (!errno)
            return STRATA_OK;
    }
    return bad(reader, "\"seed\" must be a whole number from 0 to 2^64 - 1");
}

static int read_trials(struct reader *reader, const json_t *json, struct dataset *dataset)
{
    char why[TRIALS_WHY];
    if (!json || trials_read(json, &dataset->trials, why) == 0)
        return STRATA_OK;
    snprintf(reader->place, sizeof reader->place, "trials");
    return *why ? bad(reader, "%s", why) : no_memory(reader);
}

static int read_dataset(struct reader *reader, const json_t *json, struct dataset *dataset)
{
    const char *found = json_string_value(json_object_get(json, "schema"));
    if (!found || strcmp(found, schema))
        return bad(reader, "this is no dataset: \"schema\" must be \"%s\"", schema);
    int status = read_texts(reader, json, dataset, dataset_texts);
    if (!status)
        status = read_seed(reader, json_object_get(json, "seed"), &dataset->seed);
    if (!status)
        status = read_number(reader, json, "cycle_ns", NAN, &dataset->cycle_ns);
    const json_t *all = json_object_get(json, "series");
    if (!status && !json_is_array(all))
        status = bad(reader, "\"series\" must be an array");
    for (size_t i = 0; !status && i < json_array_size(all); i++) {
        snprintf(reader->place, sizeof reader->place, "series[%zu]", i);
        status = read_series(reader, json_array_get(all, i), dataset);
    }
    return status ? status : read_trials(reader, json_object_get(json, "trials"), dataset);
}

int dataset_parse(const char *name, const char *text, size_t size, struct dataset **dataset,
                  struct strata_error *error)
{
    json_error_t problem;
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
    if (!json)
        return fail(error, STRATA_BAD_INPUT, "%s:%d: not JSON: %s", name, problem.line,
                    problem.text);
    struct reader reader = {.name = name, .error = error};
    struct dataset *made = dataset_create();
    int status = made ? read_dataset(&reader, json, made) : no_memory(&reader);
    json_decref(json);
    if (status)
        dataset_release(made);
    else
        *dataset = made;
    return status;
}

int dataset_read(const char *path, struct dataset **dataset, struct strata_error *error)
{
    char *text = NULL;
    size_t size = 0;
    int status = read_file(path, 0, &text, &size, error);
    if (!status)
        status = dataset_parse(path, text, size, dataset, error);
    free(text);
    return status;
}
