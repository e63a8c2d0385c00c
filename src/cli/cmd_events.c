/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata events: which events there are, what they count and how they are encoded, of this
 * processor or any other.
 *
 *     $ strata events l1d
 *     AMD Zen 3 (zen-3.events)
 *       l1d_misses             lines brought into the L1 data cache, prefetches included
 *                              ANY_DATA_CACHE_FILLS_FROM_SYSTEM:... or
 *                              event=0x44,umask=0x5f
 *
 * Without a pattern it lists the plain names of this processor, of the kernel and of the
 * simulated machine; with one it also searches libpfm4's events of the PMUs that this
 * processor has. --pmu names another: one of libpfm4's, a table in metrics/, or sim. */
#include "cli/commands.h"
#include "cli/term.h"
#include "core/fail.h"
#include "core/utf8.h"
#include "host/shipped.h"
#include "pmu/model.h"
#include "pmu/names.h"
#include "pmu/virtual.h"

#include <fnmatch.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line of the answer. */
struct found {
    const char *pmu, *name, *about, *code;
    bool present;
};

/* What is looked for, and where the answer goes. */
struct search {
    const char *pattern; /* NULL: everything */
    const char *pmu;     /* NULL: what this machine has */
    bool csv;
    json_t *rows; /* NULL: print */
    size_t n, groups;
    bool failed;       /* no memory */
    char heading[128]; /* that is due before the next line; "": none */
};

/* Matching and printing. */

static bool contains(const char *text, const char *part)
{
    return strcasestr(text, part) != NULL;
}

/* A pattern with * ? [ is for the whole name; other words are looked for anywhere. */
static bool matches(const struct search *search, const char *name, const char *about)
{
    const char *pattern = search->pattern;
    if (!pattern)
        return true;
    if (strpbrk(pattern, "*?["))
        return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
    return contains(name, pattern) || contains(about, pattern);
}

static void put_csv(const char *text, char end)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
    putchar(end);
}

/* A name with many unit masks is wider than a line: its code says the same. */
static const char *shorten(const char *text, char *out, size_t size)
{
    enum { MOST = 50 };
    size_t used = 0;
    for (const char *word = text; *word && used + MOST + 8 < size;) {
        size_t length = strcspn(word, " "), colon = strcspn(word, ":");
        bool cut = length > MOST && colon < length;
        used += (size_t)snprintf(out + used, size - used, "%.*s%s",
                                 (int)(cut ? colon + 1 : length), word, cut ? "..." : "");
        word += length;
        if (*word == ' ') {
            out[used++] = *word++;
            out[used] = '\0';
        }
    }
    return out;
}

static void print_text(struct search *search, const struct found *found)
{
    enum { COLUMN = 26 };
    if (*search->heading) {
        printf("%s%s\n", search->groups++ ? "\n" : "", search->heading);
        *search->heading = '\0';
    }
    int used = printf("  %s", found->name);
    if (used > COLUMN - 2)
        used = (putchar('\n'), 0);
    printf("%*s", COLUMN - used, "");
    term_wrap(stdout, COLUMN, COLUMN, *found->about ? found->about : "(no description)");
    if (!*found->code)
        return;
    char code[800] = "";
    printf("%*s", COLUMN, "");
    term_wrap(stdout, COLUMN, COLUMN, shorten(found->code, code, sizeof code));
}

static void add_json(struct search *search, const struct found *found)
{
    char about[600];
    utf8_clean(found->about, about, sizeof about);
    if (json_array_append_new(search->rows,
                              json_pack("{s:s,s:s,s:s,s:s,s:b}", "pmu", found->pmu, "name",
                                        found->name, "about", about, "code", found->code,
                                        "present", found->present)) != 0)
        search->failed = true;
}

static void take(struct search *search, const struct found *found)
{
    if (!matches(search, found->name, found->about))
        return;
    search->n++;
    if (search->rows)
        add_json(search, found);
    else if (search->csv) {
        put_csv(found->pmu, ',');
        put_csv(found->name, ',');
        put_csv(found->code, ',');
        put_csv(found->about, '\n');
    } else
        print_text(search, found);
}

/* Where events come from. */

struct table_search {
    struct search *search;
    const char *pmu;
    bool present;
};

static void take_row(const struct event_table *owner, const struct event_row *row,
                     void *context)
{
    struct table_search *in = context;
    char code[800] = "";
    size_t used = 0;
    (void)owner;
    for (uint32_t i = 0; i < row->nways && used < sizeof code; i++)
        used += (size_t)snprintf(code + used, sizeof code - used, "%s%s", i ? " or " : "",
                                 row->ways[i]);
    take(in->search, &(struct found){.pmu = in->pmu,
                                     .name = row->name,
                                     .about = row->about,
                                     .code = code,
                                     .present = in->present});
}

static void search_table(struct search *search, const struct event_table *table,
                         const char *key, const char *title, bool present)
{
    struct table_search in = {.search = search, .pmu = key, .present = present};
    snprintf(search->heading, sizeof search->heading, "%.60s (%.40s.events)", title, key);
    event_each(table, take_row, &in);
}

static void search_kernel(struct search *search)
{
    const char *name, *about;
    uint32_t type;
    uint64_t config;
    snprintf(search->heading, sizeof search->heading, "of the kernel");
    for (size_t i = 0; (name = pmu_kernel_event(i, &about, &type, &config)); i++) {
        char code[64];
        snprintf(code, sizeof code, "type %u, config 0x%llx", type,
                 (unsigned long long)config);
        take(search, &(struct found){.pmu = "kernel",
                                     .name = name,
                                     .about = about,
                                     .code = code,
                                     .present = type == PERF_TYPE_SOFTWARE});
    }
}

static void search_virtual(struct search *search)
{
    const char *name, *about;
    unsigned needs;
    snprintf(search->heading, sizeof search->heading,
             "of the simulated machine (strata stat --source sim)");
    for (size_t i = 0; (name = virtual_event(i, &about, &needs)); i++)
        take(search,
             &(struct found){
                 .pmu = "sim", .name = name, .about = about, .code = "", .present = true});
}

static bool take_named(const struct named_event *event, void *context)
{
    struct search *search = context;
    char code[64] = "", name[200];
    uint32_t type;
    uint64_t config;
    if (!matches(search, event->name, event->about))
        return true;
    if (names_code(event, &type, &config))
        snprintf(code, sizeof code, "type %u, config 0x%llx", type,
                 (unsigned long long)config);
    snprintf(name, sizeof name, "%s::%s", event->pmu, event->name);
    take(search, &(struct found){.pmu = event->pmu,
                                 .name = search->pattern && strpbrk(search->pattern, "*?[")
                                             ? event->name
                                             : name,
                                 .about = event->about,
                                 .code = code,
                                 .present = event->present});
    return !search->failed;
}

/* Which of them. */

static void search_here(struct search *search, const struct pmu_model *model)
{
    for (size_t i = 0; i < model->nkinds; i++) {
        const struct pmu_model_kind *kind = &model->kinds[i];
        search_table(search, &kind->events, kind->row ? kind->row->events : "generic",
                     kind->row ? kind->row->name : "a processor that is in no table", true);
    }
    search_kernel(search);
    search_virtual(search);
    snprintf(search->heading, sizeof search->heading,
             "of libpfm4, for PMUs of this processor's kind");
    if (search->pattern)
        names_each(NULL, take_named, search);
}

/* One that was named: a table, sim, kernel, or a PMU of libpfm4. */
static int search_named(struct search *search, const char *folder,
                        struct strata_error *error)
{
    struct event_table table;
    char path[PATH_MAX];
    if (strcmp(search->pmu, "sim") == 0 || strcmp(search->pmu, "kernel") == 0) {
        (strcmp(search->pmu, "sim") == 0 ? search_virtual : search_kernel)(search);
        return STRATA_OK;
    }
    snprintf(path, sizeof path, "%.3000s/%.80s.events", folder, search->pmu);
    if (!strchr(search->pmu, '/') && access(path, F_OK) == 0) {
        int status = event_table_read(folder, search->pmu, &table, error);
        if (status)
            return status;
        search_table(search, &table, search->pmu, table.name, false);
        event_table_release(&table);
        return STRATA_OK;
    }
    snprintf(search->heading, sizeof search->heading, "%.80s, by libpfm4", search->pmu);
    if (names_each(search->pmu, take_named, search))
        return STRATA_OK;
    return fail(error, STRATA_BAD_INPUT,
                "--pmu %s: no such PMU; 'strata events --pmus' lists them", search->pmu);
}

/* The PMUs. */

struct pmu_listing {
    json_t *rows;
    bool csv, failed;
};

static void take_pmu(const char *name, const char *about, bool present, int nevents,
                     void *context)
{
    struct pmu_listing *listing = context;
    if (listing->rows)
        listing->failed =
            json_array_append_new(listing->rows, json_pack("{s:s,s:s,s:b,s:i}", "pmu", name,
                                                           "about", about, "present",
                                                           present, "events", nevents)) ||
            listing->failed;
    else if (listing->csv) {
        put_csv(name, ',');
        printf("%d,%d,", present, nevents);
        put_csv(about, '\n');
    } else
        printf("  %-22s %5d  %s%s\n", name, nevents, about,
               present ? " (this processor's)" : "");
}

static int print_json(const char *key, json_t *rows, const struct pmu_model *model,
                      struct strata_error *error)
{
    char processor[256], table[256] = "";
    for (size_t i = 0; i < model->nkinds; i++) {
        size_t used = strlen(table);
        snprintf(table + used, sizeof table - used, "%s%s", i ? " " : "",
                 model->kinds[i].row ? model->kinds[i].row->key : "unknown");
    }
    json_t *object =
        json_pack("{s:s,s:s,s:s,s:o}", "schema", "strata.events/1", "processor",
                  pmu_model_name(model, processor, sizeof processor), "microarchitecture",
                  table, key, rows);
    char *text = object ? json_dumps(object, JSON_INDENT(1)) : NULL;
    json_decref(object);
    if (!text)
        return fail(error, STRATA_FAILED, "cannot write the events as JSON: out of memory");
    puts(text);
    free(text);
    return STRATA_OK;
}

static int list_pmus(const struct pmu_model *model, bool json, bool csv,
                     struct strata_error *error)
{
    struct pmu_listing listing = {.csv = csv, .rows = json ? json_array() : NULL};
    if (csv)
        puts("pmu,present,events,about");
    names_pmus(take_pmu, &listing);
    if (json)
        return print_json("pmus", listing.rows, model, error);
    return STRATA_OK;
}

/* The command. */

static int run_search(struct search *search, const struct pmu_model *model,
                      const char *folder, struct strata_error *error)
{
    if (search->csv)
        puts("pmu,name,code,about");
    if (search->pmu) {
        int status = search_named(search, folder, error);
        if (status)
            return status;
    } else
        search_here(search, model);
    if (search->rows)
        return print_json("events", search->rows, model, error);
    if (!search->n)
        return fail(error, STRATA_BAD_INPUT,
                    "%s: no event has that in its name or description%s",
                    search->pattern ? search->pattern : "",
                    search->pmu ? "" : "; --pmu searches other processors");
    return STRATA_OK;
}

int cmd_events(const struct options *options, struct strata_error *error)
{
    struct pmu_model model;
    char folder[PATH_MAX];
    bool json = option_given(options, "json"), csv = option_given(options, "csv");
    struct search search = {.pattern = options->noperands ? options->operands[0] : NULL,
                            .pmu = option_text(options, "pmu"),
                            .csv = csv};
    if (json && csv)
        return fail(error, STRATA_BAD_INPUT, "--json and --csv: give one of them");
    int status = place_of_metrics(folder, error);
    if (!status)
        status = pmu_model_read(&model, folder, "", error);
    if (status)
        return status;
    bool pmus = option_given(options, "pmus");
    search.rows = json && !pmus ? json_array() : NULL;
    status = pmus ? list_pmus(&model, json, csv, error)
                  : run_search(&search, &model, folder, error);
    if (status && search.rows)
        json_decref(search.rows);
    pmu_model_release(&model);
    return status;
}
