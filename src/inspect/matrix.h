/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What kernels execute, by category of event: a table of expected slopes (metrics/
 * *.matrix). The files say what their sections mean; docs/format/matrix.md all of it. */
#ifndef INSPECT_MATRIX_H
#define INSPECT_MATRIX_H

#include <stddef.h>
#include <stdint.h>
#include <strata/error.h>

enum { MATRIX_KERNELS = 24, MATRIX_CATEGORIES = 48, MATRIX_NAME = 16, MATRIX_LABEL = 96 };

struct matrix_kernel {
    char name[MATRIX_NAME];
    char about[MATRIX_LABEL];
};

struct matrix_category {
    char name[MATRIX_NAME];
    char label[MATRIX_LABEL];
    double slopes[MATRIX_KERNELS];
    uint32_t line;
};

struct matrix {
    size_t nkernels, ncategories;
    struct matrix_kernel kernels[MATRIX_KERNELS];
    struct matrix_category categories[MATRIX_CATEGORIES];
};

/* Those that come with strata. */
struct matrices {
    struct matrix branches, system, work;
};

/* Reads all of them from a folder. */
int matrices_read(const char *folder, struct matrices *matrices,
                  struct strata_error *error);

/* Reads FOLDER/NAME.matrix. STRATA_BAD_INPUT with the file and line of what is wrong: also
 * two categories with the same slopes, which nothing could tell apart. */
int matrix_read(const char *folder, const char *name, struct matrix *matrix,
                struct strata_error *error);

/* The same for text in memory; any bytes may be given. */
int matrix_parse(const char *file, const char *text, size_t size, struct matrix *matrix,
                 struct strata_error *error);

/* The category of that name, or NULL. */
const struct matrix_category *matrix_find(const struct matrix *matrix, const char *name);

#endif
