/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ten million counts in a hash table of 4 megabytes: accesses at random. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 1 << 18, KEYS = 150000, COUNTS = 10000000 };

int main(void)
{
    uint64_t *keys = calloc(SLOTS, sizeof *keys), *values = calloc(SLOTS, sizeof *values);
    uint64_t state = 88172645463325252u, sum = 0;
    if (!keys || !values)
        return 1;
    for (int i = 0; i < COUNTS; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint64_t key = state % KEYS + 1, at = key * 0x9e3779b97f4a7c15u >> 46;
        while (keys[at] && keys[at] != key)
            at = (at + 1) % SLOTS;
        keys[at] = key;
        sum += ++values[at];
    }
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
