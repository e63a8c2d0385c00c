/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a kind of picture can do: the calls of canvas.h, as a table for each format. Only
 * canvas.c and the two backends include this. */
#ifndef REPORT_CANVAS_BACKEND_H
#define REPORT_CANVAS_BACKEND_H

#include "report/canvas.h"

#include <cairo.h>
#include <stdio.h>

struct canvas {
    const struct canvas_backend *backend;
    double width, height;
    cairo_surface_t *surface; /* the image; of an SVG one pixel, to measure text with */
    cairo_t *cairo;
    FILE *stream; /* collects the body of an SVG, or the bytes of a PNG, into text */
    char *text;
    size_t size;
    FILE *dots; /* an SVG's dots that are not drawn yet, in dots_text */
    char *dots_text;
    size_t dots_size;
    int clips; /* made so far: each has a name of its own in an SVG */
};

struct canvas_backend {
    const char *ending;
    int scale; /* pixels of the image for one of the canvas; 0: there is no image */
    void (*box)(struct canvas *, double x, double y, double width, double height,
                struct ink);
    void (*line)(struct canvas *, double x0, double y0, double x1, double y1, double width,
                 bool dashed, struct ink);
    void (*path)(struct canvas *, const double *x, const double *y, size_t n, double width,
                 struct ink);
    void (*area)(struct canvas *, const double *x, const double *y, size_t n, double from,
                 struct ink);
    void (*dot)(struct canvas *, double x, double y);
    void (*dots)(struct canvas *, double diameter, struct ink);
    void (*clip)(struct canvas *, double x, double y, double width, double height);
    void (*unclip)(struct canvas *);
    void (*text)(struct canvas *, double x, double y, const char *text, struct font,
                 struct ink, bool up);
    int (*save)(struct canvas *, const char *path, const char *title,
                const char *description, struct strata_error *);
};

extern const struct canvas_backend canvas_png, canvas_svg;

#endif
