/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What holds of every value that a probe tells, whatever it found. To be included behind
 * cmocka.h. */
#ifndef TESTS_TEST_VALUES_H
#define TESTS_TEST_VALUES_H

#include <math.h>
#include <strata/probe.h>

/* Every answer of a probe, with its name. */
static inline void each_value(const struct strata_probed *probed,
                              void (*look)(const char *name,
                                           const struct strata_value *value))
{
    for (int i = 0; i < probed->ncaches; i++) {
        const struct strata_probed_cache *cache = &probed->caches[i];
        look("size", &cache->size);
        look("effective", &cache->effective);
        look("line", &cache->line);
        look("effective line", &cache->effective_line);
        look("ways", &cache->ways);
        look("latency", &cache->latency_cycles);
        look("latency in ns", &cache->latency_ns);
    }
    for (int i = 0; i < probed->ntlbs; i++) {
        const struct strata_probed_tlb *tlb = &probed->tlbs[i];
        look("entries", &tlb->entries);
        look("ways of a TLB", &tlb->ways);
        look("penalty", &tlb->penalty_cycles);
        look("penalty in ns", &tlb->penalty_ns);
    }
    look("memory", &probed->memory_cycles);
    look("memory in ns", &probed->memory_ns);
}

static inline void check_value(const char *name, const struct strata_value *value)
{
    if (!value->known) {
        if (!*value->why)
            fail_msg("%s is not known, and there is no reason", name);
        return;
    }
    if (!(value->low <= value->value && value->value <= value->high))
        fail_msg("%s: %g is not in %g..%g", name, value->value, value->low, value->high);
    if (!(value->confidence >= 0 && value->confidence <= 1))
        fail_msg("%s: a confidence of %g", name, value->confidence);
    assert_true(isfinite(value->high));
}

#endif
