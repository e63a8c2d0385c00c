/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables that params.h promises, and what to do with their rows. */
#include "report/params.h"

#include "core/units.h"
#include "report/probe_report.h"

#include <math.h>
#include <stdio.h>

#define CACHE(member)  offsetof(struct strata_probed_cache, member)
#define TLB(member)    offsetof(struct strata_probed_tlb, member)
#define MEMORY(member) offsetof(struct strata_probed, member)

const struct param cache_params[] = {
    {"size", "size", "SIZE", PARAM_BYTES, false, 0, CACHE(size)},
    {"effective", "usable size", "EFFECTIVE", PARAM_BYTES, true, 0, CACHE(effective)},
    {"line", "line", "LINE", PARAM_BYTES, false, 0, CACHE(line)},
    {"effective_line", "effective line", "EFFECTIVE_LINE", PARAM_BYTES, false, 1,
     CACHE(effective_line)},
    {"ways", "ways", "WAYS", PARAM_COUNT, false, 0, CACHE(ways)},
    {"latency_cycles", "latency", "LATENCY_CYCLES", PARAM_CYCLES, true, 0,
     CACHE(latency_cycles)},
    {"latency_ns", "latency in ns", "LATENCY_NS", PARAM_NS, true, 1, CACHE(latency_ns)},
    {0},
};

const struct param tlb_params[] = {
    {"entries", "entries", "ENTRIES", PARAM_COUNT, true, 0, TLB(entries)},
    {"ways", "ways", "WAYS", PARAM_COUNT, false, 0, TLB(ways)},
    {"penalty_cycles", "miss cost", "PENALTY_CYCLES", PARAM_CYCLES, true, 0,
     TLB(penalty_cycles)},
    {"penalty_ns", "miss cost in ns", "PENALTY_NS", PARAM_NS, true, 1, TLB(penalty_ns)},
    {0},
};

const struct param memory_params[] = {
    {"latency_cycles", "latency", "LATENCY_CYCLES", PARAM_CYCLES, true, 0,
     MEMORY(memory_cycles)},
    {"latency_ns", "latency in ns", "LATENCY_NS", PARAM_NS, true, 1, MEMORY(memory_ns)},
    {0},
};

const struct strata_value *param_value(const void *owner, const struct param *param)
{
    return (const struct strata_value *)((const char *)owner + param->offset);
}

bool value_known(const struct strata_value *value)
{
    return value->known && isfinite(value->value);
}

bool value_doubtful(const struct strata_value *value)
{
    return value_known(value) && !(value->confidence >= PROBE_SURE);
}

static int clamp(int n, int most)
{
    return n < 0 ? 0 : n > most ? most : n;
}

int cache_count(const struct strata_probed *probed)
{
    return clamp(probed->ncaches, STRATA_MAX_CACHES);
}

int tlb_count(const struct strata_probed *probed)
{
    return clamp(probed->ntlbs, STRATA_MAX_TLBS);
}

int note_count(const struct strata_probed *probed)
{
    return clamp(probed->nnotes, (int)(sizeof probed->notes / sizeof *probed->notes));
}

void cache_name(int level, char *text, size_t size)
{
    snprintf(text, size, "L%d%s", level, level == 1 ? " data" : "");
}

void tlb_name(const struct strata_probed_tlb *tlb, uint64_t base, char *text, size_t size)
{
    char page[SIZE_TEXT];
    if (tlb->page == base)
        snprintf(text, size, "L%d dTLB", tlb->level);
    else
        snprintf(text, size, "L%d dTLB (%s)", tlb->level, format_size(tlb->page, page));
}

size_t list_owners(const struct strata_probed *probed, struct owner owners[MAX_OWNERS])
{
    size_t n = 0;
    for (int i = 0; i < cache_count(probed); i++, n++) {
        owners[n] = (struct owner){.values = &probed->caches[i], .params = cache_params};
        cache_name(probed->caches[i].level, owners[n].name, sizeof owners[n].name);
    }
    owners[n++] = (struct owner){"memory", probed, memory_params};
    for (int i = 0; i < tlb_count(probed); i++, n++) {
        owners[n] = (struct owner){.values = &probed->tlbs[i], .params = tlb_params};
        tlb_name(&probed->tlbs[i], probed->page, owners[n].name, sizeof owners[n].name);
    }
    return n;
}
