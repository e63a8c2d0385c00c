/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How busy the processors of this machine are, by the kernel's account. */
#ifndef HOST_LOAD_H
#define HOST_LOAD_H

#include <stdbool.h>

enum { LOAD_CPUS = 1024 };

struct load {
    unsigned long long busy[LOAD_CPUS], all[LOAD_CPUS]; /* ticks; all == 0: no such one */
    unsigned long long stolen; /* ticks that other guests of the same host had, of all */
};

/* The account since the start of the machine; all zero where there is none. */
void load_read(struct load *load);

/* The same of another machine, whose files are below root. */
void load_read_from(const char *root, struct load *load);

/* Whether any time went by between two readings. */
bool load_moved(const struct load *before, const struct load *after);

/* How many processors were busy between two readings, on average, and in *stolen how many
 * more would have been if other guests had not had them. */
double load_busy(const struct load *before, const struct load *after, double *stolen);

/* The busiest processor but `except` between two readings; -1 if there is none. *share is
 * how much of the time it was busy, 0..1. */
int load_busiest(const struct load *before, const struct load *after, int except,
                 double *share);

#endif
