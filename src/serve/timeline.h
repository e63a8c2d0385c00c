/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The last samples, for charts: a ring of rows of numbers, allocated once. (It is not
 * called a history because libedit has functions of that name.) */
#ifndef SERVE_TIMELINE_H
#define SERVE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

struct timeline {
    size_t rows, width; /* how many samples are kept, and the numbers in each */
    uint64_t next;      /* the number of the next sample; the first one is 1 */
    int64_t *times;     /* milliseconds since 1970 */
    float *values;      /* NAN: not known */
};

int timeline_init(struct timeline *timeline, size_t rows, size_t width); /* -1: no memory */
void timeline_release(struct timeline *timeline);

/* Takes the place of the oldest sample and returns its numbers, to be filled in. */
float *timeline_add(struct timeline *timeline, int64_t time);

/* The number of the oldest sample after `after` that is still there; timeline->next if
 * there is none. */
uint64_t timeline_first(const struct timeline *timeline, uint64_t after);

/* The sample of that number, which must be there. */
const float *timeline_at(const struct timeline *timeline, uint64_t number, int64_t *time);

#endif
