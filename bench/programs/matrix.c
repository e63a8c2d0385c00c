/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The product of two matrices of 512 by 512 numbers, the plain way: nothing but accesses.
 */
#include <stdio.h>

enum { N = 512 };

static double a[N][N], b[N][N], c[N][N];

static double inner(int i, int j)
{
    double sum = 0;
    for (int k = 0; k < N; k++)
        sum += a[i][k] * b[k][j];
    return sum;
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i + j;
            b[i][j] = i - j;
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            c[i][j] = inner(i, j);
    printf("%g\n", c[3][5]);
    return 0;
}
