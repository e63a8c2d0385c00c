/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text for a terminal: grids whose columns line up, folded sentences, and numbers as
 * people read them. */
#ifndef REPORT_TERMINAL_H
#define REPORT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <strata/probe.h>

/* How to draw: ANSI colours or none, UTF-8 or ASCII. */
struct style {
    bool colour, utf8;
};

struct style style_make(bool colour); /* UTF-8 by the locale */

enum paint { PAINT_NONE, PAINT_BOLD, PAINT_DIM, PAINT_WARN };

/* The escape sequence that begins a paint, or "" without colour. */
const char *paint_begin(const struct style *style, enum paint paint);
const char *paint_end(const struct style *style, enum paint paint);

const char *style_dash(const struct style *style); /* for what is not known */

/* A table of short cells. A cell that is a dash is dimmed; a mark stands behind its cell
 * without moving the column. */
enum { GRID_COLUMNS = 8, GRID_ROWS = 104, GRID_CELL = 48 };

struct grid {
    const char *align; /* one 'l' or 'r' per column */
    int rows;          /* row 0 is the heading */
    char cells[GRID_ROWS][GRID_COLUMNS][GRID_CELL];
    char marks[GRID_ROWS][GRID_COLUMNS];
};

/* Sets a cell of the last row, which grid_row() starts. */
void grid_row(struct grid *grid);
void grid_set(struct grid *grid, int column, const char *text);
void grid_mark(struct grid *grid, int column, char mark);

/* A grid that is wider than `width` is printed in several pieces, one below the other,
 * each with the first column. */
void grid_print(FILE *out, const struct grid *grid, const struct style *style, int width);

/* Prints one sentence, cleaned, folded between words at width; later lines are indented. */
void print_folded(FILE *out, const char *text, int width, int indent);

/* "4 cycles", "14.3 cycles"; "1.1 ns", "13   ns": the decimal points line up. With no more
 * digits than the interval supports: 390 of 388, if it may be 311 to 485; and as an
 * interval if that is wider than a factor of two: "42 .. 330 cycles", with nothing for ns.
 */
void format_cycles(const struct strata_value *cycles, char *text, size_t size);
void format_ns(const struct strata_value *ns, char *text, size_t size);

/* Three digits that matter: 38.1, 1.34, 0.052, 1234. */
void format_three(double value, char text[32]);

/* A capacity and its interval: "32K", "768K .. 896K", rounded outwards to what a
 * measurement supports. */
void format_interval(const struct strata_value *value, char *text, size_t size);

/* "81% sure"; what was measured only once is "not confirmed". */
void format_sure(double confidence, char *text, size_t size);

/* value, cut off to [least, most]. */
int bound(int value, int least, int most);

/* "timing on cpu 1, 11.2 s", "simulated": what a report rests on. The same with where, when
 * and by which version, for pictures: "host vm, 2026-11-18, strata 0.1.0: timing …". */
void format_provenance(const struct strata_probed *probed, char *text, size_t size);
void format_origin(const struct strata_probed *probed, char *text, size_t size);

#endif
