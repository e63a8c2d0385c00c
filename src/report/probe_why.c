/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Why a value of the table is not known or not sure, and what else a person may want to
 * know: in full, or as one line that counts them.
 *
 *     2 values not known (–), 1 uncertain (?), 3 remarks: --why
 *
 *     L2 ways: not known: its index is hashed.
 *     memory latency: between 350 and 460 cycles.
 *     ? less than 95% sure: L2 size (81% sure). */
#include "core/units.h"
#include "report/params.h"
#include "report/probe_report.h"
#include "report/terminal.h"

#include <string.h>

/* Everything is said through this, which counts it, and prints it where that is wanted. */
struct saying {
    FILE *out; /* NULL: only count */
    int width;
    size_t unknown, doubtful, remarks;
    struct owner owners[MAX_OWNERS];
    size_t n;
};

static void say(const struct saying *saying, const char *text)
{
    if (saying->out)
        print_folded(saying->out, text, saying->width, 2);
}

static void remark(struct saying *saying, const char *text)
{
    saying->remarks++;
    say(saying, text);
}

/* Whether a line is due for it: not known, and its twin has no line already. */
static bool needs_reason(const struct owner *owner, const struct param *param)
{
    bool covered =
        param->twin && !value_known(param_value(owner->values, param - param->twin));
    return !value_known(param_value(owner->values, param)) && !covered;
}

static const char *why_of(const struct owner *owner, const struct param *param)
{
    return param_value(owner->values, param)->why;
}

/* The labels of all from `first` on that have its reason: "size, line, ways". */
static void list_labels(const struct owner *owner, const struct param *first, char *text,
                        size_t size)
{
    size_t used = 0;
    for (const struct param *p = first; p->key && used < size; p++)
        if (needs_reason(owner, p) && !strcmp(why_of(owner, p), why_of(owner, first)))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     p->label);
}

/* "L2 line, ways: not known: prefetching hides it." */
static void say_reason(const struct saying *saying, const struct owner *owner,
                       const struct param *param)
{
    const char *why = why_of(owner, param);
    char text[512], labels[128];
    size_t length = strlen(why);
    bool stop = length && strchr(".!?", why[length - 1]);
    list_labels(owner, param, labels, sizeof labels);
    snprintf(text, sizeof text, "%.31s %s: not known%s%s%s", owner->name, labels,
             length ? ": " : "", why, stop ? "" : ".");
    say(saying, text);
}

/* Whether one before it in the table has the same reason, and so named this one. */
static bool was_named(const struct owner *owner, const struct param *param)
{
    for (const struct param *p = owner->params; p < param; p++)
        if (needs_reason(owner, p) && !strcmp(why_of(owner, p), why_of(owner, param)))
            return true;
    return false;
}

static void say_unknown(struct saying *saying)
{
    for (size_t i = 0; i < saying->n; i++)
        for (const struct param *p = saying->owners[i].params; p->key; p++) {
            const struct owner *owner = &saying->owners[i];
            if (!needs_reason(owner, p))
                continue;
            saying->unknown++;
            if (!was_named(owner, p))
                say_reason(saying, owner, p);
        }
}

/* Where prefetching makes several lines behave as one. */
static void say_wide_lines(struct saying *saying, const struct strata_probed *probed)
{
    for (int i = 0; i < cache_count(probed); i++) {
        const struct strata_probed_cache *cache = &probed->caches[i];
        const struct strata_value *wide = &cache->effective_line;
        if (!value_known(wide) ||
            (value_known(&cache->line) && cache->line.value == wide->value))
            continue;
        char name[32], bytes[SIZE_TEXT], text[160];
        cache_name(cache->level, name, sizeof name);
        snprintf(text, sizeof text,
                 "%s line: %s bytes behave as one line (effective line).", name,
                 format_size_short(wide->value, bytes));
        remark(saying, text);
    }
}

/* Not sure, and no twin above it that is named for both. */
static bool is_doubt(const struct owner *owner, const struct param *p)
{
    return value_doubtful(param_value(owner->values, p)) &&
           !(p->twin && value_doubtful(param_value(owner->values, p - p->twin)));
}

static void say_doubts(struct saying *saying)
{
    char text[1000], sure[32];
    size_t used = 0;
    for (size_t i = 0; i < saying->n; i++)
        for (const struct param *p = saying->owners[i].params; p->key; p++) {
            const struct owner *owner = &saying->owners[i];
            if (!is_doubt(owner, p))
                continue;
            saying->doubtful++;
            format_sure(param_value(owner->values, p)->confidence, sure, sizeof sure);
            if (used + 80 < sizeof text)
                used += (size_t)snprintf(
                    text + used, sizeof text - used, "%s%s %s (%s)",
                    used ? ", " : "? less than 95% sure: ", owner->name, p->label, sure);
        }
    if (used) {
        snprintf(text + used, sizeof text - used, ".");
        say(saying, text);
    }
}

/* An interval of a time that is wide enough to matter; those of capacities are in the
 * table. */
static bool is_wide(const struct owner *owner, const struct param *p)
{
    const struct strata_value *value = param_value(owner->values, p);
    bool covered = p->twin && value_known(param_value(owner->values, p - p->twin));
    bool time = p->unit == PARAM_CYCLES || p->unit == PARAM_NS;
    /* to half a cycle is to the cycle */
    bool exact = p->unit == PARAM_CYCLES && value->high - value->low <= 1;
    return time && !covered && !exact && value_known(value) &&
           value->high - value->low > 0.2 * value->value;
}

static void say_wide_times(struct saying *saying)
{
    for (size_t i = 0; i < saying->n; i++)
        for (const struct param *p = saying->owners[i].params; p->key; p++) {
            const struct owner *owner = &saying->owners[i];
            const struct strata_value *value = param_value(owner->values, p);
            char text[160];
            if (!is_wide(owner, p))
                continue;
            snprintf(text, sizeof text, "%.31s %s: between %.0f and %.0f %s.", owner->name,
                     p->label, value->low, value->high,
                     p->unit == PARAM_NS ? "ns" : "cycles");
            remark(saying, text);
        }
}

/* The parameters of one owner that something told: "; L2 size, line, ways". */
static size_t list_told(const struct owner *owner, const char *by, char *text, size_t size)
{
    size_t used = 0;
    for (const struct param *p = owner->params; p->key && used < size; p++) {
        const struct strata_value *value = param_value(owner->values, p);
        if (value_known(value) && !p->twin && strcmp(value->by, by) == 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s%s",
                                     used ? ", " : owner->name, used ? "" : " ", p->label);
    }
    return used;
}

/* "by l2_misses, standard: L2 size, line, ways." */
static void say_source(struct saying *saying, const char *by)
{
    char text[1000], told[160];
    size_t used = (size_t)snprintf(text, sizeof text, "by %s:", by);
    const char *gap = " ";
    for (size_t i = 0; i < saying->n; i++)
        if (list_told(&saying->owners[i], by, told, sizeof told) &&
            used + 200 < sizeof text) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", gap, told);
            gap = "; ";
        }
    remark(saying, text);
}

/* Whether an owner before this one, or a parameter before this one, has the same source. */
static bool source_named(const struct owner *owners, size_t i, const struct param *param)
{
    const char *by = param_value(owners[i].values, param)->by;
    for (size_t j = 0; j <= i; j++)
        for (const struct param *p = owners[j].params; p->key; p++) {
            if (j == i && p == param)
                break;
            const struct strata_value *value = param_value(owners[j].values, p);
            if (value_known(value) && !p->twin && strcmp(value->by, by) == 0)
                return true;
        }
    return false;
}

/* What told which parameter, where that was not simply the clock. */
static void say_sources(struct saying *saying)
{
    for (size_t i = 0; i < saying->n; i++)
        for (const struct param *p = saying->owners[i].params; p->key; p++) {
            const struct strata_value *value = param_value(saying->owners[i].values, p);
            if (value_known(value) && *value->by && !p->twin &&
                !source_named(saying->owners, i, p))
                say_source(saying, value->by);
        }
}

static struct saying say_all(FILE *out, const struct strata_probed *probed, int width)
{
    struct saying saying = {.out = out, .width = bound(width, 40, 200)};
    saying.n = list_owners(probed, saying.owners);
    say_unknown(&saying);
    say_doubts(&saying);
    say_wide_lines(&saying, probed);
    say_wide_times(&saying);
    say_sources(&saying);
    for (int i = 0; i < note_count(probed); i++)
        remark(&saying, probed->notes[i]);
    return saying;
}

void probe_why(FILE *out, const struct strata_probed *probed, int width)
{
    say_all(out, probed, width);
}

/* ", 3 remarks", without the comma where it is the first. */
static void add_count(char *text, size_t size, size_t n, const char *one, const char *many)
{
    size_t used = strlen(text);
    if (n)
        snprintf(text + used, size - used, "%s%zu %s", used ? ", " : "", n,
                 n > 1 ? many : one);
}

void probe_why_line(FILE *out, const struct strata_probed *probed, int width)
{
    struct style style = style_make(false);
    struct saying counted = say_all(NULL, probed, width);
    char text[200] = "", one[40], many[40];
    snprintf(one, sizeof one, "value not known (%s)", style_dash(&style));
    snprintf(many, sizeof many, "values not known (%s)", style_dash(&style));
    add_count(text, sizeof text, counted.unknown, one, many);
    if (counted.unknown)
        add_count(text, sizeof text, counted.doubtful, "uncertain (?)", "uncertain (?)");
    else
        add_count(text, sizeof text, counted.doubtful, "value uncertain (?)",
                  "values uncertain (?)");
    add_count(text, sizeof text, counted.remarks, "remark", "remarks");
    if (!*text)
        return;
    snprintf(text + strlen(text), sizeof text - strlen(text), ": --why");
    print_folded(out, text, bound(width, 40, 200), 2);
}
