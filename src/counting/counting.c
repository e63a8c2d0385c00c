/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all counting runners share. */
#include "counting/counting.h"

const char *const event_way_names[EVENT_WAY_COUNT] = {"standard", "native", "substitute",
                                                      "timing"};

int counting_walk(struct counting *counting, enum arena arena, enum strata_types type,
                  const uint64_t *at, size_t n, uint32_t *moved, struct walk_counts *counts)
{
    counting->visits += n;
    return counting->ops->walk(counting, arena, type, at, n, moved, counts);
}

int counting_pairs(struct counting *counting, enum arena arena, enum strata_types type,
                   const uint64_t *at, size_t n, struct walk_counts *counts)
{
    counting->visits += 2 * n;
    return counting->ops->pairs(counting, arena, type, at, n, counts);
}

void counting_release(struct counting *counting)
{
    if (counting)
        counting->ops->release(counting);
}
