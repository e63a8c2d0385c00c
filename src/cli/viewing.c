/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From options to a view on the screen; viewing.h has the contract. */
#include "cli/viewing.h"

#include "cli/suggest.h"
#include "cli/term.h"
#include "core/fail.h"
#include "report/view_report.h"
#include "views/names.h"
#include "views/view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { TOP_TEXT = 20, NAMED_AT_MOST = 5 };

#define NOISE 0.1 /* percent */

static unsigned explained; /* words, by the prompt and by views before: once is enough */

/* Names: what a person gave, as the one name of the profile that it stands for. */

static int refuse_many(const struct names *names, const char *option, const char *text,
                       size_t n, struct strata_error *error)
{
    char list[300] = "";
    size_t used = 0, named = 0;
    for (size_t i = 0; i < names->n && named < NAMED_AT_MOST; i++)
        if (names_matches(names, i, text) && used < sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.60s",
                                     named ? ", " : "", names->list[i]);
            named++;
        }
    return fail(error, STRATA_BAD_INPUT,
                "--%s %s: %zu names begin so or match: %s%s; give more of the name", option,
                text, n, list, n > named ? ", ..." : "");
}

/* The name whose first part ("mem_init" of "mem_init-main") is nearest; NULL: none is. */
static const char *nearest_part(const struct names *names, const char *text)
{
    char *parts = NULL;
    const char **list = calloc(names->n ? names->n : 1, sizeof *list);
    const char *found = NULL, *near;
    size_t size = 0;
    for (size_t i = 0; i < names->n; i++)
        size += strlen(names->list[i]) + 1;
    parts = malloc(size ? size : 1);
    if (list && parts) {
        char *to = parts;
        for (size_t i = 0; i < names->n; i++) {
            list[i] = to;
            to = stpcpy(to, names->list[i]) + 1;
            ((char *)list[i])[strcspn(list[i], "-")] = '\0';
        }
        near = nearest(text, list, names->n);
        for (size_t i = 0; near && i < names->n && !found; i++)
            found = list[i] == near ? names->list[i] : NULL;
    }
    free(parts);
    free(list);
    return found;
}

static int refuse_unknown(const struct names *names, const char *option, const char *text,
                          struct strata_error *error)
{
    const char *near = nearest(text, (const char *const *)names->list, names->n);
    if (!near)
        near = nearest_part(names, text);
    return fail(error, STRATA_BAD_INPUT, "--%s %s: no such %s in this profile%s%s%s",
                option, text, option, near ? " (did you mean " : "", near ? near : "",
                near ? "?)" : "");
}

/* *name is the caller's to free. */
static int resolve(const struct profile *profile, const struct options *options,
                   const char *option, enum name_kind kind, char **name,
                   struct strata_error *error)
{
    const char *text = option_text(options, option), *first;
    struct names names;
    if (!text)
        return STRATA_OK;
    int status = names_read(profile, kind, &names, error);
    if (status)
        return status;
    size_t n = names_match(&names, text, &first);
    if (n == 0)
        status = refuse_unknown(&names, option, text, error);
    else if (n > 1)
        status = refuse_many(&names, option, text, n, error);
    else if (!(*name = strdup(first)))
        status = fail(error, STRATA_FAILED, "out of memory");
    names_release(&names);
    return status;
}

static enum figure_order order_of(const char *word)
{
    static const char *const words[] = {
        [BY_LATENCY] = "latency", [BY_MISSES] = "misses", [BY_EVENTS] = "events"};
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0)
            return (enum figure_order)i;
    return BY_LATENCY;
}

static int read_query(const struct options *options, struct view_query *query,
                      struct strata_error *error)
{
    bool text = !option_given(options, "json") && !option_given(options, "csv");
    uint64_t top = text ? TOP_TEXT : 0, pid = 0;
    if (option_given(options, "json") && option_given(options, "csv"))
        return fail(error, STRATA_BAD_INPUT, "--json and --csv: leave one of them out");
    int status = option_whole(options, "top", 0, UINT32_MAX, &top, error);
    if (!status)
        status = option_whole(options, "process", 0, INT32_MAX, &pid, error);
    query->top = (size_t)top;
    query->least = text && !option_given(options, "top") ? NOISE : 0;
    query->sources = text;
    query->pid = option_given(options, "process") ? (int64_t)pid : -1;
    query->order = order_of(option_text(options, "sort"));
    return status;
}

/* Printing. */

static int columns_of(int fd)
{
    struct winsize size;
    bool known = isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : TERM_COLUMNS;
}

static int print_json(const struct view *view, struct strata_error *error)
{
    json_t *json = view_json(view);
    int bad = !json || json_dumpf(json, stdout, VIEW_JSON_FLAGS);
    json_decref(json);
    /* A full disk is found when stdout is flushed. */
    if (bad && !ferror(stdout))
        return fail(error, STRATA_FAILED, "out of memory while writing JSON");
    putchar('\n');
    return STRATA_OK;
}

static int print_view(const struct profile *profile, const struct options *options,
                      const struct view *view, bool heading, struct strata_error *error)
{
    bool colour = term_has_colour(stdout);
    int columns = columns_of(STDOUT_FILENO);
    if (option_given(options, "json"))
        return print_json(view, error);
    if (option_given(options, "csv")) {
        view_csv(stdout, view);
        return STRATA_OK;
    }
    if (heading)
        view_heading(stdout, view, profile->path, colour, columns);
    view_text(stdout, view, colour, columns, &explained);
    return STRATA_OK;
}

int viewing_show(const struct profile *profile, const char *view_name,
                 const struct options *options, bool heading, struct strata_error *error)
{
    struct view_query query = {.view = view_name};
    struct view view;
    char *object = NULL, *function = NULL;
    int status = read_query(options, &query, error);
    if (!status)
        status = resolve(profile, options, "object", NAMES_OBJECTS, &object, error);
    if (!status)
        status = resolve(profile, options, "function", NAMES_FUNCTIONS, &function, error);
    query.object = object;
    query.function = function;
    if (!status)
        status = view_make(profile, &query, &view, error);
    if (!status) {
        status = print_view(profile, options, &view, heading, error);
        view_release(&view);
    }
    free(object);
    free(function);
    return status;
}
