/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading and evaluating metrics; docs/format/metrics.md describes the text. */
#include "pmu/metrics.h"

#include "core/fail.h"
#include "core/file.h"
#include "machine/locale.h"
#include "pmu/formula.h"
#include "pmu/ini.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_LIMIT = 1 << 20 };

/* Reading. */

static int add_metric(struct ini *ini, struct metric_table *table, const char *word,
                      char *name)
{
    if (strcmp(word, "metric") != 0 || !*name)
        return ini_fail(ini, "[%.60s]: a section is [metric NAME]", word);
    for (size_t i = 0; i < table->n; i++)
        if (strcmp(table->metrics[i].name, name) == 0)
            return ini_fail(ini, "[metric %.60s] is already in line %u", name,
                            (unsigned)table->metrics[i].line);
    struct metric *more = realloc(table->metrics, (table->n + 1) * sizeof *more);
    if (!more)
        return fail(ini->error, STRATA_FAILED, "%s: out of memory", ini->file);
    table->metrics = more;
    table->metrics[table->n++] = (struct metric){.name = name, .line = ini->line};
    return STRATA_OK;
}

/* A decimal number, the whole text. */
static bool read_real(const char *text, double *number)
{
    char *end;
    if (!text || !((*text >= '0' && *text <= '9') || *text == '.'))
        return false;
    *number = strtod(text, &end);
    return end != text && !*end && isfinite(*number);
}

/* "2 .. 5" */
static int take_typical(struct ini *ini, struct metric *metric, char *value)
{
    char *low = ini_word(&value), *dots = ini_word(&value), *high = ini_word(&value);
    if (!high || strcmp(dots, "..") != 0 || ini_word(&value) ||
        !read_real(low, &metric->typical[0]) || !read_real(high, &metric->typical[1]) ||
        metric->typical[0] > metric->typical[1])
        return ini_fail(ini, "typical: wanted is a range such as 2 .. 5");
    metric->has_typical = true;
    return STRATA_OK;
}

static int take_formula(struct ini *ini, struct metric *metric, char *value)
{
    metric->formula = strdup(value); /* compiling cuts the text into names */
    if (!metric->formula)
        return fail(ini->error, STRATA_FAILED, "%s: out of memory", ini->file);
    const char *wrong = formula_compile(value, metric);
    return wrong ? ini_fail(ini, "formula = %.80s: %s", metric->formula, wrong) : STRATA_OK;
}

static int take_key(struct ini *ini, struct metric_table *table, const char *key,
                    char *value)
{
    if (!table->n)
        return ini_fail(ini, "%.60s stands before any section; begin with [metric NAME]",
                        key);
    struct metric *metric = &table->metrics[table->n - 1];
    if (!*value)
        return ini_fail(ini, "%.60s: a value is missing", key);
    if (strcmp(key, "formula") == 0 && !metric->formula)
        return take_formula(ini, metric, value);
    if (strcmp(key, "typical") == 0)
        return take_typical(ini, metric, value);
    if (strcmp(key, "poor") == 0)
        return read_real(value, &metric->poor)
                   ? STRATA_OK
                   : ini_fail(ini, "poor = %.60s: wanted is a number", value);
    const char **field = strcmp(key, "label") == 0   ? &metric->label
                         : strcmp(key, "unit") == 0  ? &metric->unit
                         : strcmp(key, "about") == 0 ? &metric->about
                         : strcmp(key, "event") == 0 ? &metric->event
                         : strcmp(key, "hint") == 0  ? &metric->hint
                                                     : NULL;
    if (!field || *field)
        return ini_fail(
            ini,
            "%.60s: %s; there are label, unit, about, formula, event, "
            "typical, poor and hint",
            key, field || metric->formula ? "no such key, or given twice" : "no such key");
    *field = value;
    return STRATA_OK;
}

static int check_metric(struct ini *ini, const struct metric *metric)
{
    ini->line = metric->line;
    const char *missing = !metric->formula ? "formula"
                          : !metric->label ? "label"
                          : !metric->unit  ? "unit"
                          : !metric->about ? "about"
                                           : NULL;
    if (missing)
        return ini_fail(ini, "[metric %.60s] has no %s", metric->name, missing);
    if (metric->poor && (!metric->has_typical || metric->poor < metric->typical[1]))
        return ini_fail(ini, "[metric %.60s]: poor must be above what is typical",
                        metric->name);
    return STRATA_OK;
}

static int parse(struct ini *ini, struct metric_table *table)
{
    char *a, *b;
    int status = STRATA_OK;
    for (enum ini_kind kind; !status && (kind = ini_next(ini, &a, &b)) != INI_END;)
        status = kind == INI_SECTION ? add_metric(ini, table, a, b)
                 : kind == INI_KEY   ? take_key(ini, table, a, b)
                                     : STRATA_BAD_INPUT;
    for (size_t i = 0; i < table->n && !status; i++)
        status = check_metric(ini, &table->metrics[i]);
    return status;
}

int metric_table_parse(const char *file, const char *text, size_t size,
                       struct metric_table *table, struct strata_error *error)
{
    struct ini ini;
    struct c_locale locale;
    *table = (struct metric_table){.text = ini_copy(file, text, size, error)};
    if (!table->text)
        return error ? error->status : STRATA_FAILED;
    int status = c_locale_enter(&locale, error);
    if (!status) {
        ini_begin(&ini, file, table->text, error);
        status = parse(&ini, table);
        c_locale_leave(&locale);
    }
    if (status)
        metric_table_release(table);
    return status;
}

int metric_table_read(const char *path, struct metric_table *table,
                      struct strata_error *error)
{
    char *text;
    size_t size;
    *table = (struct metric_table){.n = 0};
    int status = read_file(path, TABLE_LIMIT, &text, &size, error);
    if (status)
        return status;
    status = metric_table_parse(path, text, size, table, error);
    free(text);
    return status;
}

void metric_table_release(struct metric_table *table)
{
    for (size_t i = 0; i < table->n; i++)
        free((char *)table->metrics[i].formula);
    free(table->metrics);
    free(table->text);
    *table = (struct metric_table){.n = 0};
}

/* Evaluating. */

static bool apply(enum metric_op op, double a, double b, double *result)
{
    *result = op == METRIC_ADD   ? a + b
              : op == METRIC_SUB ? a - b
              : op == METRIC_MUL ? a * b
                                 : a / b;
    return op != METRIC_DIV || b != 0;
}

bool metric_value(const struct metric *metric, metric_source *source, void *context,
                  double *value, char why[METRIC_WHY])
{
    double stack[METRIC_STEPS];
    size_t n = 0;
    for (uint32_t i = 0; i < metric->nsteps; i++) {
        const struct metric_step *step = &metric->steps[i];
        if (step->op == METRIC_NUMBER)
            stack[n++] = step->number;
        else if (step->op == METRIC_EVENT) {
            if (!source(context, step->event, &stack[n++], why))
                return false;
        } else {
            n--;
            if (!apply(step->op, stack[n - 1], stack[n], &stack[n - 1])) {
                snprintf(why, METRIC_WHY, "%s: what it is divided by is 0",
                         metric->formula);
                return false;
            }
        }
    }
    *value = stack[0];
    if (isfinite(*value))
        return true;
    snprintf(why, METRIC_WHY, "%s: too large for a number", metric->formula);
    return false;
}

const char *metric_verdict(const struct metric *metric, double value)
{
    if (!metric->has_typical)
        return NULL;
    double poor = metric->poor ? metric->poor : 2 * metric->typical[1];
    return value < metric->typical[0]    ? "below typical"
           : value <= metric->typical[1] ? "typical"
           : value < poor                ? "above typical"
                                         : "well above typical";
}
