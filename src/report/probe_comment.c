/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The provenance of a machine file that was measured, as its opening comment:
 *
 *     Measured by strata 0.1.0: timing on cpu 1, 11.2 s, seed 20110410
 *     strata probe --save this.machine
 *
 *     Not known, and so assumed (docs/design/probe.md says how):
 *     L2 ways: its index is hashed */
#include "core/utf8.h"
#include "dataset/dataset.h"
#include "report/params.h"
#include "report/probe_report.h"
#include "report/terminal.h"

#include <inttypes.h>
#include <stdlib.h>

static void print_origin(FILE *out, const struct strata_probed *probed)
{
    char provenance[128], clean[256];
    format_provenance(probed, provenance, sizeof provenance);
    const char *version = probed->data ? probed->data->version : "";
    const char *command = probed->data ? probed->data->command : "";
    fprintf(out, "Measured by strata%s%s: %s, seed %" PRIu64 "\n", *version ? " " : "",
            utf8_clean(version, clean, sizeof clean), provenance, probed->seed);
    if (*command)
        fprintf(out, "%s\n", utf8_clean(command, clean, sizeof clean));
}

/* Intervals that a machine file has no key for. */
static void print_usable(FILE *out, const struct strata_probed *probed)
{
    for (int i = 0; i < cache_count(probed); i++) {
        const struct strata_probed_cache *cache = &probed->caches[i];
        char usable[64];
        if (!value_known(&cache->effective))
            continue;
        format_interval(&cache->effective, usable, sizeof usable);
        fprintf(out, "L%d usable: %s\n", cache->level, usable);
    }
}

static void print_unknown(FILE *out, const struct strata_probed *probed)
{
    struct owner owners[MAX_OWNERS];
    size_t n = list_owners(probed, owners), lines = 0;
    for (size_t i = 0; i < n; i++)
        for (const struct param *p = owners[i].params; p->key; p++) {
            const struct strata_value *value = param_value(owners[i].values, p);
            char clean[sizeof value->why];
            if (value_known(value) || p->twin)
                continue;
            if (!lines++)
                fputs("\nNot known, and so assumed (docs/design/probe.md says how):\n",
                      out);
            fprintf(
                out, "%s %s: %s\n", owners[i].name, p->label,
                utf8_clean(*value->why ? value->why : "not measured", clean, sizeof clean));
        }
}

/* What a probe does not look for. */
static void print_assumed(FILE *out)
{
    fputs("\nAssumed, not measured: [branch], a usual predictor. What is counted of wrong\n"
          "guesses on this machine rests on it, and not on the processor.\n",
          out);
}

char *probe_comment(const struct strata_probed *probed)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    print_origin(out, probed);
    print_usable(out, probed);
    print_unknown(out, probed);
    print_assumed(out);
    int bad = ferror(out);
    bad |= fclose(out);
    if (!bad)
        return text;
    free(text);
    return NULL;
}
