/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata machines: what --machine takes besides a file.
 *
 *     amd-zen-4                       AMD Zen 4: L1 32K, L2 1M, L3 32M
 *
 * A file that cannot be read is listed with the reason. */
#include "cli/commands.h"
#include "cli/term.h"
#include "collect/places.h"
#include "core/fail.h"
#include "core/units.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <strata/machine.h>
#include <string.h>

static const char ending[] = ".machine";

static size_t name_length(const char *file)
{
    size_t length = strlen(file), n = strlen(ending);
    return length > n && strcmp(file + length - n, ending) == 0 ? length - n : 0;
}

static int is_machine(const struct dirent *entry)
{
    return name_length(entry->d_name) > 0;
}

/* What one of them is; `error` says why it cannot be read. */
struct listed {
    char name[NAME_MAX + 1];
    int status;
    struct strata_machine machine;
    struct strata_error error;
};

static void read_listed(const char *folder, const char *file, struct listed *listed)
{
    char path[PATH_MAX];
    *listed = (struct listed){.status = STRATA_FAILED};
    snprintf(listed->name, sizeof listed->name, "%.*s", (int)name_length(file), file);
    if (snprintf(path, sizeof path, "%s/%s", folder, file) < PATH_MAX)
        listed->status = strata_machine_read(path, &listed->machine, &listed->error);
}

/* Only caches that hold data: "L1 32K, L2 1M". */
static bool holds_data(const struct strata_cache *cache)
{
    return cache->kind != STRATA_INSTRUCTION;
}

static void describe(const struct listed *listed, char *text, size_t size)
{
    const struct strata_machine *m = &listed->machine;
    if (listed->status) {
        snprintf(text, size, "cannot be read: %s", listed->error.text);
        return;
    }
    size_t used = (size_t)snprintf(text, size, "%s", m->name);
    const char *gap = ":";
    for (uint32_t i = 0; i < m->ncaches && used < size; i++) {
        char bytes[SIZE_TEXT];
        if (!holds_data(&m->caches[i]))
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s L%" PRIu32 " %s", gap,
                                 m->caches[i].level, format_size(m->caches[i].size, bytes));
        gap = ",";
    }
}

static void print_listed(const struct listed *listed, bool colour)
{
    enum { BESIDE = 34, BELOW = 6, NARROW = 72 };
    bool below = term_text_columns(stdout) < NARROW;
    int column = below ? BELOW : BESIDE, length = (int)strlen(listed->name);
    char text[1024];
    describe(listed, text, sizeof text);
    printf("  %s%s%s", term_colour(colour, TERM_BOLD), listed->name,
           term_colour(colour, TERM_PLAIN));
    if (below || length + 4 > column)
        printf("\n%*s", column, "");
    else
        printf("%*s", column - length - 2, "");
    term_wrap(stdout, column, column, text);
}

static json_t *caches_json(const struct strata_machine *m)
{
    json_t *array = json_array();
    int bad = !array;
    for (uint32_t i = 0; i < m->ncaches && !bad; i++)
        if (holds_data(&m->caches[i]))
            bad = json_array_append_new(
                array, json_pack("{s:i,s:I,s:i,s:i,s:i}", "level", (int)m->caches[i].level,
                                 "size", (json_int_t)m->caches[i].size, "line",
                                 (int)m->caches[i].line, "ways", (int)m->caches[i].ways,
                                 "latency_cycles", (int)m->caches[i].latency));
    if (!bad)
        return array;
    json_decref(array);
    return NULL;
}

static json_t *listed_json(const struct listed *listed)
{
    const struct strata_machine *m = &listed->machine;
    if (listed->status)
        return json_pack("{s:s,s:n,s:s}", "name", listed->name, "processor", "why",
                         listed->error.text);
    return json_pack("{s:s,s:s,s:o,s:i}", "name", listed->name, "processor", m->name,
                     "caches", caches_json(m), "memory_cycles", (int)m->memory_latency);
}

static int print_json(json_t *rows, struct strata_error *error)
{
    json_t *object =
        rows ? json_pack("{s:s,s:O}", "schema", "strata.machines/1", "machines", rows)
             : NULL;
    char *text = object ? json_dumps(object, JSON_INDENT(2)) : NULL;
    json_decref(object);
    if (!text)
        return fail(error, STRATA_FAILED, "out of memory while writing JSON");
    puts(text);
    free(text);
    return STRATA_OK;
}

/* Prints each, or adds it to the rows of JSON. */
static int list(const char *folder, struct dirent **files, int n, bool json,
                struct strata_error *error)
{
    bool colour = term_has_colour(stdout);
    json_t *rows = json ? json_array() : NULL;
    int bad = json && !rows;
    for (int i = 0; i < n && !bad; i++) {
        struct listed listed;
        read_listed(folder, files[i]->d_name, &listed);
        if (json)
            bad = json_array_append_new(rows, listed_json(&listed));
        else
            print_listed(&listed, colour);
    }
    int status = json ? print_json(bad ? NULL : rows, error) : STRATA_OK;
    json_decref(rows);
    return status;
}

int cmd_machines(const struct options *options, struct strata_error *error)
{
    char folder[PATH_MAX];
    struct dirent **files = NULL;
    bool json = option_given(options, "json");
    int status = place_of_machines(folder, error);
    if (status)
        return status;
    int n = scandir(folder, &files, is_machine, alphasort);
    if (n < 0)
        return fail(error, STRATA_FAILED, "%s: %s", folder, strerror(errno));
    status = list(folder, files, n, json, error);
    for (int i = 0; i < n; i++)
        free(files[i]);
    free(files);
    if (!status && !json) {
        fputs("\nnext    strata probe --machine NAME    ", stdout);
        term_wrap(stdout, 39, 39, "probes one in the simulator");
    }
    return status;
}
