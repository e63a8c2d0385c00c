/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a sampler has to say, in the two forms that are served: text for Prometheus, and
 * JSON for the page. docs/format/serve.md describes both. */
#ifndef SERVE_ANSWERS_H
#define SERVE_ANSWERS_H

#include "serve/sampler.h"

#include <stdio.h>

/* Both take the sampler's lock. They return 0, or -1 without memory; a failed write shows
 * when the file is closed. */
int metrics_text(struct sampler *sampler, FILE *out);

/* The samples after the one of that number, 0: all that are kept. */
int data_json(struct sampler *sampler, uint64_t after, FILE *out);

#endif
