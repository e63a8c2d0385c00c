/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of facts. */
#include "host/facts.h"

static const struct {
    const char *name;
    fact_finder *find;
} finders[] = {
    {"hardware_counters", fact_hardware_counters},
    {"software_counters", fact_software_counters},
    {"perf_event_paranoid", fact_perf_event_paranoid},
    {"transparent_huge_pages", fact_transparent_huge_pages},
    {"huge_page_pool", fact_huge_page_pool},
    {"clock", fact_clock},
    {"cores", fact_cores},
    {"core_time", fact_core_time},
    {"load", fact_load},
    {"smt", fact_smt},
    {"numa", fact_numa},
    {"memory_limit", fact_memory_limit},
    {"hypervisor", fact_hypervisor},
    {"valgrind", fact_valgrind},
};

enum { NFINDERS = sizeof finders / sizeof finders[0] };
_Static_assert(sizeof finders / sizeof finders[0] <= FACTS_MAX, "room for every fact");

size_t facts_collect(const char *root, struct fact facts[FACTS_MAX])
{
    for (size_t i = 0; i < NFINDERS; i++) {
        facts[i] = (struct fact){.name = finders[i].name, .state = FACT_UNKNOWN};
        finders[i].find(root, &facts[i]);
    }
    return NFINDERS;
}

const char *fact_state_name(enum fact_state state)
{
    static const char *const names[] = {
        [FACT_GOOD] = "good",
        [FACT_LIMITED] = "limited",
        [FACT_MISSING] = "missing",
        [FACT_UNKNOWN] = "unknown",
    };
    return names[state];
}
