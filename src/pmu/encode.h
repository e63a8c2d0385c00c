/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From a text to what perf_event_open() wants. In this order, a text is
 *
 *     page-faults, task-clock, ...     a software event of the kernel
 *     cycles, LLC-load-misses, ...     a name of the kernel for any processor
 *     r1a8                             a raw code in hexadecimal digits
 *     event=0xd1,umask=0x08[,...]      fields of a raw code
 *     PMU/event=0xd1,.../              the same, or an event, of a PMU in sysfs
 *     mem:0x7ffe1234[/8][:rwx]         accesses of an address (a breakpoint)
 *     sched:sched_switch               a tracepoint
 *     MEM_LOAD_RETIRED:L1_MISS         a name of libpfm4, of the processor's PMU
 *     skl::MEM_LOAD_RETIRED:L1_MISS    or of the one that it names
 *
 * and :u or :k at its end counts user space or the kernel only. */
#ifndef PMU_ENCODE_H
#define PMU_ENCODE_H

#include "pmu/system.h"

#include <stdint.h>

struct pmu_code {
    struct perf_event_attr attr; /* type, config..., bp_*, exclude_user, exclude_kernel */
    bool software;    /* the kernel counts it: no PMU is needed, and 0 is a count */
    bool kernel_only; /* it happens in the kernel, so that counting only user space would
                         always give 0 */
};

/* Which processor an event is for. */
struct pmu_kind {
    const char *pmu;    /* libpfm4's name; "": none */
    const char *device; /* in sysfs; "": the only one */
    bool absent;        /* encode also what this processor does not have */
};

/* 0, or -1 and why it is unknown here. */
int pmu_encode(const struct pmu_system *system, const struct pmu_kind *kind,
               const char *text, struct pmu_code *code, char why[PMU_WHY]);

/* The events that the kernel has names for, by index; NULL past the last one. */
const char *pmu_kernel_event(size_t i, const char **about, uint32_t *type,
                             uint64_t *config);

#endif
