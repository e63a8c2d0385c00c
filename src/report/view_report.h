/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A view of a profile, shown: for people, as CSV, as JSON. Formatting only.
 *
 * Names may be any text. Only a table for people shortens them, in the middle; CSV and
 * JSON have them whole. */
#ifndef REPORT_VIEW_REPORT_H
#define REPORT_VIEW_REPORT_H

#include "views/view.h"

#include <jansson.h>
#include <stdio.h>

/* What was recorded, and how: "equake.strata: ./equake on Tiny, exact". */
void view_heading(FILE *out, const struct view *view, const char *path, bool colour,
                  int width);

/* A title, the table and the notes. Columns that do not fit `width` (40 to 1000) are left
 * out, the least telling first. Words of which a reader cannot know what they mean are
 * explained below the table, where *told does not have them yet; NULL: they are not. */
void view_text(FILE *out, const struct view *view, bool colour, int width, unsigned *told);

/* RFC 4180 with a heading; what is not known is empty. Write errors of all of these stay
 * in the stream. */
void view_csv(FILE *out, const struct view *view);

/* Schema strata.view/1, docs/format/view-json.md. The caller owns the reference; NULL:
 * out of memory. */
json_t *view_json(const struct view *view);

#define VIEW_JSON_FLAGS (JSON_INDENT(2) | JSON_REAL_PRECISION(10))

#endif
