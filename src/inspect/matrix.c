/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a matrix; matrix.h has the contract. */
#include "inspect/matrix.h"

#include "core/fail.h"
#include "core/file.h"
#include "machine/locale.h"
#include "pmu/ini.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct ini ini;
    struct matrix *matrix;
    struct matrix_kernel *kernel; /* of the section, or NULL */
    struct matrix_category *category;
    size_t nslopes; /* of the category, so far */
};

/* A category must have been given a slope for each kernel before the next section. */
static int end_section(struct reading *r)
{
    if (r->category && r->nslopes != r->matrix->nkernels)
        return ini_fail(&r->ini, "category %s has %zu slopes, and there are %zu kernels",
                        r->category->name, r->nslopes, r->matrix->nkernels);
    r->kernel = NULL;
    r->category = NULL;
    return STRATA_OK;
}

static int begin_kernel(struct reading *r, const char *name)
{
    struct matrix *m = r->matrix;
    if (m->ncategories)
        return ini_fail(&r->ini, "kernels come before categories");
    if (m->nkernels == MATRIX_KERNELS)
        return ini_fail(&r->ini, "more than %d kernels", MATRIX_KERNELS);
    for (size_t i = 0; i < m->nkernels; i++)
        if (strcmp(m->kernels[i].name, name) == 0)
            return ini_fail(&r->ini, "kernel %s is there twice", name);
    r->kernel = &m->kernels[m->nkernels++];
    strcpy(r->kernel->name, name);
    return STRATA_OK;
}

static int begin_category(struct reading *r, const char *name)
{
    struct matrix *m = r->matrix;
    if (!m->nkernels)
        return ini_fail(&r->ini, "kernels come before categories");
    if (m->ncategories == MATRIX_CATEGORIES)
        return ini_fail(&r->ini, "more than %d categories", MATRIX_CATEGORIES);
    if (matrix_find(m, name))
        return ini_fail(&r->ini, "category %s is there twice", name);
    r->category = &m->categories[m->ncategories++];
    strcpy(r->category->name, name);
    r->category->line = r->ini.line;
    r->nslopes = 0;
    return STRATA_OK;
}

static int begin_section(struct reading *r, const char *kind, const char *name)
{
    int status = end_section(r);
    if (status)
        return status;
    if (!*name || strlen(name) >= MATRIX_NAME)
        return ini_fail(&r->ini, "[%s %s]: a name of 1 to %d characters is needed", kind,
                        name, MATRIX_NAME - 1);
    if (strcmp(kind, "kernel") == 0)
        return begin_kernel(r, name);
    if (strcmp(kind, "category") == 0)
        return begin_category(r, name);
    return ini_fail(&r->ini, "[%s]: neither kernel nor category", kind);
}

static int take_slopes(struct reading *r, char *text)
{
    char *word;
    while ((word = ini_word(&text))) {
        char *end;
        double slope = strtod(word, &end);
        if (*end || !isfinite(slope) || slope < 0 || slope > 1000)
            return ini_fail(&r->ini, "slopes: '%s' is no number from 0 to 1000", word);
        if (r->nslopes == r->matrix->nkernels)
            return ini_fail(&r->ini, "more slopes than kernels");
        r->category->slopes[r->nslopes++] = slope;
    }
    return STRATA_OK;
}

static int take_label(struct reading *r, const char *key, char *label, const char *value)
{
    if (!*value || strlen(value) >= MATRIX_LABEL)
        return ini_fail(&r->ini, "%s: 1 to %d characters are needed", key,
                        MATRIX_LABEL - 1);
    strcpy(label, value);
    return STRATA_OK;
}

static int take_key(struct reading *r, const char *key, char *value)
{
    if (r->kernel && strcmp(key, "about") == 0)
        return take_label(r, key, r->kernel->about, value);
    if (r->kernel && strcmp(key, "code") == 0)
        return STRATA_OK; /* for scripts/kernel-branches */
    if (r->category && strcmp(key, "label") == 0)
        return take_label(r, key, r->category->label, value);
    if (r->category && strcmp(key, "slopes") == 0)
        return take_slopes(r, value);
    return ini_fail(&r->ini, "no key %s here", key);
}

static int read_lines(struct reading *r)
{
    char *a, *b;
    int status = STRATA_OK;
    enum ini_kind kind = INI_KEY;
    while (!status && kind != INI_END) {
        kind = ini_next(&r->ini, &a, &b);
        if (kind == INI_SECTION)
            status = begin_section(r, a, b);
        else if (kind == INI_KEY)
            status = take_key(r, a, b);
        else if (kind == INI_BAD)
            status = STRATA_BAD_INPUT;
    }
    return status ? status : end_section(r);
}

/* What has the same slopes in all kernels is one category. */
static int check_rows(const char *file, const struct matrix *m, struct strata_error *error)
{
    for (size_t i = 0; i < m->ncategories; i++)
        for (size_t j = 0; j < i; j++)
            if (memcmp(m->categories[i].slopes, m->categories[j].slopes,
                       m->nkernels * sizeof(double)) == 0)
                return fail(error, STRATA_BAD_INPUT,
                            "%s:%u: category %s has the slopes of %s: no kernel tells them "
                            "apart",
                            file, m->categories[i].line, m->categories[i].name,
                            m->categories[j].name);
    if (!m->ncategories)
        return fail(error, STRATA_BAD_INPUT, "%s: no categories in it", file);
    return STRATA_OK;
}

int matrix_parse(const char *file, const char *text, size_t size, struct matrix *matrix,
                 struct strata_error *error)
{
    memset(matrix, 0, sizeof *matrix);
    char *copy = ini_copy(file, text, size, error);
    if (!copy)
        return STRATA_BAD_INPUT;
    struct c_locale locale;
    struct reading r = {.matrix = matrix};
    int status = c_locale_enter(&locale, error);
    if (!status) {
        ini_begin(&r.ini, file, copy, error);
        status = read_lines(&r);
        c_locale_leave(&locale);
    }
    if (!status)
        status = check_rows(file, matrix, error);
    free(copy);
    return status;
}

int matrix_read(const char *folder, const char *name, struct matrix *matrix,
                struct strata_error *error)
{
    char path[PATH_MAX];
    char *text;
    size_t size;
    snprintf(path, sizeof path, "%s/%s.matrix", folder, name);
    int status = read_file(path, 0, &text, &size, error);
    if (status)
        return status;
    status = matrix_parse(path, text, size, matrix, error);
    free(text);
    return status;
}

const struct matrix_category *matrix_find(const struct matrix *matrix, const char *name)
{
    for (size_t i = 0; i < matrix->ncategories; i++)
        if (strcmp(matrix->categories[i].name, name) == 0)
            return &matrix->categories[i];
    return NULL;
}

int matrices_read(const char *folder, struct matrices *matrices, struct strata_error *error)
{
    int status = matrix_read(folder, "branches", &matrices->branches, error);
    if (!status)
        status = matrix_read(folder, "system", &matrices->system, error);
    if (!status)
        status = matrix_read(folder, "work", &matrices->work, error);
    return status;
}
