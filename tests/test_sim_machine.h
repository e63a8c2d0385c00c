/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of the simulated machine share: an allocator that counts and can fail,
 * and machines built in a few words. */
#ifndef TEST_SIM_MACHINE_H
#define TEST_SIM_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/rng.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <strata/error.h>
#include <strata/machine.h>
#include <string.h>

/* Blocks that are out, and which allocation is to fail (0: none, 1: the next). */
struct memory {
    size_t blocks, made, fails_at;
};

static inline void *memory_allocate(void *context, size_t size)
{
    struct memory *memory = context;
    if (++memory->made == memory->fails_at)
        return NULL;
    memory->blocks++;
    void *block = malloc(size);
    assert_non_null(block);
    memset(block, 0xa5, size); /* the contract promises no zeros */
    return block;
}

static inline void memory_release(void *context, void *block)
{
    struct memory *memory = context;
    memory->blocks--;
    free(block);
}

static inline struct allocator memory_allocator(struct memory *memory)
{
    return (struct allocator){memory_allocate, memory_release, memory};
}

/* A machine that is valid once it has a data cache of level 1. */
static inline struct strata_machine machine_empty(void)
{
    struct strata_machine machine = {.name = "test",
                                     .page = 4096,
                                     .frequency = 1000000000,
                                     .mapping = STRATA_MAP_CONTIGUOUS,
                                     .memory_latency = 200};
    return machine;
}

/* The next cache outwards, by level: `sets` of `ways`; change what you like in it. */
static inline struct strata_cache *machine_add_cache(struct strata_machine *machine,
                                                     uint32_t level, uint64_t sets,
                                                     uint32_t ways)
{
    struct strata_cache *cache = &machine->caches[machine->ncaches++];
    *cache = (struct strata_cache){.level = level,
                                   .kind = STRATA_UNIFIED,
                                   .size = sets * ways * 64,
                                   .line = 64,
                                   .ways = ways,
                                   .latency = level == 1 ? 4 : 10 * level,
                                   .types = STRATA_INT | STRATA_FLOAT};
    snprintf(cache->name, sizeof cache->name, "C%u", machine->ncaches);
    return cache;
}

static inline struct strata_tlb *machine_add_tlb(struct strata_machine *machine,
                                                 uint32_t level, uint32_t entries,
                                                 uint32_t ways)
{
    struct strata_tlb *tlb = &machine->tlbs[machine->ntlbs++];
    *tlb = (struct strata_tlb){.level = level,
                               .kind = STRATA_UNIFIED,
                               .entries = entries,
                               .ways = ways,
                               .latency = 7 * (level - 1),
                               .page = machine->page};
    snprintf(tlb->name, sizeof tlb->name, "T%u", machine->ntlbs);
    machine->walk_latency = 30;
    return tlb;
}

/* A prefetcher of one of the caches that are there. */
static inline void machine_add_prefetcher(struct strata_machine *machine, uint32_t cache,
                                          uint32_t kind, uint32_t degree)
{
    struct strata_prefetcher *prefetcher = &machine->prefetchers[machine->nprefetchers++];
    *prefetcher = (struct strata_prefetcher){
        .level = machine->caches[cache].level, .kind = kind, .degree = degree};
    memcpy(prefetcher->name, machine->caches[cache].name, sizeof prefetcher->name);
}

/* The simulated machine, which must be possible. */
static inline struct sim *machine_start(const struct strata_machine *machine,
                                        struct memory *memory)
{
    struct strata_error error = {0};
    struct allocator allocator = memory_allocator(memory);
    if (strata_machine_check(machine, &error))
        fail_msg("%s", error.text);
    struct sim *sim = sim_create(machine, 1, &allocator);
    assert_non_null(sim);
    return sim;
}

static inline struct sim_result sim_load(struct sim *sim, uint64_t address)
{
    struct sim_result result;
    sim_access(sim, address, 8, SIM_LOAD, STRATA_INT, &result);
    return result;
}

#endif
