/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts and the clock side by side: where they differ, and what that means. Counts show
 * what is there; the clock shows what a program can use of it. */
#include "core/units.h"
#include "report/params.h"
#include "report/probe_report.h"
#include "report/terminal.h"

#include <string.h>

enum { VERDICTS = 48, VERDICT = 200 };

struct verdicts {
    int n;
    char text[VERDICTS][VERDICT];
};

static char *next(struct verdicts *verdicts)
{
    return verdicts->n < VERDICTS ? verdicts->text[verdicts->n++] : NULL;
}

static void format(const struct param *param, double value, char text[SIZE_TEXT])
{
    if (param->unit == PARAM_BYTES)
        format_size_short(value, text);
    else
        snprintf(text, SIZE_TEXT, "%.0f", value);
}

/* What both say of one parameter that both know. */
static void compare(struct verdicts *verdicts, const char *name, const struct param *param,
                    const struct strata_value *counted, const struct strata_value *timed)
{
    char one[SIZE_TEXT], other[SIZE_TEXT];
    if (!value_known(counted) || !value_known(timed) || counted->value == timed->value)
        return;
    char *text = next(verdicts);
    if (!text)
        return;
    format(param, counted->value, one);
    format(param, timed->value, other);
    snprintf(text, VERDICT,
             "%.31s %s: counts say %s, the clock %s (%.0f%% sure): counts are exact.", name,
             param->label, one, other, 100 * timed->confidence);
}

/* Physical against effective capacity. */
static void compare_capacity(struct verdicts *verdicts, const char *name,
                             const struct strata_value *size,
                             const struct strata_value *usable)
{
    char one[SIZE_TEXT], other[SIZE_TEXT];
    if (!value_known(size) || !value_known(usable))
        return;
    char *text = next(verdicts);
    if (!text)
        return;
    format_size_short(size->value, one);
    format_size_measured(usable->value, 0, other);
    if (usable->value == size->value)
        snprintf(text, VERDICT, "%.31s: %s are there, and a program can use all of it.",
                 name, one);
    else if (usable->value < size->value)
        snprintf(text, VERDICT,
                 "%.31s: %s are there, a program can use %s: its pages share the sets "
                 "unevenly, or others hold the rest.",
                 name, one, other);
    else
        snprintf(text, VERDICT,
                 "%.31s: %s by counts, but time does not rise before %s: the level before "
                 "adds to it, or prefetching hides it.",
                 name, one, other);
}

static void compare_caches(struct verdicts *v, const struct strata_probed *counted,
                           const struct strata_probed *timed)
{
    for (int i = 0; i < cache_count(counted); i++)
        for (int j = 0; j < cache_count(timed); j++) {
            const struct strata_probed_cache *a = &counted->caches[i];
            const struct strata_probed_cache *b = &timed->caches[j];
            char name[32];
            if (a->level != b->level)
                continue;
            cache_name(a->level, name, sizeof name);
            compare_capacity(v, name, &a->size, &b->effective);
            for (const struct param *p = cache_params; p->key; p++)
                if (p->unit == PARAM_BYTES || p->unit == PARAM_COUNT)
                    compare(v, name, p, param_value(a, p), param_value(b, p));
        }
}

static void compare_tlbs(struct verdicts *v, const struct strata_probed *counted,
                         const struct strata_probed *timed)
{
    for (int i = 0; i < tlb_count(counted); i++)
        for (int j = 0; j < tlb_count(timed); j++) {
            const struct strata_probed_tlb *a = &counted->tlbs[i], *b = &timed->tlbs[j];
            char name[32];
            if (a->level != b->level || a->page != b->page)
                continue;
            tlb_name(a, counted->page, name, sizeof name);
            for (const struct param *p = tlb_params; p->key; p++)
                if (p->unit == PARAM_COUNT)
                    compare(v, name, p, param_value(a, p), param_value(b, p));
        }
}

static void judge(struct verdicts *v, const struct strata_probed *counted,
                  const struct strata_probed *timed)
{
    v->n = 0;
    if (cache_count(counted) != cache_count(timed))
        snprintf(next(v), VERDICT, "counts show %d levels of caches, the clock %d.",
                 cache_count(counted), cache_count(timed));
    compare_caches(v, counted, timed);
    compare_tlbs(v, counted, timed);
    char *text = next(v);
    if (text && counted->accesses)
        snprintf(
            text, VERDICT,
            "accesses: %.2f million for counts, %.2f million for the clock (%.1f times "
            "as many).",
            (double)counted->accesses / 1e6, (double)timed->accesses / 1e6,
            (double)timed->accesses / (double)counted->accesses);
}

void probe_verdicts(FILE *out, const struct strata_probed *counted,
                    const struct strata_probed *timed, int width)
{
    struct verdicts v;
    judge(&v, counted, timed);
    for (int i = 0; i < v.n; i++)
        print_folded(out, v.text[i], width, 2);
}

json_t *verdicts_json(const struct strata_probed *counted,
                      const struct strata_probed *timed)
{
    struct verdicts v;
    json_t *array = json_array();
    judge(&v, counted, timed);
    for (int i = 0; i < v.n; i++)
        if (json_array_append_new(array, json_string(v.text[i]))) {
            json_decref(array);
            return NULL;
        }
    return array;
}
