/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text that Prometheus reads (version 0.0.4): families with their help and type, and
 * samples with labels.
 *
 *     struct exposition out = {file};
 *     expose_family(&out, "strata_events_total", "counter", "Events, scaled.");
 *     expose_label(&out, "event", "page-faults");
 *     expose_count(&out, 17);
 *
 * Labels may be of any text: what is no UTF-8 or a control character is replaced, and the
 * rest is escaped. */
#ifndef SERVE_EXPOSITION_H
#define SERVE_EXPOSITION_H

#include <stdint.h>
#include <stdio.h>

struct exposition {
    FILE *file;
    const char *family; /* that samples belong to */
    unsigned labels;    /* of the sample that is being written */
};

/* Whether a text may be the name of a family: [a-zA-Z_:][a-zA-Z0-9_:]*. */
int expose_is_name(const char *name);

/* Begins a family; `type` is counter or gauge. A family must come once, with all of its
 * samples behind it. */
void expose_family(struct exposition *out, const char *name, const char *type,
                   const char *help);

/* Labels of the next sample; one without a value is left out, which means the same. */
void expose_label(struct exposition *out, const char *name, const char *value);
void expose_label_number(struct exposition *out, const char *name, long value);

/* Each writes a sample; a number must be finite. */
void expose_count(struct exposition *out, uint64_t value);
void expose_number(struct exposition *out, double value);
void expose_seconds(struct exposition *out, uint64_t ns);

#endif
