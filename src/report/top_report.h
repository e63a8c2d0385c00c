/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `strata top` says: lines for a screen, and whole frames as a table, as JSON, as CSV.
 */
#ifndef REPORT_TOP_REPORT_H
#define REPORT_TOP_REPORT_H

#include "host/users.h"
#include "pmu/watch.h"

#include <stdio.h>

/* A look, arranged. */
struct top_frame {
    const struct watch *watch;
    enum watch_by by;
    const struct watch_row *const *rows;
    size_t nrows;
    const size_t *columns; /* those that are shown, as indices */
    size_t ncolumns;
    int sort; /* as in watch_sorted() */
    struct users *users;
    const char *processor; /* what counted */
    double from, to;       /* seconds since the start */
};

enum { TOP_LINE = 1024, TOP_NOTES = 12, TOP_NOTE = 512 };

/* The name of a column in a heading: "faults/s". */
enum { TOP_LABEL = 24 };
const char *top_label(const struct watch_column *column, char text[TOP_LABEL]);

/* How many columns have room in `width`, from the one at `first` on; at least 1 if there
 * is any. */
size_t top_fits(const struct top_frame *frame, size_t first, int width);

/* The heading and a row, no wider than `width` (nor than 700), with the columns from
 * `first` on that have room. */
void top_heading(const struct top_frame *frame, size_t first, int width,
                 char text[TOP_LINE]);
void top_line(const struct top_frame *frame, const struct watch_row *row, size_t first,
              int width, char text[TOP_LINE]);

/* Where in a heading the column that is sorted by stands: from *begin on, so wide as is
 * returned; 0: it is not there. */
int top_sorted_at(const struct top_frame *frame, size_t first, int width, int *begin);

/* "143 processes, 12 of them not watched". */
void top_summary(const struct top_frame *frame, char text[TOP_LINE]);

/* What was not counted or not shown, and why; the number of sentences. */
size_t top_notes(const struct top_frame *frame, char notes[TOP_NOTES][TOP_NOTE]);

/* Whole frames. At most `most` rows; 0: all. */
void top_text(FILE *out, const struct top_frame *frame, size_t most, int width);
int top_json(FILE *out, const struct top_frame *frame, size_t most,
             struct strata_error *error);
void top_csv(FILE *out, const struct top_frame *frame, size_t most, bool heading);

#endif
