/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The page mapping: where in physical memory a virtual address is.
 *
 * A keyed bijection of page numbers, not a table: it needs no memory, no two pages
 * collide, and a seed names a mapping. The low 36 bits of the page number are
 * scrambled (48-bit addresses with 4K pages), higher ones are kept.
 * - contiguous: the identity.
 * - random: the page number is scrambled whole.
 * - coloured: its low bits that take part in the index of any physically indexed cache
 *   are kept, the rest is scrambled. (Where the number of sets is no power of two, as
 *   many low bits as the sets of one way span.)
 * Ranges on huge pages are mapped likewise in units of the huge page, into a half of
 * physical memory of their own: they and base pages never collide, as long as virtual
 * addresses are below 2^63. */
#ifndef SIM_MAPPING_H
#define SIM_MAPPING_H

#include <stdbool.h>
#include <stdint.h>
#include <strata/machine.h>

enum { MAPPING_BITS = 36, MAPPING_ROUNDS = 3, MAPPING_RANGES = 64 };

/* A bijection of the numbers below mask + 1, and where in an address such a number is. */
struct scramble {
    uint64_t mask;
    uint64_t below;   /* the bits of an address that stay */
    uint64_t flipped; /* those that are inverted */
    uint32_t shift;   /* log2 of below + 1 */
    uint32_t half;
    uint64_t times[MAPPING_ROUNDS], plus[MAPPING_ROUNDS];
};

struct mapping {
    bool identity;
    uint32_t shift[2]; /* log2 of the base page and of the huge page */
    uint32_t kept[2];  /* low bits of their numbers that stay */
    struct scramble scramble[2];
    uint64_t huge;   /* bytes of a huge page, 0: none */
    bool splintered; /* huge pages are in truth base pages */
    /* The part of memory, all huge or all base pages, that was asked for last. */
    uint64_t span, span_size; /* size is one less, so that it may be everything */
    bool span_huge;
    uint32_t nranges;
    struct {
        uint64_t first, last;
    } ranges[MAPPING_RANGES]; /* on huge pages, ascending, apart, both ends included */
};

void mapping_init(struct mapping *mapping, const struct strata_machine *machine,
                  uint64_t seed);

/* Another mapping of the same kind; huge ranges stay. */
void mapping_seed(struct mapping *mapping, uint64_t seed);

/* Puts [first, last] on huge pages; both are at the ends of huge pages. Returns 1 if
 * that changed something, 0 if all of it was huge, -1 if there are too many ranges. */
int mapping_add_huge(struct mapping *mapping, uint64_t first, uint64_t last);

/* Whether an address is on a huge page, by search. */
bool mapping_find_huge(const struct mapping *mapping, uint64_t address);

/* The same, fast for an address near the last one. */
void mapping_move_span(struct mapping *mapping, uint64_t address);
static inline bool mapping_is_huge(struct mapping *mapping, uint64_t address)
{
    if (__builtin_expect(address - mapping->span > mapping->span_size, 0))
        mapping_move_span(mapping, address);
    return mapping->span_huge;
}

/* Each step is invertible modulo a power of two: a product with an odd number, a sum,
 * and an exclusive or with the upper half. */
static inline uint64_t scramble(const struct scramble *with, uint64_t x)
{
    uint64_t rest = x & ~with->mask;
#pragma GCC unroll 4
    for (int i = 0; i < MAPPING_ROUNDS; i++) {
        x = (x * with->times[i] + with->plus[i]) & with->mask;
        x ^= x >> with->half;
    }
    return rest | x;
}

/* The physical address of a virtual one. */
static inline uint64_t mapping_physical(const struct mapping *mapping, uint64_t address,
                                        bool huge)
{
    if (mapping->identity)
        return address;
    const struct scramble *with = &mapping->scramble[huge];
    uint64_t number = scramble(with, address >> with->shift);
    return (number << with->shift | (address & with->below)) ^ with->flipped;
}

#endif
