/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The page mapping: its keys and its ranges of huge pages. */
#include "mapping.h"
#include <core/rng.h>

static uint32_t log2_up(uint64_t x)
{
    uint32_t bits = 0;
    while (bits < 63 && UINT64_C(1) << bits < x)
        bits++;
    return bits;
}

/* The number of low address bits that index some physically indexed cache. */
static uint32_t index_bits(const struct strata_machine *machine)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < machine->ncaches; i++) {
        const struct strata_cache *cache = &machine->caches[i];
        uint32_t bits = log2_up(cache->size / cache->ways);
        if (cache->index == STRATA_PHYSICAL && bits > most)
            most = bits;
    }
    return most;
}

static void scramble_init(struct scramble *scramble, uint32_t bits, struct rng *rng)
{
    scramble->mask = (UINT64_C(1) << bits) - 1;
    scramble->half = bits > 1 ? (bits + 1) / 2 : 1;
    for (int i = 0; i < MAPPING_ROUNDS; i++) {
        scramble->times[i] = rng_next(rng) | 1;
        scramble->plus[i] = rng_next(rng);
    }
}

void mapping_seed(struct mapping *mapping, uint64_t seed)
{
    struct rng rng = {seed};
    for (int huge = 0; huge < 2; huge++) {
        uint32_t below = mapping->shift[huge] - mapping->shift[0] + mapping->kept[huge];
        uint32_t bits = below < MAPPING_BITS ? MAPPING_BITS - below : 0;
        struct scramble *scramble = &mapping->scramble[huge];
        scramble_init(scramble, bits, &rng);
        scramble->shift = mapping->shift[huge] + mapping->kept[huge];
        scramble->below = (UINT64_C(1) << scramble->shift) - 1;
        scramble->flipped = (uint64_t)huge << 63;
    }
}

void mapping_init(struct mapping *mapping, const struct strata_machine *machine,
                  uint64_t seed)
{
    uint32_t indexed = machine->mapping == STRATA_MAP_COLOURED ? index_bits(machine) : 0;
    *mapping = (struct mapping){
        .identity = machine->mapping == STRATA_MAP_CONTIGUOUS,
        .huge = machine->huge,
        .splintered = machine->splintered,
        .span_size = UINT64_MAX,
    };
    for (int huge = 0; huge < 2; huge++) {
        uint32_t shift = log2_up(huge && machine->huge ? machine->huge : machine->page);
        mapping->shift[huge] = shift;
        mapping->kept[huge] = indexed > shift ? indexed - shift : 0;
    }
    mapping_seed(mapping, seed);
}

/* The first range that ends at or behind an address. */
static uint32_t range_at(const struct mapping *mapping, uint64_t address)
{
    uint32_t i = 0;
    while (i < mapping->nranges && mapping->ranges[i].last < address)
        i++;
    return i;
}

bool mapping_find_huge(const struct mapping *mapping, uint64_t address)
{
    if (mapping->nranges == 0)
        return false;
    uint32_t i = range_at(mapping, address);
    return i < mapping->nranges && mapping->ranges[i].first <= address;
}

void mapping_move_span(struct mapping *mapping, uint64_t address)
{
    uint32_t i = range_at(mapping, address);
    bool huge = i < mapping->nranges && mapping->ranges[i].first <= address;
    uint64_t first = 0, last = UINT64_MAX;
    if (huge) {
        first = mapping->ranges[i].first;
        last = mapping->ranges[i].last;
    } else {
        if (i > 0)
            first = mapping->ranges[i - 1].last + 1;
        if (i < mapping->nranges)
            last = mapping->ranges[i].first - 1;
    }
    mapping->span = first;
    mapping->span_size = last - first;
    mapping->span_huge = huge;
}

int mapping_add_huge(struct mapping *mapping, uint64_t first, uint64_t last)
{
    /* Ranges [from, to) touch the new one and are merged with it. */
    uint32_t from = range_at(mapping, first ? first - 1 : 0), to = from;
    while (to < mapping->nranges &&
           (last == UINT64_MAX || mapping->ranges[to].first <= last + 1))
        to++;
    if (to > from) {
        if (mapping->ranges[from].first <= first && mapping->ranges[from].last >= last)
            return 0;
        if (mapping->ranges[from].first < first)
            first = mapping->ranges[from].first;
        if (mapping->ranges[to - 1].last > last)
            last = mapping->ranges[to - 1].last;
    } else {
        if (mapping->nranges == MAPPING_RANGES)
            return -1;
        for (uint32_t i = mapping->nranges; i > from; i--)
            mapping->ranges[i] = mapping->ranges[i - 1];
        mapping->nranges++;
        to = from + 1;
    }
    mapping->ranges[from].first = first;
    mapping->ranges[from].last = last;
    for (uint32_t i = to; i < mapping->nranges; i++)
        mapping->ranges[from + 1 + i - to] = mapping->ranges[i];
    mapping->nranges -= to - from - 1;
    mapping_move_span(mapping, first);
    return 1;
}
