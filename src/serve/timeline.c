/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A ring of samples. */
#include "serve/timeline.h"

#include <stdlib.h>

int timeline_init(struct timeline *timeline, size_t rows, size_t width)
{
    *timeline = (struct timeline){.rows = rows, .width = width, .next = 1};
    timeline->times = calloc(rows, sizeof *timeline->times);
    timeline->values = calloc(rows * (width ? width : 1), sizeof *timeline->values);
    if (timeline->times && timeline->values)
        return 0;
    timeline_release(timeline);
    return -1;
}

void timeline_release(struct timeline *timeline)
{
    free(timeline->times);
    free(timeline->values);
    *timeline = (struct timeline){.rows = 0};
}

float *timeline_add(struct timeline *timeline, int64_t time)
{
    size_t row = timeline->next++ % timeline->rows;
    timeline->times[row] = time;
    return &timeline->values[row * timeline->width];
}

uint64_t timeline_first(const struct timeline *timeline, uint64_t after)
{
    uint64_t kept =
        timeline->next - 1 < timeline->rows ? timeline->next - 1 : timeline->rows;
    uint64_t oldest = timeline->next - kept;
    if (after >= timeline->next)
        return timeline->next;
    return after + 1 > oldest ? after + 1 : oldest;
}

const float *timeline_at(const struct timeline *timeline, uint64_t number, int64_t *time)
{
    size_t row = number % timeline->rows;
    *time = timeline->times[row];
    return &timeline->values[row * timeline->width];
}
