/* SPDX-License-Identifier: BSD-3-Clause
 *
 * In the manner of equake: a sparse matrix, row by row, times a vector, again and again.
 * Values and columns are passed through in order, the vector is visited at random. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 200000, ENTRIES = 12, STEPS = 10 };

static double *matrix, *vector, *product;
static int *column;

static void *get(size_t count, size_t size)
{
    void *block = calloc(count, size);
    if (!block) {
        perror("calloc");
        exit(1);
    }
    return block;
}

static void make_matrix(void)
{
    uint32_t seed = 1;
    matrix = get((size_t)ROWS * ENTRIES, sizeof *matrix);
    column = get((size_t)ROWS * ENTRIES, sizeof *column);
    for (int i = 0; i < ROWS * ENTRIES; i++) {
        seed = seed * 1664525u + 1013904223u;
        column[i] = (int)((seed >> 8) % ROWS);
        matrix[i] = 1.0 / (1 + seed % 64);
    }
}

static void make_vectors(void)
{
    vector = get(ROWS, sizeof *vector);
    product = get(ROWS, sizeof *product);
    for (int i = 0; i < ROWS; i++)
        vector[i] = i % 7;
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
    make_matrix();
    make_vectors();
    for (int i = 0; i < STEPS; i++) {
        multiply();
        take_over();
    }
    printf("%g\n", vector[ROWS / 2]);
    return 0;
}
