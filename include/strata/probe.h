/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata_probe(): the memory hierarchy of this machine, or of a simulated one,
 * found by measurement alone. examples/tile.c uses it.
 *
 * Every parameter is found on its own and is a strata_value: an estimate, an
 * interval, a confidence, or "not known" with the reason. Nothing is read from
 * the operating system's or the processor's own description. */
#ifndef STRATA_PROBE_H
#define STRATA_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <strata/machine.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dataset; /* the measured curves, for strata's own reports */

/* A measured parameter. confidence is the chance that the true value is `value`
 * (for counts: sizes in bytes, lines, ways, entries) or lies in [low, high] (for
 * times and effective capacities). Where !known, `why` says why not. */
struct strata_value {
    bool known;
    double value, low, high;
    double confidence;
    char why[160];
    char by[48]; /* what told it where that was an event: "l2_misses, standard"; else "" */
};

struct strata_probed_cache {
    int level;                          /* 1 is nearest to the processor */
    struct strata_value size;           /* nominal capacity, bytes */
    struct strata_value effective;      /* what a program can use before time rises */
    struct strata_value line;           /* physical line, bytes */
    struct strata_value effective_line; /* the width that behaves as one line */
    struct strata_value ways;
    struct strata_value latency_cycles; /* load to use */
    struct strata_value latency_ns;
    struct strata_value banks;      /* counts only; not known where it shows none */
    struct strata_value interleave; /* bytes after which the next bank begins */
};

struct strata_probed_tlb {
    int level;
    uint64_t page; /* bytes */
    struct strata_value entries;
    struct strata_value ways;           /* == entries: fully associative */
    struct strata_value penalty_cycles; /* extra cost of missing here */
    struct strata_value penalty_ns;
};

struct strata_probed {
    char name[STRATA_NAME_SIZE]; /* of the machine */
    const char *source;          /* "timing", "perf", "sim" or "replay" */
    const char *method;          /* "timing" or "counters" */
    uint64_t page, huge;         /* bytes; huge is 0 where there are none */
    double cycle_ns;             /* one integer add */
    int cpu;                     /* the processor it ran on, -1 if simulated */
    double seconds;              /* the whole run */
    double busy;                 /* share of trials that were disturbed, 0..1 */
    uint64_t seed;
    uint64_t accesses; /* that the measurement made */
    int ncaches, ntlbs;
    struct strata_value levels; /* the number of caches, with a confidence of its own */
    struct strata_probed_cache caches[STRATA_MAX_CACHES];
    struct strata_probed_tlb tlbs[STRATA_MAX_TLBS];
    struct strata_value memory_cycles, memory_ns;
    int nnotes;
    char notes[8][160];   /* remarks for a person, one sentence each */
    struct dataset *data; /* owned */
};

enum strata_method { STRATA_TIMING, STRATA_COUNTERS };

struct strata_probe_options {
    const struct strata_machine *machine; /* NULL: this machine */
    enum strata_method method;            /* 0: by times; or by counts of misses, exactly,
                                             where there are events for them */
    double budget; /* seconds at the most; 0: 15 of processor time, within 60; by times */
    uint64_t seed; /* 0: a fixed one */
    int cpu;       /* -1: the quietest */
    enum strata_types type; /* what is loaded, for counts; 0: integers */
    bool kernels;           /* counts: walk the size and block kernels too, for plots */
    bool log;               /* times: keep every trial in `data` */
    const struct dataset *replay; /* times: such data instead of a machine, with its seed,
                                     budget and processor; NULL: none */
    /* Called now and then with 0..1 done; returning nonzero ends the probe with
     * what is there so far. May be NULL. */
    int (*progress)(void *context, double done, const char *what);
    void *context;
};

/* Fills in *probed, which the caller releases with strata_probed_release(). By counts, the
 * tables of events that are installed with strata are read (STRATA_METRICS names another
 * folder); STRATA_UNABLE: no cache has an event that this process may count. */
STRATA_API int strata_probe(const struct strata_probe_options *options,
                            struct strata_probed *probed, struct strata_error *error);
STRATA_API void strata_probed_release(struct strata_probed *probed);

/* The machine that the probe saw, with documented assumptions where a parameter is
 * not known (docs/design/probe.md); fit for the simulator. */
STRATA_API int strata_probed_machine(const struct strata_probed *probed,
                                     struct strata_machine *machine,
                                     struct strata_error *error);

#ifdef __cplusplus
}
#endif
#endif
