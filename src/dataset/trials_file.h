/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A log of trials as JSON: the value of "trials" in a dataset's file. */
#ifndef DATASET_TRIALS_FILE_H
#define DATASET_TRIALS_FILE_H

#include "dataset/trials.h"

#include <jansson.h>

json_t *trials_json(const struct trials *trials); /* NULL: out of memory */

/* Reads it. 0, or -1 with what is wrong in `why`; "" there: out of memory. Any JSON may be
 * given. */
enum { TRIALS_WHY = 160 };
int trials_read(const json_t *json, struct trials **trials, char why[TRIALS_WHY]);

#endif
