/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What others say about a machine's memory hierarchy: the operating system (sysfs) and
 * hwloc, or, for a simulated machine, the file that describes it. Only for comparison:
 * the probe finds its answers by measurement.
 *
 * Only what a load can hit is kept: data and unified caches, of one processor. */
#ifndef HOST_CLAIMS_H
#define HOST_CLAIMS_H

#include <stdint.h>
#include <strata/error.h>
#include <strata/machine.h>

/* A claimed cache; 0 stands for what is not claimed. */
struct claim {
    int level;
    uint64_t size;       /* bytes */
    uint32_t line, ways; /* ways == size / line: fully associative */
};

struct claim_list {
    const char *who; /* "OS", "hwloc", "file"; NULL: nobody was asked */
    int n;
    struct claim caches[STRATA_MAX_CACHES]; /* by level, one each */
    char why[160];                          /* why there are none, if n == 0 */
};

/* A claimed TLB; only machine files have them. */
struct claim_tlb {
    int level;
    uint64_t page;
    uint32_t entries, ways; /* ways == entries: fully associative */
};

/* Who claims, in the order of their weight. */
enum { CLAIMANTS = 2 };

enum { CLAIMS_MAX_PAGES = 8 };

struct claims {
    struct claim_list by[CLAIMANTS];
    int ntlbs;
    struct claim_tlb tlbs[STRATA_MAX_TLBS]; /* by page, then level */
    int npages;
    uint64_t pages[CLAIMS_MAX_PAGES]; /* bytes, ascending: the base page and huge ones */
};

/* Reads the claims for processor `cpu` (below 0: the first) under `root`, "/" for this
 * machine. In a recorded tree, sysfs is at ROOT/sys and hwloc's view, if it was
 * recorded, is ROOT/hwloc.xml (lstopo --of xml). Missing or malformed claims are no
 * error but an empty list that says why; STRATA_FAILED: out of memory. */
int claims_read(const char *root, int cpu, struct claims *claims,
                struct strata_error *error);

/* What the file of a simulated machine says: by[0], the TLBs and the pages. */
void claims_of_machine(const struct strata_machine *machine, struct claims *claims);

/* The claim for a level, or NULL. */
const struct claim *claims_find(const struct claim_list *list, int level);
const struct claim_tlb *claims_find_tlb(const struct claims *claims, int level,
                                        uint64_t page);

#endif
