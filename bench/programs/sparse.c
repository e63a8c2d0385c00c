/* SPDX-License-Identifier: BSD-3-Clause
 *
 * In the manner of equake: a sparse matrix, row by row, times a vector, again and again.
 * Values and columns are passed through in order, the vector is visited at random. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 200000, ENTRIES = 12, STEPS = 16 };

static double *matrix, *vector, *product;
static int *column;

/* Blocks are named by the functions that ask for them, so each has one of its own. */
#define APART __attribute__((noinline))

static void *get(size_t count, size_t size)
{
    void *block = calloc(count, size);
    if (!block) {
        perror("calloc");
        exit(1);
    }
    return block;
}

static APART void make_columns(void)
{
    uint32_t seed = 1;
    column = get((size_t)ROWS * ENTRIES, sizeof *column);
    for (int i = 0; i < ROWS * ENTRIES; i++) {
        seed = seed * 1664525u + 1013904223u;
        column[i] = (int)((seed >> 8) % ROWS);
    }
}

static APART void make_matrix(void)
{
    matrix = get((size_t)ROWS * ENTRIES, sizeof *matrix);
    for (int i = 0; i < ROWS * ENTRIES; i++)
        matrix[i] = 1.0 / (1 + i % 64);
}

static APART void make_vector(void)
{
    vector = get(ROWS, sizeof *vector);
    for (int i = 0; i < ROWS; i++)
        vector[i] = i % 7;
}

static APART void make_product(void)
{
    product = get(ROWS, sizeof *product);
}

static void multiply(void)
{
    for (int i = 0; i < ROWS; i++) {
        double sum = 0;
        for (int j = i * ENTRIES; j < (i + 1) * ENTRIES; j++)
            sum += matrix[j] * vector[column[j]];
        product[i] = sum;
    }
}

static void take_over(void)
{
    for (int i = 0; i < ROWS; i++)
        vector[i] = 0.9 * vector[i] + 0.01 * product[i];
}

int main(void)
{
    make_columns();
    make_matrix();
    make_vector();
    make_product();
    for (int i = 0; i < STEPS; i++) {
        multiply();
        take_over();
    }
    printf("%g\n", vector[ROWS / 2]);
    return 0;
}
