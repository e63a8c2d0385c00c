/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A drawing that becomes an SVG or a PNG: one drawing code for both, in memory until it
 * is whole. The text of an SVG is text.
 *
 * Coordinates are pixels from the upper left; a PNG has twice as many. Text must be
 * well-formed UTF-8 (core/utf8.h). An error (no memory, say) makes the calls that
 * follow do nothing and comes out of canvas_save(). */
#ifndef REPORT_CANVAS_H
#define REPORT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <strata/error.h>

struct canvas;

/* Red, green, blue as 0xRRGGBB, and 0..1. */
struct ink {
    uint32_t rgb;
    double alpha;
};

enum align { ALIGN_LEFT, ALIGN_CENTRE, ALIGN_RIGHT };

struct font {
    double size;
    bool bold;
    enum align align;
};

/* The format follows the ending of the path: .svg or .png, others are
 * STRATA_BAD_INPUT. */
int canvas_open(const char *path, double width, double height, struct canvas **canvas,
                struct strata_error *error);

/* Writes the file, whole or not at all. Title and description go into an SVG, for
 * screen readers. */
int canvas_save(struct canvas *canvas, const char *path, const char *title,
                const char *description, struct strata_error *error);
void canvas_release(struct canvas *canvas);

void canvas_box(struct canvas *canvas, double x, double y, double width, double height,
                struct ink fill);
void canvas_line(struct canvas *canvas, double x0, double y0, double x1, double y1,
                 double width, bool dashed, struct ink ink);

/* A connected line through n points, and the area between it and x == from. */
void canvas_path(struct canvas *canvas, const double *x, const double *y, size_t n,
                 double width, struct ink ink);
void canvas_area(struct canvas *canvas, const double *x, const double *y, size_t n,
                 double from, struct ink fill);

/* Collects dots, then draws them all at once (which costs far less in an SVG). */
void canvas_dot(struct canvas *canvas, double x, double y);
void canvas_dots(struct canvas *canvas, double diameter, struct ink ink);

/* What is drawn until canvas_unclip() is cut off at the box. */
void canvas_clip(struct canvas *canvas, double x, double y, double width, double height);
void canvas_unclip(struct canvas *canvas);

/* y is the base line. */
void canvas_text(struct canvas *canvas, double x, double y, const char *text,
                 struct font font, struct ink ink);
void canvas_text_up(struct canvas *canvas, double x, double y, const char *text,
                    struct font font, struct ink ink); /* read upwards */
double canvas_text_width(struct canvas *canvas, const char *text, struct font font);

#endif
