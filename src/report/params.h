/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters of a cache, a TLB and memory as tables, so that every report names,
 * orders and treats them alike. */
#ifndef REPORT_PARAMS_H
#define REPORT_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <strata/probe.h>

enum param_unit { PARAM_BYTES, PARAM_COUNT, PARAM_CYCLES, PARAM_NS };

struct param {
    const char *key;   /* in JSON */
    const char *label; /* for people */
    const char *macro; /* in the C header */
    enum param_unit unit;
    bool interval; /* an interval is part of the answer */
    int twin; /* this many rows up is a parameter whose reason covers this one; 0: none */
    size_t offset; /* of the strata_value in its owner */
};

/* Each ends with a row of zeros. The owner of memory's is the strata_probed itself. */
extern const struct param cache_params[], tlb_params[], memory_params[];

const struct strata_value *param_value(const void *owner, const struct param *param);

/* Known and a finite number. */
bool value_known(const struct strata_value *value);

/* Known, but with less confidence than PROBE_SURE. */
bool value_doubtful(const struct strata_value *value);

/* A number of entries: "72", or its interval where it is doubtful: "1300 .. 3200". */
void format_entries(const struct strata_value *value, char *text, size_t size);

/* An owner of parameters with its name for people ("L1 data", "L2 dTLB", "memory"). */
struct owner {
    char name[32];
    const void *values;
    const struct param *params;
};

enum { MAX_OWNERS = STRATA_MAX_CACHES + STRATA_MAX_TLBS + 1 };

/* All owners in the order of the table; returns their number. */
size_t list_owners(const struct strata_probed *probed, struct owner owners[MAX_OWNERS]);

/* "L1 data" or "L2"; "L1 dTLB", with " (2M)" behind it for pages other than `base`. */
void cache_name(int level, char *text, size_t size);
void tlb_name(const struct strata_probed_tlb *tlb, uint64_t base, char *text, size_t size);

/* How many caches and TLBs there are, whatever the counts in *probed say. */
int cache_count(const struct strata_probed *probed);
int tlb_count(const struct strata_probed *probed);
int note_count(const struct strata_probed *probed);

#endif
