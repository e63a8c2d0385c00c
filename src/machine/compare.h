/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How two machines differ.
 *
 * Caches are matched by level and kind, TLBs by page size, level and kind, prefetchers
 * by the level they fill: what a section is called does not matter. */
#ifndef MACHINE_COMPARE_H
#define MACHINE_COMPARE_H

#include "machine/keys.h"

#include <strata/error.h>

struct difference {
    char section[32];                  /* "machine", "cache L2", "walk" */
    const char *key;                   /* NULL: the section is in one of them only */
    char a[VALUE_TEXT], b[VALUE_TEXT]; /* values as in a file; "" where there is none */
};

/* Stores up to `most` differences between two machines that passed
 * strata_machine_check(), in the order of the file, and their whole number (which may
 * be larger) in *n. Section names are a's, where a has the section. */
int machine_compare(const struct strata_machine *a, const struct strata_machine *b,
                    struct difference *differences, size_t most, size_t *n,
                    struct strata_error *error);

#endif
