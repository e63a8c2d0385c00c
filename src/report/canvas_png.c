/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A picture as pixels, drawn by cairo. */
#include "core/fail.h"
#include "core/file.h"
#include "report/canvas_backend.h"

enum { PNG_SCALE = 2 }; /* legible on dense screens and in print */

static void set_ink(struct canvas *canvas, struct ink ink)
{
    cairo_set_source_rgba(canvas->cairo, (ink.rgb >> 16 & 0xff) / 255.0,
                          (ink.rgb >> 8 & 0xff) / 255.0, (ink.rgb & 0xff) / 255.0,
                          ink.alpha);
}

static void draw_box(struct canvas *canvas, double x, double y, double width, double height,
                     struct ink fill)
{
    set_ink(canvas, fill);
    cairo_rectangle(canvas->cairo, x, y, width, height);
    cairo_fill(canvas->cairo);
}

static void draw_line(struct canvas *canvas, double x0, double y0, double x1, double y1,
                      double width, bool dashed, struct ink ink)
{
    static const double dashes[] = {4, 3};
    set_ink(canvas, ink);
    cairo_set_line_width(canvas->cairo, width);
    cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_BUTT);
    cairo_set_dash(canvas->cairo, dashes, dashed ? 2 : 0, 0);
    cairo_move_to(canvas->cairo, x0, y0);
    cairo_line_to(canvas->cairo, x1, y1);
    cairo_stroke(canvas->cairo);
    cairo_set_dash(canvas->cairo, dashes, 0, 0);
}

static void trace(struct canvas *canvas, const double *x, const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cairo_line_to(canvas->cairo, x[i], y[i]); /* the first one moves */
}

static void draw_path(struct canvas *canvas, const double *x, const double *y, size_t n,
                      double width, struct ink ink)
{
    set_ink(canvas, ink);
    cairo_set_line_width(canvas->cairo, width);
    cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_ROUND);
    trace(canvas, x, y, n);
    cairo_stroke(canvas->cairo);
}

static void draw_area(struct canvas *canvas, const double *x, const double *y, size_t n,
                      double from, struct ink fill)
{
    set_ink(canvas, fill);
    trace(canvas, x, y, n);
    cairo_line_to(canvas->cairo, from, y[n - 1]);
    cairo_line_to(canvas->cairo, from, y[0]);
    cairo_close_path(canvas->cairo);
    cairo_fill(canvas->cairo);
}

static void add_dot(struct canvas *canvas, double x, double y)
{
    cairo_move_to(canvas->cairo, x, y);
    cairo_close_path(canvas->cairo); /* no length, but round ends: a dot */
}

static void draw_dots(struct canvas *canvas, double diameter, struct ink ink)
{
    set_ink(canvas, ink);
    cairo_set_line_width(canvas->cairo, diameter);
    cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_ROUND);
    cairo_stroke(canvas->cairo);
}

static void begin_clip(struct canvas *canvas, double x, double y, double width,
                       double height)
{
    cairo_save(canvas->cairo);
    cairo_rectangle(canvas->cairo, x, y, width, height);
    cairo_clip(canvas->cairo);
}

static void end_clip(struct canvas *canvas)
{
    cairo_restore(canvas->cairo);
}

static void draw_text(struct canvas *canvas, double x, double y, const char *text,
                      struct font font, struct ink ink, bool up)
{
    static const double shifts[] = {
        [ALIGN_LEFT] = 0, [ALIGN_CENTRE] = 0.5, [ALIGN_RIGHT] = 1};
    double shift = shifts[font.align] * canvas_text_width(canvas, text, font);
    cairo_save(canvas->cairo);
    cairo_translate(canvas->cairo, x, y);
    if (up)
        cairo_rotate(canvas->cairo, -1.5707963267948966);
    set_ink(canvas, ink);
    cairo_move_to(canvas->cairo, -shift, 0);
    cairo_show_text(canvas->cairo, text);
    cairo_new_path(canvas->cairo);
    cairo_restore(canvas->cairo);
}

static cairo_status_t collect(void *closure, const unsigned char *data, unsigned length)
{
    FILE *stream = closure;
    return fwrite(data, 1, length, stream) == length ? CAIRO_STATUS_SUCCESS
                                                     : CAIRO_STATUS_WRITE_ERROR;
}

static int save(struct canvas *canvas, const char *path, const char *title,
                const char *description, struct strata_error *error)
{
    (void)title;
    (void)description;
    cairo_status_t state = cairo_status(canvas->cairo);
    if (!state)
        state = cairo_surface_write_to_png_stream(canvas->surface, collect, canvas->stream);
    int closed = fclose(canvas->stream);
    canvas->stream = NULL;
    if (state || closed)
        return fail(error, STRATA_FAILED, "%s: cannot draw: %s", path,
                    state ? cairo_status_to_string(state) : "out of memory");
    return write_file(path, canvas->text, canvas->size, error);
}

const struct canvas_backend canvas_png = {
    ".png",  PNG_SCALE, draw_box,   draw_line, draw_path, draw_area,
    add_dot, draw_dots, begin_clip, end_clip,  draw_text, save,
};
