/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A picture as SVG, written by hand: text stays text, which can be searched, selected and
 * read aloud, where cairo would draw the outlines of its letters. Numbers have one digit
 * behind the point: a tenth of a pixel. */
#include "core/fail.h"
#include "core/file.h"
#include "report/canvas_backend.h"

#include <math.h>
#include <stdlib.h>

static void put_number(FILE *out, double value)
{
    double tenths = isfinite(value) ? round(value * 10) : 0;
    fprintf(out, "%.*f", fmod(tenths, 10) != 0, tenths / 10 + 0.0);
}

/* ` name="1.5"` */
static void put_attribute(FILE *out, const char *name, double value)
{
    fprintf(out, " %s=\"", name);
    put_number(out, value);
    putc('"', out);
}

/* "fill" or "stroke", with its opacity where that is not whole. */
static void put_ink(FILE *out, const char *what, struct ink ink)
{
    fprintf(out, " %s=\"#%06x\"", what, (unsigned)ink.rgb & 0xffffff);
    if (ink.alpha < 1)
        fprintf(out, " %s-opacity=\"%.3g\"", what, ink.alpha);
}

static void put_pairs(FILE *out, const double *x, const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i)
            putc(' ', out);
        put_number(out, x[i]);
        putc(',', out);
        put_number(out, y[i]);
    }
}

static void put_escaped(FILE *out, const char *text)
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

static void put_rectangle(FILE *out, double x, double y, double width, double height)
{
    fputs("<rect", out);
    put_attribute(out, "x", x);
    put_attribute(out, "y", y);
    put_attribute(out, "width", fmax(0, width));
    put_attribute(out, "height", fmax(0, height));
}

static void draw_box(struct canvas *canvas, double x, double y, double width, double height,
                     struct ink fill)
{
    put_rectangle(canvas->stream, x, y, width, height);
    put_ink(canvas->stream, "fill", fill);
    fputs("/>\n", canvas->stream);
}

static void draw_line(struct canvas *canvas, double x0, double y0, double x1, double y1,
                      double width, bool dashed, struct ink ink)
{
    FILE *out = canvas->stream;
    fputs("<line", out);
    put_attribute(out, "x1", x0);
    put_attribute(out, "y1", y0);
    put_attribute(out, "x2", x1);
    put_attribute(out, "y2", y1);
    put_ink(out, "stroke", ink);
    put_attribute(out, "stroke-width", width);
    fputs(dashed ? " stroke-dasharray=\"4 3\"/>\n" : "/>\n", out);
}

static void draw_path(struct canvas *canvas, const double *x, const double *y, size_t n,
                      double width, struct ink ink)
{
    FILE *out = canvas->stream;
    fputs("<polyline points=\"", out);
    put_pairs(out, x, y, n);
    fputs("\" fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"", out);
    put_ink(out, "stroke", ink);
    put_attribute(out, "stroke-width", width);
    fputs("/>\n", out);
}

static void draw_area(struct canvas *canvas, const double *x, const double *y, size_t n,
                      double from, struct ink fill)
{
    FILE *out = canvas->stream;
    const double end_x[] = {from, from}, end_y[] = {y[n - 1], y[0]};
    fputs("<polygon points=\"", out);
    put_pairs(out, x, y, n);
    putc(' ', out);
    put_pairs(out, end_x, end_y, 2);
    putc('"', out);
    put_ink(out, "fill", fill);
    fputs("/>\n", out);
}

/* No length, but round ends: a dot. */
static void add_dot(struct canvas *canvas, double x, double y)
{
    putc('M', canvas->dots);
    put_pairs(canvas->dots, &x, &y, 1);
    fputs("h0", canvas->dots);
}

static void draw_dots(struct canvas *canvas, double diameter, struct ink ink)
{
    FILE *out = canvas->stream;
    fflush(canvas->dots);
    if (canvas->dots_size) {
        fputs("<path d=\"", out);
        fwrite(canvas->dots_text, 1, canvas->dots_size, out);
        fputs("\" fill=\"none\" stroke-linecap=\"round\"", out);
        put_ink(out, "stroke", ink);
        put_attribute(out, "stroke-width", diameter);
        fputs("/>\n", out);
    }
    rewind(canvas->dots);
}

static void begin_clip(struct canvas *canvas, double x, double y, double width,
                       double height)
{
    FILE *out = canvas->stream;
    int id = ++canvas->clips;
    fprintf(out, "<clipPath id=\"clip%d\">", id);
    put_rectangle(out, x, y, width, height);
    fprintf(out, "/></clipPath>\n<g clip-path=\"url(#clip%d)\">\n", id);
}

static void end_clip(struct canvas *canvas)
{
    fputs("</g>\n", canvas->stream);
}

static void draw_text(struct canvas *canvas, double x, double y, const char *text,
                      struct font font, struct ink ink, bool up)
{
    static const char *const anchors[] = {
        [ALIGN_LEFT] = "", [ALIGN_CENTRE] = "middle", [ALIGN_RIGHT] = "end"};
    FILE *out = canvas->stream;
    fputs("<text", out);
    put_attribute(out, "x", x);
    put_attribute(out, "y", y);
    put_attribute(out, "font-size", font.size);
    if (font.bold)
        fputs(" font-weight=\"bold\"", out);
    if (*anchors[font.align])
        fprintf(out, " text-anchor=\"%s\"", anchors[font.align]);
    put_ink(out, "fill", ink);
    if (up) {
        fputs(" transform=\"rotate(-90 ", out);
        put_pairs(out, &x, &y, 1);
        fputs(")\"", out);
    }
    putc('>', out);
    put_escaped(out, text);
    fputs("</text>\n", out);
}

static void put_head(FILE *out, const struct canvas *canvas, const char *title,
                     const char *description)
{
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" role=\"img\"\n"
            "     font-family=\"DejaVu Sans, Verdana, Helvetica, Arial, sans-serif\">\n",
            canvas->width, canvas->height, canvas->width, canvas->height);
    fputs("<title>", out);
    put_escaped(out, title);
    fputs("</title>\n<desc>", out);
    put_escaped(out, description);
    fputs("</desc>\n", out);
}

static int save(struct canvas *canvas, const char *path, const char *title,
                const char *description, struct strata_error *error)
{
    char *whole = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&whole, &size);
    int bad = out ? ferror(canvas->stream) : 1;
    bad |= fclose(canvas->stream);
    canvas->stream = NULL;
    if (out) {
        put_head(out, canvas, title, description);
        if (!bad)
            fwrite(canvas->text, 1, canvas->size, out);
        fputs("</svg>\n", out);
        bad |= ferror(out);
        bad |= fclose(out);
    }
    int status = bad ? fail(error, STRATA_FAILED, "%s: out of memory", path)
                     : write_file(path, whole, size, error);
    free(whole);
    return status;
}

const struct canvas_backend canvas_svg = {
    ".svg",  0,         draw_box,   draw_line, draw_path, draw_area,
    add_dot, draw_dots, begin_clip, end_clip,  draw_text, save,
};
