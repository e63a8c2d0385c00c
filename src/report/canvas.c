/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What canvas.h promises, drawn by cairo. */
#include "report/canvas.h"

#include "core/fail.h"
#include "core/file.h"

#include <cairo-svg.h>
#include <cairo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* fontconfig keeps what it looked up for the life of the process; that is no leak, and no
 * reason to print anything. */
#ifdef __SANITIZE_ADDRESS__
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\n";
}
#endif

enum { PNG_SCALE = 2 }; /* legible on dense screens and in print */

struct canvas {
    bool png;
    FILE *stream; /* collects the file into text */
    char *text;
    size_t size;
    cairo_surface_t *surface;
    cairo_t *cairo;
};

static cairo_status_t collect(void *closure, const unsigned char *data, unsigned length)
{
    FILE *stream = closure;
    return fwrite(data, 1, length, stream) == length ? CAIRO_STATUS_SUCCESS
                                                     : CAIRO_STATUS_WRITE_ERROR;
}

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), n = strlen(ending);
    return length > n && !strcasecmp(path + length - n, ending);
}

static cairo_surface_t *make_surface(struct canvas *canvas, double width, double height)
{
    if (canvas->png)
        return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width * PNG_SCALE,
                                          (int)height * PNG_SCALE);
    cairo_surface_t *surface =
        cairo_svg_surface_create_for_stream(collect, canvas->stream, width, height);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    return surface;
}

/* The same shapes at every scale: no hinting to a pixel grid. */
static void set_up(struct canvas *canvas)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(canvas->cairo, options);
    cairo_font_options_destroy(options);
    cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_ROUND);
    if (canvas->png)
        cairo_scale(canvas->cairo, PNG_SCALE, PNG_SCALE);
}

int canvas_open(const char *path, double width, double height, struct canvas **canvas,
                struct strata_error *error)
{
    bool png = ends_in(path, ".png");
    if (!png && !ends_in(path, ".svg"))
        return fail(
            error, STRATA_BAD_INPUT,
            "%s: a plot is drawn as .svg or .png; give the file one of these endings",
            path);
    struct canvas *made = calloc(1, sizeof *made);
    if (!made)
        return fail(error, STRATA_FAILED, "%s: out of memory", path);
    made->png = png;
    made->stream = open_memstream(&made->text, &made->size);
    if (!made->stream) {
        free(made);
        return fail(error, STRATA_FAILED, "%s: out of memory", path);
    }
    made->surface = make_surface(made, width, height);
    made->cairo = cairo_create(made->surface);
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
    cairo_surface_destroy(canvas->surface); /* may still write to the stream */
    if (canvas->stream)
        fclose(canvas->stream);
    free(canvas->text);
    free(canvas);
}

static void print_escaped(FILE *out, const char *text)
{
    static const struct {
        char character;
        const char *entity;
    } entities[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (; *text; text++) {
        const char *entity = NULL;
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            if (*text == entities[i].character)
                entity = entities[i].entity;
        if (entity)
            fputs(entity, out);
        else
            putc(*text, out);
    }
}

/* cairo has no call for the title of an SVG: it goes in behind the first tag. */
static int write_svg(const char *path, const char *svg, size_t size, const char *title,
                     const char *description, struct strata_error *error)
{
    const char *tag = memmem(svg, size, "<svg", 4);
    const char *end = tag ? memchr(tag, '>', size - (size_t)(tag - svg)) : NULL;
    size_t head = end ? (size_t)(end + 1 - svg) : 0, whole_size = 0;
    char *whole = NULL;
    FILE *out = open_memstream(&whole, &whole_size);
    if (!out)
        return fail(error, STRATA_FAILED, "%s: out of memory", path);
    fwrite(svg, 1, head, out);
    if (head) {
        fputs("\n<title>", out);
        print_escaped(out, title);
        fputs("</title>\n<desc>", out);
        print_escaped(out, description);
        fputs("</desc>", out);
    }
    fwrite(svg + head, 1, size - head, out);
    int bad = ferror(out);
    bad |= fclose(out);
    int status = bad ? fail(error, STRATA_FAILED, "%s: out of memory", path)
                     : write_file(path, whole, whole_size, error);
    free(whole);
    return status;
}

int canvas_save(struct canvas *canvas, const char *path, const char *title,
                const char *description, struct strata_error *error)
{
    cairo_status_t state = cairo_status(canvas->cairo);
    if (!state && canvas->png)
        state = cairo_surface_write_to_png_stream(canvas->surface, collect, canvas->stream);
    cairo_surface_finish(canvas->surface);
    if (!state)
        state = cairo_surface_status(canvas->surface);
    int closed = fclose(canvas->stream);
    canvas->stream = NULL;
    if (state || closed)
        return fail(error, STRATA_FAILED, "%s: cannot draw: %s", path,
                    state ? cairo_status_to_string(state) : "out of memory");
    return canvas->png
               ? write_file(path, canvas->text, canvas->size, error)
               : write_svg(path, canvas->text, canvas->size, title, description, error);
}

static void set_ink(struct canvas *canvas, struct ink ink)
{
    cairo_set_source_rgba(canvas->cairo, (ink.rgb >> 16 & 0xff) / 255.0,
                          (ink.rgb >> 8 & 0xff) / 255.0, (ink.rgb & 0xff) / 255.0,
                          ink.alpha);
}

void canvas_box(struct canvas *canvas, double x, double y, double width, double height,
                struct ink fill)
{
    set_ink(canvas, fill);
    cairo_rectangle(canvas->cairo, x, y, width, height);
    cairo_fill(canvas->cairo);
}

void canvas_line(struct canvas *canvas, double x0, double y0, double x1, double y1,
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

void canvas_path(struct canvas *canvas, const double *x, const double *y, size_t n,
                 double width, struct ink ink)
{
    set_ink(canvas, ink);
    cairo_set_line_width(canvas->cairo, width);
    cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_ROUND);
    trace(canvas, x, y, n);
    cairo_stroke(canvas->cairo);
}

void canvas_area(struct canvas *canvas, const double *x, const double *y, size_t n,
                 double from, struct ink fill)
{
    if (!n)
        return;
    set_ink(canvas, fill);
    trace(canvas, x, y, n);
    cairo_line_to(canvas->cairo, from, y[n - 1]);
    cairo_line_to(canvas->cairo, from, y[0]);
    cairo_close_path(canvas->cairo);
    cairo_fill(canvas->cairo);
}

void canvas_dot(struct canvas *canvas, double x, double y)
{
    cairo_move_to(canvas->cairo, x, y);
    cairo_close_path(canvas->cairo); /* no length, but round ends: a dot */
}

void canvas_dots(struct canvas *canvas, double diameter, struct ink ink)
{
    set_ink(canvas, ink);
    cairo_set_line_width(canvas->cairo, diameter);
    cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_ROUND);
    cairo_stroke(canvas->cairo);
}

void canvas_clip(struct canvas *canvas, double x, double y, double width, double height)
{
    cairo_save(canvas->cairo);
    cairo_rectangle(canvas->cairo, x, y, width, height);
    cairo_clip(canvas->cairo);
}

void canvas_unclip(struct canvas *canvas)
{
    cairo_restore(canvas->cairo);
}

static void set_font(struct canvas *canvas, struct font font)
{
    cairo_select_font_face(canvas->cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           font.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(canvas->cairo, font.size);
}

double canvas_text_width(struct canvas *canvas, const char *text, struct font font)
{
    cairo_text_extents_t extents = {0};
    set_font(canvas, font);
    cairo_text_extents(canvas->cairo, text, &extents);
    return extents.x_advance;
}

static double shift(struct canvas *canvas, const char *text, struct font font)
{
    return font.align == ALIGN_LEFT ? 0
                                    : canvas_text_width(canvas, text, font) /
                                          (font.align == ALIGN_CENTRE ? 2 : 1);
}

void canvas_text(struct canvas *canvas, double x, double y, const char *text,
                 struct font font, struct ink ink)
{
    double left = x - shift(canvas, text, font);
    set_font(canvas, font);
    set_ink(canvas, ink);
    cairo_move_to(canvas->cairo, left, y);
    cairo_show_text(canvas->cairo, text);
    cairo_new_path(canvas->cairo);
}

void canvas_text_up(struct canvas *canvas, double x, double y, const char *text,
                    struct font font, struct ink ink)
{
    cairo_save(canvas->cairo);
    cairo_translate(canvas->cairo, x, y);
    cairo_rotate(canvas->cairo, -1.5707963267948966);
    canvas_text(canvas, 0, 0, text, font, ink);
    cairo_restore(canvas->cairo);
}
