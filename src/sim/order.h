/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The order of up to 16 ways of a set, packed into one word of 4-bit numbers.
 *
 * Place 0 (the lowest four bits) is the newest way, place room - 1 the oldest, where
 * room is the number of ways in use. What stands in the places beyond is of no
 * importance: a way is always found at its lowest place. Every operation is a few
 * instructions without a loop or a branch, because the simulated machine does one of
 * them for every access. */
#ifndef SIM_ORDER_H
#define SIM_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum { ORDER_MAX = 16 };

/* The lowest n places. */
static inline uint64_t order_places(uint32_t n)
{
    return n >= ORDER_MAX ? UINT64_MAX : (UINT64_C(1) << 4 * n) - 1;
}

/* An order of `room` ways in which way 0 is the oldest, way 1 the next, and so on. */
static inline uint64_t order_initial(uint32_t room)
{
    uint64_t order = 0;
    for (uint32_t way = 0; way < room; way++)
        order = order << 4 | way;
    return order;
}

/* All bits up to the place of a way, its own included. The subtraction borrows only
 * upwards from a true zero, so the lowest mark is exact. */
static inline uint64_t order_upto(uint64_t order, uint32_t way)
{
    const uint64_t ones = 0x1111111111111111u;
    uint64_t differs = order ^ way * ones;
    uint64_t zeros = (differs - ones) & ~differs & (ones << 3);
    return zeros ^ (zeros - 1);
}

static inline uint32_t order_oldest(uint64_t order, uint32_t room)
{
    return (uint32_t)(order >> 4 * (room - 1)) & 15;
}

static inline bool order_is_newest(uint64_t order, uint32_t way)
{
    return (order & 15) == way;
}

/* Makes a way the newest: those before it move up by one place. */
static inline uint64_t order_promote(uint64_t order, uint32_t way)
{
    uint64_t moved = order << 4 | way;
    return order ^ ((order ^ moved) & order_upto(order, way));
}

/* Makes a way the oldest: those behind it move down by one place. */
static inline uint64_t order_demote(uint64_t order, uint32_t way, uint32_t room)
{
    uint64_t before = order_upto(order, way) >> 4;
    uint64_t behind = (order >> 4) & order_places(room - 1) & ~before;
    return (uint64_t)way << 4 * (room - 1) | behind | (order & before);
}

#endif
