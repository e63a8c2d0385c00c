/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What canvas.h promises: opening, measuring text, and passing calls on to the backend
 * that the ending of the file names. */
#include "report/canvas.h"

#include "core/fail.h"
#include "report/canvas_backend.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* fontconfig keeps what it looked up for the life of the process; that is no leak, and no
 * reason to print anything. */
#ifdef __SANITIZE_ADDRESS__
#define SEEN __attribute__((visibility("default")))
SEEN const char *__lsan_default_suppressions(void);
SEEN const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\n";
}
#endif

static const struct canvas_backend *backend_of(const char *path)
{
    static const struct canvas_backend *const backends[] = {&canvas_svg, &canvas_png};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        size_t n = strlen(backends[i]->ending);
        if (length > n && !strcasecmp(path + length - n, backends[i]->ending))
            return backends[i];
    }
    return NULL;
}

/* The same shapes at every scale: no hinting to a pixel grid. */
static void set_up(struct canvas *canvas)
{
    int scale = canvas->backend->scale;
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(canvas->cairo, options);
    cairo_font_options_destroy(options);
    cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_ROUND);
    if (scale)
        cairo_scale(canvas->cairo, scale, scale);
}

int canvas_open(const char *path, double width, double height, struct canvas **canvas,
                struct strata_error *error)
{
    const struct canvas_backend *backend = backend_of(path);
    if (!backend)
        return fail(
            error, STRATA_BAD_INPUT,
            "%s: a plot is drawn as .svg or .png; give the file one of these endings",
            path);
    struct canvas *made = calloc(1, sizeof *made);
    if (!made)
        return fail(error, STRATA_FAILED, "%s: out of memory", path);
    *made = (struct canvas){.backend = backend, .width = width, .height = height};
    int scale = backend->scale;
    made->surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, scale ? (int)width * scale : 1,
                                   scale ? (int)height * scale : 1);
    made->cairo = cairo_create(made->surface);
    made->stream = open_memstream(&made->text, &made->size);
    made->dots = open_memstream(&made->dots_text, &made->dots_size);
    if (!made->stream || !made->dots) {
        canvas_release(made);
        return fail(error, STRATA_FAILED, "%s: out of memory", path);
    }
    set_up(made);
    canvas_box(made, 0, 0, width, height, (struct ink){0xffffff, 1});
    *canvas = made;
    return STRATA_OK;
}

void canvas_release(struct canvas *canvas)
{
    if (!canvas)
        return;
    cairo_destroy(canvas->cairo);
    cairo_surface_destroy(canvas->surface);
    if (canvas->stream)
        fclose(canvas->stream);
    if (canvas->dots)
        fclose(canvas->dots);
    free(canvas->text);
    free(canvas->dots_text);
    free(canvas);
}

int canvas_save(struct canvas *canvas, const char *path, const char *title,
                const char *description, struct strata_error *error)
{
    return canvas->backend->save(canvas, path, title, description, error);
}

void canvas_box(struct canvas *canvas, double x, double y, double width, double height,
                struct ink fill)
{
    canvas->backend->box(canvas, x, y, width, height, fill);
}

void canvas_line(struct canvas *canvas, double x0, double y0, double x1, double y1,
                 double width, bool dashed, struct ink ink)
{
    canvas->backend->line(canvas, x0, y0, x1, y1, width, dashed, ink);
}

void canvas_path(struct canvas *canvas, const double *x, const double *y, size_t n,
                 double width, struct ink ink)
{
    if (n)
        canvas->backend->path(canvas, x, y, n, width, ink);
}

void canvas_area(struct canvas *canvas, const double *x, const double *y, size_t n,
                 double from, struct ink fill)
{
    if (n)
        canvas->backend->area(canvas, x, y, n, from, fill);
}

void canvas_dot(struct canvas *canvas, double x, double y)
{
    canvas->backend->dot(canvas, x, y);
}

void canvas_dots(struct canvas *canvas, double diameter, struct ink ink)
{
    canvas->backend->dots(canvas, diameter, ink);
}

void canvas_clip(struct canvas *canvas, double x, double y, double width, double height)
{
    canvas->backend->clip(canvas, x, y, width, height);
}

void canvas_unclip(struct canvas *canvas)
{
    canvas->backend->unclip(canvas);
}

/* An SVG is shown with a font of the viewer's: it is asked to be this one, or one that is
 * about as wide. */
double canvas_text_width(struct canvas *canvas, const char *text, struct font font)
{
    cairo_text_extents_t extents = {0};
    cairo_select_font_face(canvas->cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           font.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(canvas->cairo, font.size);
    cairo_text_extents(canvas->cairo, text, &extents);
    return extents.x_advance;
}

void canvas_text(struct canvas *canvas, double x, double y, const char *text,
                 struct font font, struct ink ink)
{
    if (*text)
        canvas->backend->text(canvas, x, y, text, font, ink, false);
}

void canvas_text_up(struct canvas *canvas, double x, double y, const char *text,
                    struct font font, struct ink ink)
{
    if (*text)
        canvas->backend->text(canvas, x, y, text, font, ink, true);
}
