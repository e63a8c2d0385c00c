/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How much memory may be taken: what the kernel could give, and what the control group
 * allows. Pages that only hold parts of files are free for the asking, and count as such:
 * a machine that has read or written much has next to no other free memory. `root` is "",
 * or a folder that stands in for /. UINT64_MAX: no limit, or not told. */
#ifndef HOST_LIMITS_H
#define HOST_LIMITS_H

#include <stdint.h>

/* What the kernel says that programs can still take. */
uint64_t limits_unused(const char *root);

/* The least limit from this process's control group up to the root one, and the least
 * that any of them leaves. */
struct group_limit {
    uint64_t bytes, left;
};
struct group_limit limits_group(const char *root);

#endif
