/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The export to callgrind's format; callgrind.h has the idea.
 *
 * Long names are written once, as "(12) name", and then as "(12)". */
#include "report/callgrind.h"

#include "core/utf8.h"
#include "core/version.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EVENTS = 3 + STRATA_MAX_CACHES + STRATA_MAX_TLBS, MOST_NUMBERED = 1 << 24 };

/* Numbers of names that were written in full before. */
struct numbered {
    bool *seen;
    size_t n;
};

struct exporting {
    FILE *out;
    const struct profile *profile;
    struct numbered functions, files, modules;
    uint64_t object_id; /* the one whose costs come; 0: none yet */
    char *object;
    uint64_t own[MAX_EVENTS], all[MAX_EVENTS]; /* its sum, and that of all */
    uint64_t function_id, file_id, module_id;  /* the block that is open */
    bool open;
};

/* Names. */

/* Marks a number; says whether it was marked before. A number that is too large for the
 * list, as no profile of strata has, or for which memory is short, is always new. */
static bool mark(struct numbered *numbered, uint64_t number)
{
    if (number >= MOST_NUMBERED)
        return false;
    if (number >= numbered->n) {
        size_t n = 2 * (size_t)number + 64;
        bool *grown = realloc(numbered->seen, n * sizeof *grown);
        if (!grown)
            return false;
        memset(grown + numbered->n, 0, (n - numbered->n) * sizeof *grown);
        numbered->seen = grown;
        numbered->n = n;
    }
    bool before = numbered->seen[number];
    numbered->seen[number] = true;
    return before;
}

static void print_name(FILE *out, const char *key, struct numbered *numbered,
                       uint64_t number, const char *name)
{
    fprintf(out, "%s=(%" PRIu64 ")", key, number);
    if (!mark(numbered, number)) {
        size_t size = strlen(name) + 1;
        char *clean = malloc(size);
        fprintf(out, " %s", clean ? utf8_clean(name, clean, size) : "?");
        free(clean);
    }
    putc('\n', out);
}

/* Number 1 is what is not known, 2 the file and module of all objects: their own, so that
 * an object and a function of one name stay apart. Objects and functions share one list of
 * numbers: even ones are objects. */

static void print_place(struct exporting *exporting, const char *ob, const char *fl,
                        const struct cost *cost)
{
    bool code = cost != NULL;
    uint64_t module = code && cost->module ? cost->module_id + 2 : code ? 1 : 2;
    print_name(exporting->out, ob, &exporting->modules, module,
               !code          ? "(data)"
               : cost->module ? cost->module
                              : "???");
    uint64_t file = code && cost->file ? cost->file_id + 2 : code ? 1 : 2;
    print_name(exporting->out, fl, &exporting->files, file,
               !code        ? "(data)"
               : cost->file ? cost->file
                            : "???");
}

/* Costs. */

static size_t events_of(const struct profile *profile)
{
    bool exact = profile->collect & RAW_EXACT;
    return 3 + profile->cache_levels - (exact ? 0 : profile->event_level - 1) +
           (exact ? profile->tlb_levels : 0);
}

/* Levels of which samples tell nothing are left out. */
static void list_events(const struct profile *profile, const struct figures *figures,
                        uint64_t events[MAX_EVENTS])
{
    bool exact = profile->collect & RAW_EXACT;
    uint32_t first = exact ? 0 : profile->event_level - 1;
    events[0] = figures->latency;
    events[1] = figures->events;
    events[2] = figures->stores;
    for (size_t i = 3; i < events_of(profile); i++)
        events[i] = figures->misses[first + i - 3];
}

static void print_costs(FILE *out, const uint64_t *events, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %" PRIu64, events[i]);
    putc('\n', out);
}

/* The own cost of the object whose accesses have all been seen. */
static void end_object(struct exporting *exporting)
{
    if (!exporting->object_id)
        return;
    print_place(exporting, "ob", "fl", NULL);
    print_name(exporting->out, "fn", &exporting->functions, 2 * exporting->object_id,
               exporting->object);
    fputc('0', exporting->out);
    print_costs(exporting->out, exporting->own, events_of(exporting->profile));
    memset(exporting->own, 0, sizeof exporting->own);
    exporting->open = false;
}

static int begin_object(struct exporting *exporting, const struct cost *cost)
{
    free(exporting->object);
    exporting->object = strdup(cost->object ? cost->object : "?");
    exporting->object_id = cost->object_id;
    return exporting->object ? 0 : -1;
}

static void begin_function(struct exporting *exporting, const struct cost *cost)
{
    if (exporting->open && exporting->function_id == cost->function_id &&
        exporting->file_id == cost->file_id && exporting->module_id == cost->module_id)
        return;
    print_place(exporting, "ob", "fl", cost);
    print_name(exporting->out, "fn", &exporting->functions, 2 * cost->function_id + 1,
               cost->function ? cost->function : "(no symbol)");
    exporting->function_id = cost->function_id;
    exporting->file_id = cost->file_id;
    exporting->module_id = cost->module_id;
    exporting->open = true;
}

static int take_cost(void *context, const struct cost *cost)
{
    struct exporting *exporting = context;
    uint64_t events[MAX_EVENTS];
    size_t n = events_of(exporting->profile);
    if (cost->object_id != exporting->object_id) {
        end_object(exporting);
        if (begin_object(exporting, cost))
            return -1;
    }
    begin_function(exporting, cost);
    print_place(exporting, "cob", "cfi", NULL);
    print_name(exporting->out, "cfn", &exporting->functions, 2 * cost->object_id,
               exporting->object);
    list_events(exporting->profile, &cost->figures, events);
    fprintf(exporting->out, "calls=%" PRIu64 " 0\n%" PRIu64, cost->figures.events,
            cost->line);
    print_costs(exporting->out, events, n);
    for (size_t i = 0; i < n; i++) {
        exporting->own[i] += events[i];
        exporting->all[i] += events[i];
    }
    return 0;
}

/* The header. */

static void print_meta(FILE *out, const struct profile *profile, const char *key,
                       const char *before)
{
    char *text = profile_meta(profile, key);
    size_t size = text ? strlen(text) + 1 : 0;
    char *clean = text ? malloc(size) : NULL;
    if (clean)
        fprintf(out, "%s%s\n", before, utf8_clean(text, clean, size));
    free(clean);
    free(text);
}

static void print_header(FILE *out, const struct profile *profile)
{
    bool exact = profile->collect & RAW_EXACT;
    uint32_t first = exact ? 1 : profile->event_level;
    uint32_t tlbs = exact ? profile->tlb_levels : 0;
    fprintf(out, "# callgrind format\nversion: 1\ncreator: strata %s\n", build_version);
    print_meta(out, profile, "program", "cmd: ");
    print_meta(out, profile, "machine_name", "desc: Machine: ");
    print_meta(out, profile, "collect", "desc: Collected: ");
    fputs("positions: line\nevent: Latency : cycles of events\n"
          "event: Events : accesses that missed the nearest cache or TLB\n"
          "event: Stores : events that were stores\n",
          out);
    for (uint32_t i = first; i <= profile->cache_levels; i++)
        fprintf(out, "event: L%um : misses of cache level %u\n", i, i);
    for (uint32_t i = 1; i <= tlbs; i++)
        fprintf(out, "event: T%um : misses of TLB level %u\n", i, i);
    fputs("events: Latency Events Stores", out);
    for (uint32_t i = first; i <= profile->cache_levels; i++)
        fprintf(out, " L%um", i);
    for (uint32_t i = 1; i <= tlbs; i++)
        fprintf(out, " T%um", i);
    fputs("\n\n", out);
}

int callgrind_export(FILE *out, const struct profile *profile, struct strata_error *error)
{
    struct exporting exporting = {.out = out, .profile = profile};
    print_header(out, profile);
    int status = costs_each(profile, take_cost, &exporting, error);
    end_object(&exporting);
    fputs("\ntotals:", out);
    print_costs(out, exporting.all, events_of(profile));
    free(exporting.object);
    free(exporting.functions.seen);
    free(exporting.files.seen);
    free(exporting.modules.seen);
    return status;
}
