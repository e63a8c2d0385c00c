/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The units of a sampler: opening them, reading them, and noticing that one has gone or
 * come back. For the sampler alone. */
#ifndef SERVE_UNITS_H
#define SERVE_UNITS_H

#include "serve/sampler.h"

int units_open(struct sampler *sampler, struct strata_error *error);
void units_close(struct sampler *sampler);

/* Looks which units are there, and reads those into `fresh`. Without the lock. */
void units_read(struct sampler *sampler);

/* Lets go of what has gone, once its last reading was added. With the lock. */
void units_settle(struct sampler *sampler);

#endif
