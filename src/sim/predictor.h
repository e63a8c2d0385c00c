/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The branch predictor of the simulated machine.
 *
 * Conditional branches: two-bit counters, indexed by the address and, if the machine has
 * any, bits of global history (gshare). Indirect jumps and calls: the last target of each
 * address. Returns: a stack of 16 return addresses; what was pushed earlier is lost, so
 * deep recursion is mispredicted on its way back. Direct jumps and calls are always right.
 * Freestanding. */
#ifndef SIM_PREDICTOR_H
#define SIM_PREDICTOR_H

#include "core/allocator.h"

#include <stdbool.h>
#include <stdint.h>
#include <strata/machine.h>

struct predictor;

/* `branch` need not be present: then 4096 counters and no history are taken. NULL: out of
 * memory. */
struct predictor *predictor_create(const struct strata_branch *branch,
                                   const struct allocator *allocator);
void predictor_release(struct predictor *predictor);

/* Each tells the predictor what happened and returns whether it had guessed so. */
bool predictor_conditional(struct predictor *predictor, uint64_t address, bool taken);
bool predictor_indirect(struct predictor *predictor, uint64_t address, uint64_t target);
bool predictor_return(struct predictor *predictor, uint64_t target);

/* A call that will return to an address. */
void predictor_call(struct predictor *predictor, uint64_t returns_to);

#endif
