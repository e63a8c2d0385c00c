/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of 24 bytes, 1.3 million of them alive unless the first argument says how many,
 * visited at random: how the cost of an event grows with the number of objects. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { OBJECTS = 1300000, VISITS = 5000000 };

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : OBJECTS, sum = 0;
    uint64_t **objects = calloc(n, sizeof *objects), state = 1;
    if (!objects || n == 0)
        return 1;
    for (size_t i = 0; i < n; i++) {
        objects[i] = malloc(24);
        if (!objects[i])
            return 1;
        objects[i][0] = i;
    }
    for (int i = 0; i < VISITS; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        sum += objects[state % n][0]++;
    }
    printf("%zu\n", sum);
    return 0;
}
