/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `strata inspect EVENT`: one event in words with its curves; the studies of the source; a
 * composite; and whether the events of the tables count what they claim. */
#include "core/units.h"
#include "inspect/fit.h"
#include "report/inspect_report.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { WIDTH = 80, POINTS = 128 };

/* Slopes, one kernel a line. */

static const double *expected_slopes(const struct matrix *matrix, const struct finding *f)
{
    const struct matrix_category *category = matrix_find(matrix, f->category);
    return category ? category->slopes : NULL;
}

static void print_slopes(FILE *out, const struct matrix *matrix, const double *slopes,
                         const double *expected, const char *per)
{
    fprintf(out, "  %s\n", per);
    for (size_t k = 0; k < matrix->nkernels; k++) {
        if (expected)
            fprintf(out, "    %-6s %7.2f  of %-5.4g %s\n", matrix->kernels[k].name,
                    slopes[k], expected[k], matrix->kernels[k].about);
        else
            fprintf(out, "    %-6s %7.2f  %s\n", matrix->kernels[k].name, slopes[k],
                    matrix->kernels[k].about);
    }
}

static double slope_of(const struct inspect_report *report, const struct finding *f,
                       const char *kernel)
{
    const struct matrix *matrix = &report->table->matrices->branches;
    for (size_t k = 0; k < matrix->nkernels; k++)
        if (strcmp(matrix->kernels[k].name, kernel) == 0)
            return f->slopes[k];
    return NAN;
}

/* What the kernels d and e tell, which differ in nothing but the distance to the next
 * branch. */
static void print_speculation(FILE *out, const struct inspect_report *report,
                              const struct finding *f)
{
    char text[400];
    double near = slope_of(report, f, "e"), far = slope_of(report, f, "d");
    if (isnan(near) || isnan(far) || near < far + 0.3)
        return;
    snprintf(text, sizeof text,
             "  %.1f a turn in kernel e but %.1f in d, where only more work stands between "
             "the branch that cannot be guessed and the next one: it includes branches "
             "that were executed speculatively and thrown away.",
             near, far);
    print_folded(out, text, WIDTH, 2);
}

/* Curves over sizes. */

static void print_curve(FILE *out, const struct inspect_report *report, size_t event,
                        enum run_kind kind, uint32_t lines, const char *title, bool bytes)
{
    double x[POINTS], y[POINTS];
    size_t n = event_points(report->table, event, kind, lines, x, y, POINTS);
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, y[i]);
    if (most < 0.005)
        return;
    fprintf(out, "  %s", title);
    if (lines > 1)
        fprintf(out, ", by units of %u lines", lines);
    fputc('\n', out);
    for (size_t i = 0; i < n; i++) {
        char size[SIZE_TEXT];
        int bar = (int)(30 * y[i] / fmax(1, most) + 0.5);
        fprintf(out, "    %7s%s %7.3f ", format_size_short(x[i], size), bytes ? "" : "p",
                y[i]);
        for (int c = 0; c < bar; c++)
            fputc('#', out);
        fputc('\n', out);
    }
}

static void print_curves(FILE *out, const struct inspect_report *report, size_t event)
{
    static const struct {
        enum run_kind kind;
        bool bytes;
        const char *title;
    } curves[] = {
        {RUN_READ, true, "a visit of a random chase through so many bytes"},
        {RUN_WRITE, true, "a visit that only writes, in random order"},
        {RUN_ASCEND, true, "a visit in ascending order"},
        {RUN_PAIRS, true, "a visit of random pairs of neighbours"},
        {RUN_PAGES, false, "a visit of a chase through so many pages, one link in each"},
        {RUN_PAGES_WRITE, false, "a visit that writes, one link in each page"},
    };
    const struct finding *f = &report->findings->events[event];
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
        bool units = curves[i].kind == RUN_READ || curves[i].kind == RUN_WRITE;
        print_curve(out, report, event, curves[i].kind, units ? f->unit : 0,
                    curves[i].title, curves[i].bytes);
    }
}

static void print_answer(FILE *out, const struct finding *f)
{
    char text[CATEGORY_NAME + CATEGORY_LABEL + WHY + 300];
    if (!f->counted)
        snprintf(text, sizeof text, "%.200s is not counted: %s", f->name, f->why);
    else if (!f->moved)
        snprintf(text, sizeof text, "%.200s does not count here: no kernel moved it from 0",
                 f->name);
    else if (!*f->category)
        snprintf(text, sizeof text,
                 "%.200s is in no category: it counts something that the kernels do not "
                 "single out. Nearest is %s, goodness %.3f, and %.2f is needed.",
                 f->name, f->best.name, f->best.goodness, GOOD_ENOUGH);
    else
        snprintf(text, sizeof text,
                 "%.200s counts %s (%s): goodness %.3f; next best %s %.2f", f->name,
                 f->label, f->category, f->goodness,
                 *f->second.name ? f->second.name : "none", f->second.goodness);
    print_folded(out, text, WIDTH, 2);
}

void inspect_explain(FILE *out, const struct inspect_report *report, size_t event,
                     const struct style *style)
{
    const struct finding *f = &report->findings->events[event];
    const struct matrices *m = report->table->matrices;
    unsigned sets = report->table->plan->options.sets;
    (void)style;
    print_answer(out, f);
    fputs("  on ", out);
    inspect_where(out, report);
    fputc('\n', out);
    if (!f->moved)
        return;
    if (sets & PLAN_BRANCH && f->family != FAMILY_MEMORY) {
        print_slopes(out, &m->branches, f->slopes, expected_slopes(&m->branches, f),
                     "a turn of each branch kernel");
        print_speculation(out, report, f);
    }
    if (sets & PLAN_SYSTEM && f->family != FAMILY_BRANCH)
        print_slopes(out, &m->system, f->system_slopes, expected_slopes(&m->system, f),
                     "a turn of each kernel of the operating system");
    if (f->family == FAMILY_WORK)
        print_slopes(out, &m->work, f->work_slopes, expected_slopes(&m->work, f),
                     "an instruction of each kernel of machine code");
    if (f->family == FAMILY_MEMORY || f->family == FAMILY_NONE)
        print_curves(out, report, event);
}

/* Studies. */

static size_t event_in(const struct findings *findings, const char *category)
{
    for (size_t i = 0; i < findings->n; i++)
        if (strcmp(findings->events[i].category, category) == 0)
            return i;
    return SIZE_MAX;
}

static double code_slope(const struct inspect_report *report, const char *category,
                         uint32_t code)
{
    double x[POINTS], y[POINTS];
    size_t event = event_in(report->findings, category);
    if (event == SIZE_MAX)
        return NAN;
    size_t n = event_points(report->table, event, RUN_CODE, code, x, y, POINTS);
    return fit_line(x, y, n).slope;
}

static void print_codes(FILE *out, const struct inspect_report *report)
{
    static const char *const codes[] = {"a condition that is easy to guess",
                                        "a random condition",
                                        "a random condition, then more work"};
    fputs("conditional branches a turn, of a loop around one `if`:\n"
          "                                       executed  retired  mispredicted\n",
          out);
    for (uint32_t code = 0; code < 3; code++)
        fprintf(out, "  %-36s %9.2f %8.2f %13.2f\n", codes[code],
                code_slope(report, "CE", code), code_slope(report, "CR", code),
                code_slope(report, "MC", code));
    print_folded(
        out,
        "  The branch of the loop is executed once more in each turn whose `if` was "
        "guessed wrong, and thrown away; with more work between the two, the "
        "mistake is found out before the processor gets there.",
        WIDTH, 2);
}

static void print_chances(FILE *out, const struct inspect_report *report)
{
    double x[4], y[4];
    size_t event = event_in(report->findings, "CE");
    fputs("conditional branches executed a turn, where the `if` holds once in K:\n"
          "      K   measured   2 + 1/K, if false were always guessed\n",
          out);
    for (uint32_t k = 2; k <= 64; k += k < 16 ? 1 : 4) {
        if (event_points(report->table, event, RUN_CHANCE, k, x, y, 4) == 0)
            continue;
        fprintf(out, "  %5u %10.3f %10.3f\n", k, y[0] / x[0], 2 + 1 / (double)k);
    }
}

/* Hits a visit at the size that is nearest to four times what the second cache holds. */
static double hits_beyond(const struct inspect_report *report, size_t event,
                          enum run_kind kind, uint32_t kernel)
{
    double x[POINTS], y[POINTS], hits = NAN, distance = INFINITY;
    double size = 4 * report->findings->caches[1].edge;
    size_t n = event_points(report->table, event, kind, kernel, x, y, POINTS);
    for (size_t i = 0; i < n; i++)
        if (fabs(log2(x[i] / size)) < distance) {
            distance = fabs(log2(x[i] / size));
            hits = y[i];
        }
    return hits;
}

static void print_hits(FILE *out, const struct inspect_report *report, size_t event,
                       enum run_kind kind, const uint32_t *kernels, const char *what)
{
    fprintf(out, "  %-16s", what);
    for (const uint32_t *k = kernels; *k; k++)
        fprintf(out, " %8u", *k);
    fprintf(out, "\n  %-16s", "hits a visit");
    for (const uint32_t *k = kernels; *k; k++)
        fprintf(out, " %8.2f", hits_beyond(report, event, kind, *k));
    fputc('\n', out);
}

/* Figures 14 and 15 of the source, beyond the second cache. */
static void print_ahead(FILE *out, const struct inspect_report *report)
{
    size_t event = inspect_second_hits(report->findings);
    if (event == SIZE_MAX || report->findings->ncaches < 2)
        return;
    fputs("hits in L2 of a random chase that does not fit: what is prefetched\n", out);
    print_hits(out, report, event, RUN_READ, plan_units, "lines of a unit");
    print_hits(out, report, event, RUN_BLOCKS, plan_blocks, "pages of a block");
}

void inspect_studies(FILE *out, const struct inspect_report *report,
                     const struct style *style)
{
    (void)style;
    if (report->table->plan->options.sets & PLAN_STUDIES)
        print_ahead(out, report);
    if (!(report->table->plan->options.sets & PLAN_STUDIES) ||
        event_in(report->findings, "CE") == SIZE_MAX)
        return;
    print_codes(out, report);
    print_chances(out, report);
}

/* Composites. */

void inspect_composite(FILE *out, const struct inspect_report *report,
                       const struct matrix_category *wanted,
                       const struct composite *composite)
{
    fprintf(out, "%s: %s\n", wanted->name, wanted->label);
    if (!composite->n) {
        fputs("  no combination of up to three events counts that here\n", out);
        return;
    }
    fputs("  ", out);
    for (size_t i = 0; i < composite->n; i++) {
        int weight = composite->weights[i];
        fputs(weight < 0 ? (i ? " - " : "-") : (i ? " + " : ""), out);
        if (weight != 1 && weight != -1)
            fprintf(out, "%d ", weight < 0 ? -weight : weight);
        fputs(report->findings->events[composite->events[i]].name, out);
    }
    fprintf(out, "   goodness %.3f\n", composite->goodness);
}

/* Verdicts. */

/* What the plain names of the tables claim. Where several would do, the shorter is the
 * beginning of the longer. A star is the last level that was found. */
static const struct {
    const char *event, *category;
} claims[] = {
    {"instructions", "instructions"},
    {"cycles", "cycles"},
    {"l1d_accesses", "accesses|loads|L1"},
    {"l1d_misses", "L1.miss"},
    {"l2_misses", "L2.miss"},
    {"l3_misses", "L3.miss"},
    {"llc_misses", "L*.miss"},
    {"dtlb_misses", "TLB1.miss"},
    {"dtlb_walks", "TLB*.miss"},
    {"branches", "B|BE"},
    {"branch_misses", "M"},
    {"conditional", "CR|CE"},
    {"conditional_taken", "T|TE"},
    {"page-faults", "page-faults"},
    {"context-switches", "switches"},
    {"loads", "loads"},
    {"stores", "stores"},
};

const char *inspect_expected(const char *event)
{
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        if (strcmp(claims[i].event, event) == 0)
            return claims[i].category;
    return NULL;
}

/* A claim with the number of the last level in place of a star. */
static const char *settle_claim(const char *claim, const struct findings *findings,
                                char text[CATEGORY_NAME])
{
    const char *star = claim ? strchr(claim, '*') : NULL;
    size_t last =
        star && strncmp(claim, "TLB", 3) == 0 ? findings->ntlbs : findings->ncaches;
    if (!star)
        return claim;
    snprintf(text, CATEGORY_NAME, "%.*s%zu%s", (int)(star - claim), claim, last, star + 1);
    return text;
}

/* Whether a category is one of "A|B", or goes on from it with a dot. */
static bool agrees(const char *category, const char *wanted)
{
    while (*wanted) {
        size_t length = strcspn(wanted, "|");
        if (strncmp(category, wanted, length) == 0 &&
            (category[length] == '\0' || category[length] == '.'))
            return true;
        wanted += length + (wanted[length] == '|');
    }
    return false;
}

size_t inspect_verdicts(FILE *out, const struct inspect_report *report,
                        const struct style *style)
{
    size_t wrong = 0;
    inspect_where(out, report);
    fputc('\n', out);
    fprintf(out, "%s%-20s %-12s %-16s %s%s\n", paint_begin(style, PAINT_BOLD), "event",
            "claims", "counts", "verdict", paint_end(style, PAINT_BOLD));
    for (size_t i = 0; i < report->findings->n; i++) {
        const struct finding *f = &report->findings->events[i];
        char settled[CATEGORY_NAME];
        const char *wanted =
            settle_claim(inspect_expected(f->name), report->findings, settled);
        bool good = wanted && agrees(f->category, wanted);
        bool bad = wanted && f->moved && !good;
        wrong += bad;
        fprintf(out, "%-20s %-12.12s %-16s %s\n", f->name, wanted ? wanted : "-",
                *f->category ? f->category : "-",
                !f->counted ? "not counted"
                : !f->moved ? "does not count here"
                : good      ? "as it claims"
                : bad       ? "NOT as it claims"
                            : "no claim is known");
    }
    return wrong;
}
