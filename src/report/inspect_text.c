/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `strata inspect` prints for people: events by category. */
#include "core/units.h"
#include "report/inspect_report.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { WIDTH = 80, NAMES = 30 };

static void heading(FILE *out, const struct style *style, const char *text)
{
    fprintf(out, "%s%s%s\n", paint_begin(style, PAINT_BOLD), text,
            paint_end(style, PAINT_BOLD));
}

static size_t width_of(const struct findings *findings)
{
    size_t width = 12;
    for (size_t i = 0; i < findings->n; i++) {
        size_t length = strlen(findings->events[i].name);
        if (length > width)
            width = length < NAMES ? length : NAMES;
    }
    return width;
}

/* The events of a category, under its label. */
static void print_category(FILE *out, const struct findings *findings, size_t first,
                           const struct style *style, int width)
{
    const struct finding *of = &findings->events[first];
    char text[CATEGORY_NAME + CATEGORY_LABEL + 8];
    snprintf(text, sizeof text, "%s: %s", of->category, of->label);
    heading(out, style, text);
    for (size_t i = first; i < findings->n; i++) {
        const struct finding *f = &findings->events[i];
        if (strcmp(f->category, of->category) != 0)
            continue;
        fprintf(out, "  %-*s  goodness %.3f", width, f->name, f->goodness);
        if (f->second.goodness >= 0.01)
            fprintf(out, "   next best %s %.2f", f->second.name, f->second.goodness);
        fputc('\n', out);
    }
}

static bool is_first(const struct findings *findings, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(findings->events[j].category, findings->events[i].category) == 0)
            return false;
    return true;
}

static void print_none(FILE *out, const struct findings *findings,
                       const struct style *style, int width)
{
    bool any = false;
    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *f = &findings->events[i];
        if (!f->moved || *f->category)
            continue;
        if (!any)
            heading(out, style, "none: these count something else");
        any = true;
        fprintf(out, "  %-*s", width, f->name);
        if (f->best.goodness >= 0.3)
            fprintf(out, "  nearest %s %.2f", f->best.name, f->best.goodness);
        fputc('\n', out);
    }
}

static void print_still(FILE *out, const struct findings *findings,
                        const struct style *style)
{
    bool any = false;
    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *f = &findings->events[i];
        if (!f->counted || f->moved)
            continue;
        if (!any)
            heading(out, style, "does not count here: no kernel moved it");
        any = true;
        fprintf(out, "  %s\n", f->name);
    }
}

static void print_refused(FILE *out, const struct findings *findings,
                          const struct style *style)
{
    bool any = false;
    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *f = &findings->events[i];
        char text[WHY + 200];
        if (f->counted)
            continue;
        if (!any)
            heading(out, style, "not counted");
        any = true;
        snprintf(text, sizeof text, "  %.160s: %s", f->name, f->why);
        print_folded(out, text, WIDTH, 4);
    }
}

static void print_levels(FILE *out, const char *name, const struct found_level *levels,
                         size_t n, bool bytes)
{
    for (size_t i = 0; i < n; i++) {
        char size[SIZE_TEXT] = "";
        if (isnan(levels[i].reach))
            fprintf(out, "  %s%zu   counts change near %s%s\n", name, i + 1,
                    format_size_short(levels[i].edge, size), bytes ? "" : " pages");
        else
            fprintf(out, "  %s%zu   %s%s   by %s\n", name, i + 1,
                    format_size((uint64_t)levels[i].reach, size), bytes ? "" : " pages",
                    levels[i].event);
    }
}

void inspect_where(FILE *out, const struct inspect_report *report)
{
    fprintf(out, "%s%s", report->processor,
            strcmp(report->source, "sim") == 0 ? ", simulated" : "");
}

void inspect_text(FILE *out, const struct inspect_report *report, const struct style *style)
{
    const struct findings *findings = report->findings;
    int width = (int)width_of(findings);
    size_t known = 0;
    for (size_t i = 0; i < findings->n; i++)
        known += *findings->events[i].category != '\0';
    inspect_where(out, report);
    fprintf(out, ": %zu events, %zu in a category, %.1f s\n", findings->n, known,
            report->seconds);
    for (size_t i = 0; i < findings->n; i++)
        if (*findings->events[i].category && is_first(findings, i))
            print_category(out, findings, i, style, width);
    print_none(out, findings, style, width);
    print_still(out, findings, style);
    print_refused(out, findings, style);
    if (findings->ncaches || findings->ntlbs)
        heading(out, style, "what is reached before a level misses, by these events");
    print_levels(out, "L", findings->caches, findings->ncaches, true);
    print_levels(out, "TLB", findings->tlbs, findings->ntlbs, false);
    inspect_studies(out, report, style);
}
