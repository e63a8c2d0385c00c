/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The branch predictor; the header has the model. */
#include "sim/predictor.h"

enum { DEFAULT_COUNTERS = 4096, TARGETS = 512, RETURNS = 16 };

struct predictor {
    struct allocator allocator;
    uint64_t mask;         /* counters - 1 */
    uint64_t history;      /* the last branches, newest in bit 0 */
    uint64_t history_mask; /* those that are looked at */
    uint64_t targets[TARGETS];
    uint64_t returns[RETURNS];
    uint32_t top;       /* of the returns, counting on and on */
    uint8_t counters[]; /* 0, 1: not taken; 2, 3: taken */
};

struct predictor *predictor_create(const struct strata_branch *branch,
                                   const struct allocator *allocator)
{
    uint64_t n = branch->present ? branch->entries : DEFAULT_COUNTERS;
    struct predictor *predictor =
        allocator->allocate(allocator->context, sizeof *predictor + n);
    if (!predictor)
        return NULL;
    __builtin_memset(predictor, 0, sizeof *predictor);
    __builtin_memset(predictor->counters, 1, n);
    predictor->allocator = *allocator;
    predictor->mask = n - 1;
    uint32_t bits = branch->present ? branch->history : 0;
    predictor->history_mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    return predictor;
}

void predictor_release(struct predictor *predictor)
{
    if (!predictor)
        return;
    struct allocator allocator = predictor->allocator;
    allocator.release(allocator.context, predictor);
}

/* Spreads addresses, whose low bits are alike on machines with instructions of 4 bytes. */
static uint64_t spread(uint64_t address)
{
    return address * 0x9e3779b97f4a7c15u >> 32;
}

bool predictor_conditional(struct predictor *predictor, uint64_t address, bool taken)
{
    uint64_t history = predictor->history & predictor->history_mask;
    uint8_t *counter = &predictor->counters[(spread(address) ^ history) & predictor->mask];
    bool right = (*counter >= 2) == taken;
    if (taken)
        *counter += *counter < 3;
    else
        *counter -= *counter > 0;
    predictor->history = predictor->history << 1 | taken;
    return right;
}

bool predictor_indirect(struct predictor *predictor, uint64_t address, uint64_t target)
{
    uint64_t *last = &predictor->targets[spread(address) % TARGETS];
    bool right = *last == target;
    *last = target;
    return right;
}

void predictor_call(struct predictor *predictor, uint64_t returns_to)
{
    predictor->returns[predictor->top++ % RETURNS] = returns_to;
}

bool predictor_return(struct predictor *predictor, uint64_t target)
{
    uint64_t *last = &predictor->returns[--predictor->top % RETURNS];
    bool right = *last == target;
    *last = 0;
    return right;
}
