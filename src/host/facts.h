/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Facts about this machine that decide what can be measured on it, each with what to
 * do about it. What can be tried is tried (counters, huge pages, the clock) rather
 * than believed; the rest is read from /proc and /sys. Nothing is changed.
 *
 * For people and for `strata doctor`: no measurement takes an answer from here. */
#ifndef HOST_FACTS_H
#define HOST_FACTS_H

#include <stddef.h>
#include <stdint.h>

enum fact_state {
    FACT_GOOD,    /* as a measurement wants it */
    FACT_LIMITED, /* usable, with the restriction that `found` names */
    FACT_MISSING, /* not there */
    FACT_UNKNOWN  /* could not be found out; `found` says why */
};

struct fact {
    const char *name; /* stable, lower case with underscores */
    enum fact_state state;
    char found[160];  /* what there is */
    char advice[200]; /* what to do about it; empty: nothing */
};

enum { FACTS_MAX = 16 };

/* Fills in facts, in a fixed order, and returns their number. `root` goes before every
 * path that is read ("" here), so that captured trees can be looked at. Takes less
 * than a second. */
size_t facts_collect(const char *root, struct fact facts[FACTS_MAX]);

const char *fact_state_name(enum fact_state state);

/* Each fact on its own. They fill in everything but the name. */
typedef void fact_finder(const char *root, struct fact *fact);
fact_finder fact_hardware_counters, fact_software_counters, fact_perf_event_paranoid;
fact_finder fact_transparent_huge_pages, fact_huge_page_pool, fact_memory_limit;
fact_finder fact_clock, fact_cores, fact_core_time, fact_smt, fact_numa, fact_hypervisor;
fact_finder fact_load, fact_valgrind;

/* For the finders. */

void fact_set(struct fact *fact, enum fact_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void fact_advise(struct fact *fact, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The first line of root/path without its newline; -1: cannot be read, see errno. */
int facts_read_line(const char *root, const char *path, char *line, size_t size);

/* The number that the file begins with; -1: cannot be read, or is not a number. */
int facts_read_number(const char *root, const char *path, int64_t *number);

/* Counts a kernel list such as "0-3,8"; -1: not one. An empty one counts 0. */
int facts_count_list(const char *list);

/* What the errno of a refused perf_event_open() means, and what to do about it; never
 * NULL. */
void facts_explain_perf(int error, const char **meaning, const char **advice);

#endif
