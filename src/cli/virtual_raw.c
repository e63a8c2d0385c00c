/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From what the collector counts to what the virtual PMU names. */
#include "cli/virtual_raw.h"

#include <string.h>

struct raw_totals raw_totals_of(const struct raw_header *header)
{
    struct raw_totals totals = {.samples = header->samples,
                                .cycles = header->cycles,
                                .waits = header->waits,
                                .stores = header->stores,
                                .fetched = header->fetched,
                                .counts = header->counts};
    memcpy(totals.events, header->events, sizeof totals.events);
    return totals;
}

/* `events` begins at the conditional branches, or at their shadows. */
static void add_branches(struct virtual_branches *sum, const uint64_t *events)
{
    sum->conditional += events[0];
    sum->taken += events[RAW_TAKEN - RAW_CONDITIONAL];
    sum->jumps += events[RAW_JUMPS - RAW_CONDITIONAL];
    sum->indirect += events[RAW_INDIRECT - RAW_CONDITIONAL];
    sum->calls += events[RAW_CALLS - RAW_CONDITIONAL];
    sum->returns += events[RAW_RETURNS - RAW_CONDITIONAL];
}

void virtual_add_raw(struct virtual_counts *sum, const struct raw_totals *totals)
{
    const uint64_t *events = totals->events;
    sum->instructions += events[RAW_INSTRUCTIONS];
    sum->cycles += totals->cycles;
    add_branches(&sum->retired, events + RAW_CONDITIONAL);
    add_branches(&sum->shadow, events + RAW_SHADOW_CONDITIONAL);
    sum->indirect_calls += events[RAW_INDIRECT_CALLS];
    sum->mispredicted += events[RAW_MISPREDICTED];
    sum->mispredicted_indirect += events[RAW_MISPREDICTED_INDIRECT];
    sum->mispredicted_returns += events[RAW_MISPREDICTED_RETURNS];
    sum->shadow_instructions += events[RAW_SHADOW_INSTRUCTIONS];
    for (uint32_t i = 0; i < STRATA_MAX_CACHES; i++) {
        sum->store_misses[i] += totals->stores.misses[i];
        sum->fetch_misses[i] += totals->fetched.misses[i];
    }
    for (uint32_t i = 0; i < STRATA_MAX_TLBS; i++) {
        sum->store_tlb_misses[i] += totals->stores.tlb_misses[i];
        sum->fetch_tlb_misses[i] += totals->fetched.tlb_misses[i];
    }
    sum->fetch_walks += totals->counts.fetch_walks;
    virtual_add(&sum->sim, &totals->counts);
}
