/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Seeded random numbers (splitmix64): small, fast, freestanding, and the same on
 * every machine, so that a seed names a run. */
#ifndef CORE_RNG_H
#define CORE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

/* A 64-bit mixing function: a bijection whose output looks random. */
static inline uint64_t mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t rng_next(struct rng *rng)
{
    return mix64(rng->state += 0x9e3779b97f4a7c15u);
}

/* Uniform in [0, n), n > 0. The bias is below 2^-32 for every n below 2^32. */
static inline uint64_t rng_below(struct rng *rng, uint64_t n)
{
    return n <= UINT32_MAX ? ((rng_next(rng) >> 32) * n) >> 32 : rng_next(rng) % n;
}

/* Uniform in [0, 1). */
static inline double rng_unit(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

#endif
