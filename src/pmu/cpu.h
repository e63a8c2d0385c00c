/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which processor this is: its identity (CPUID on x86, MIDR on ARM), and by a table the
 * name of its microarchitecture and of the events that it counts.
 *
 * A machine may have processors of several kinds (performance and efficiency cores). Each
 * kind then has a PMU of its own, and an event must be opened on every one of them. */
#ifndef PMU_CPU_H
#define PMU_CPU_H

#include <stddef.h>
#include <stdint.h>
#include <strata/error.h>

/* What tells processors apart. */
struct cpu_id {
    char vendor[16]; /* x86: "GenuineIntel"; ARM: "" */
    uint32_t family, model, stepping;
    uint32_t core; /* x86: enum cpu_core of a hybrid processor's core, else 0 */
    uint64_t midr; /* ARM: the main identification register; 0: this is x86 */
};

enum cpu_core { CPU_ANY_CORE = 0, CPU_ATOM = 0x20, CPU_CORE = 0x40 }; /* CPUID leaf 0x1a */

/* One way to recognise a microarchitecture. */
struct cpu_match {
    struct cpu_id id;           /* vendor, family and core; or midr >> 4 as below */
    uint32_t model[2];          /* first and last */
    uint32_t stepping[2];       /* the same */
    uint32_t implementer, part; /* ARM; implementer 0: x86 */
    uint32_t cpu;               /* which row of the table */
};

struct cpu_row {
    const char *key;    /* "skylake-sp" */
    const char *name;   /* for people: "Intel Skylake-SP" */
    const char *events; /* its table of events, without ".events" */
    uint32_t line;
};

struct cpu_table {
    char *text; /* owned; the rows point into it */
    struct cpu_row *rows;
    size_t nrows;
    struct cpu_match *matches;
    size_t nmatches;
};

/* Reads metrics/cpus.table. The text is checked: file and line are in the message. */
int cpu_table_read(const char *path, struct cpu_table *table, struct strata_error *error);
int cpu_table_parse(const char *file, const char *text, size_t size,
                    struct cpu_table *table, struct strata_error *error);
void cpu_table_release(struct cpu_table *table);

/* The row of a processor; NULL: it is not in the table. */
const struct cpu_row *cpu_find(const struct cpu_table *table, const struct cpu_id *id);

/* A kind of processor that this machine has. */
struct cpu_kind {
    struct cpu_id id;
    int first;       /* one processor of this kind */
    char device[32]; /* of its PMU in /sys/bus/event_source/devices; "": none is named */
};

enum { CPU_KINDS = 4 };

/* The kinds of processors of a machine, at least one, from the trees /proc and /sys under
 * `root` ("" for this machine). On x86 the identity itself comes from the CPUID
 * instruction if root is "", else from /proc/cpuinfo. Returns their number; 0: nothing is
 * known. */
size_t cpu_kinds(const char *root, struct cpu_kind kinds[CPU_KINDS]);

/* The identity of the processor that runs this, from the CPUID instruction; -1 on other
 * processors than x86. */
int cpu_identify(struct cpu_id *id);

/* "GenuineIntel family 6 model 0x55 stepping 4", "MIDR 0x413fd0c1". */
enum { CPU_TEXT = 80 };
const char *cpu_describe(const struct cpu_id *id, char text[CPU_TEXT]);

#endif
