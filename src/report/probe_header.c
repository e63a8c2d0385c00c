/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The findings as a C header, for autotuners and blocked loops:
 *
 *     #define STRATA_L1D_SIZE 32768
 *     #define STRATA_L1D_EFFECTIVE 32768
 *     #define STRATA_L2_LATENCY_CYCLES 14
 *     // STRATA_L2_WAYS is not known: its index is hashed     (as a C comment)
 *
 * Bytes, counts and cycles are integers, so that #if can compare them; ns are doubles.
 * What is not known is not defined, so that a program that relies on it does not build
 * rather than run on a made-up value. */
#include "core/fail.h"
#include "core/file.h"
#include "core/units.h"
#include "core/utf8.h"
#include "dataset/dataset.h"
#include "report/params.h"
#include "report/probe_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Text for a comment: neither ends it nor seems to open another. */
static void print_comment_text(FILE *out, const char *text)
{
    char clean[512];
    utf8_clean(text, clean, sizeof clean);
    for (const char *c = clean; *c; c++) {
        putc(*c, out);
        if ((c[0] == '*' && c[1] == '/') || (c[0] == '/' && c[1] == '*'))
            putc(' ', out);
    }
}

/* A string literal. "?" is escaped as well: "??/" was once a backslash. */
static void print_literal(FILE *out, const char *text)
{
    char clean[512];
    utf8_clean(text, clean, sizeof clean);
    putc('"', out);
    for (const char *c = clean; *c; c++) {
        if (strchr("\"\\?", *c))
            putc('\\', out);
        putc(*c, out);
    }
    putc('"', out);
}

static void print_integer(FILE *out, const char *prefix, const char *suffix, double value)
{
    fprintf(out, "#define STRATA_%s_%s %.0f\n", prefix, suffix, round(value));
}

static void print_param(FILE *out, const char *prefix, const struct param *param,
                        const struct strata_value *value)
{
    if (!value_known(value)) {
        fprintf(out, "/* STRATA_%s_%s is not known%s", prefix, param->macro,
                *value->why ? ": " : "");
        print_comment_text(out, value->why);
        fputs(" */\n", out);
    } else if (param->unit == PARAM_NS) {
        fprintf(out, "#define STRATA_%s_%s %#.4g\n", prefix, param->macro, value->value);
    } else {
        print_integer(out, prefix, param->macro, value->value);
    }
    if (value_known(value) && param->unit == PARAM_BYTES && param->interval &&
        isfinite(value->low) && isfinite(value->high)) {
        char macro[32];
        snprintf(macro, sizeof macro, "%s_LOW", param->macro);
        print_integer(out, prefix, macro, value->low);
        snprintf(macro, sizeof macro, "%s_HIGH", param->macro);
        print_integer(out, prefix, macro, value->high);
    }
}

static void print_params(FILE *out, const char *title, const char *prefix,
                         const void *owner, const struct param *params)
{
    fprintf(out, "\n/* %s */\n", title);
    for (; params->key; params++)
        print_param(out, prefix, params, param_value(owner, params));
}

static void print_tlb(FILE *out, const struct strata_probed_tlb *tlb, uint64_t base)
{
    char prefix[32], title[64], page[SIZE_TEXT];
    format_size(tlb->page, page);
    snprintf(prefix, sizeof prefix, "L%dDTLB%s%s", tlb->level, tlb->page == base ? "" : "_",
             tlb->page == base ? "" : page);
    snprintf(title, sizeof title, "level-%d data TLB, %s pages", tlb->level, page);
    print_params(out, title, prefix, tlb, tlb_params);
    if (value_known(&tlb->entries))
        print_integer(out, prefix, "REACH", tlb->entries.value * (double)tlb->page);
}

static void print_head(FILE *out, const struct strata_probed *probed)
{
    fputs("/* The memory hierarchy of ", out);
    print_comment_text(out, *probed->name ? probed->name : "this machine");
    fputs(", as measured by strata", out);
    if (probed->data && *probed->data->version) {
        putc(' ', out);
        print_comment_text(out, probed->data->version);
    }
    fputs(".\n * Source ", out);
    print_comment_text(out, probed->source ? probed->source : "unknown");
    fputs(", method ", out);
    print_comment_text(out, probed->method ? probed->method : "unknown");
    if (probed->cpu >= 0)
        fprintf(out, ", cpu %d", probed->cpu);
    fprintf(out, ", seed %" PRIu64 ", one cycle %.4g ns.\n", probed->seed,
            probed->cycle_ns);
    fputs(
        " * Bytes, counts and cycles; _NS in nanoseconds. EFFECTIVE is what a program can\n"
        " * use before time rises, SIZE the nominal capacity. What is not known is not\n"
        " * defined. */\n"
        "#ifndef STRATA_MEASURED_H\n#define STRATA_MEASURED_H\n\n"
        "#define STRATA_MACHINE_NAME ",
        out);
    print_literal(out, probed->name);
    fprintf(out, "\n#define STRATA_PAGE %" PRIu64 "\n", probed->page);
    if (probed->huge)
        fprintf(out, "#define STRATA_HUGE_PAGE %" PRIu64 "\n", probed->huge);
    if (isfinite(probed->cycle_ns))
        fprintf(out, "#define STRATA_CYCLE_NS %#.4g\n", probed->cycle_ns);
    fprintf(out, "#define STRATA_CACHE_LEVELS %d\n", cache_count(probed));
}

static void print_header(FILE *out, const struct strata_probed *probed)
{
    print_head(out, probed);
    for (int i = 0; i < cache_count(probed); i++) {
        int level = probed->caches[i].level;
        char prefix[16], title[32];
        snprintf(prefix, sizeof prefix, "L%d%s", level, level == 1 ? "D" : "");
        snprintf(title, sizeof title, "level-%d %scache", level, level == 1 ? "data " : "");
        print_params(out, title, prefix, &probed->caches[i], cache_params);
    }
    for (int i = 0; i < tlb_count(probed); i++)
        print_tlb(out, &probed->tlbs[i], probed->page);
    print_params(out, "memory", "MEMORY", probed, memory_params);
    fputs("\n#endif\n", out);
}

int probe_header(const struct strata_probed *probed, const char *path,
                 struct strata_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return fail(error, STRATA_FAILED, "%s: out of memory", path);
    print_header(out, probed);
    int bad = ferror(out);
    bad |= fclose(out);
    int status = bad ? fail(error, STRATA_FAILED, "%s: out of memory", path)
                     : write_file(path, text, size, error);
    free(text);
    return status;
}
