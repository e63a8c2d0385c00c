/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Logs of trials as JSON, and back. Strings and walks are arrays and not objects: there are
 * tens of thousands of walks. What is read is checked as far as a probe that replays it
 * relies on it. */
#include "dataset/trials_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Writing. jansson's setters take NULL for a value that could not be made and return -1. */

static json_t *finished(json_t *json, int bad)
{
    if (!bad)
        return json;
    json_decref(json);
    return NULL;
}

static json_t *grounds_json(const struct trials *trials)
{
    json_t *array = json_array();
    int bad = !array;
    for (int i = 0; i < TRIAL_ARENAS; i++)
        bad |= json_array_append_new(
            array, json_pack("{s:I,s:I}", "page", (json_int_t)trials->ground[i].page,
                             "bytes", (json_int_t)trials->ground[i].bytes));
    return finished(array, bad);
}

static json_t *string_json(const struct trial_string *string)
{
    json_t *array = json_pack("[s,i]", string->name, (int)string->arena);
    int bad = !array;
    for (uint32_t i = 0; i < string->n; i++)
        bad |= json_array_append_new(array, json_integer((json_int_t)string->given[i]));
    return finished(array, bad);
}

static json_t *walk_json(const struct trial_walk *walk)
{
    return json_pack("[i,i,I,f,I,i,i]", (int)walk->string, (int)walk->cpu,
                     (json_int_t)walk->us, walk->cycles, (json_int_t)walk->visits,
                     (int)walk->repeats, (int)walk->disturbed);
}

json_t *trials_json(const struct trials *trials)
{
    json_t *strings = json_array(), *walks = json_array(), *leaves = json_array();
    int bad = 0;
    for (size_t i = 0; i < trials->nstrings; i++)
        bad |= json_array_append_new(strings, string_json(&trials->strings[i]));
    for (size_t i = 0; i < trials->nwalks; i++)
        bad |= json_array_append_new(walks, walk_json(&trials->walks[i]));
    for (size_t i = 0; i < trials->nleaves; i++)
        bad |= json_array_append_new(leaves, json_integer(trials->leaves[i]));
    json_t *budget = isfinite(trials->budget) ? json_real(trials->budget) : json_null();
    json_t *object =
        json_pack("{s:o,s:o,s:f,s:i,s:b,s:b,s:o,s:o,s:o}", "ground", grounds_json(trials),
                  "budget", budget, "tick_ns", trials->tick_ns, "cpu", trials->cpu,
                  "simulated", (int)trials->simulated, "guest", (int)trials->guest,
                  "strings", strings, "walks", walks, "leaves", leaves);
    return object ? finished(object, bad) : NULL;
}

/* Reading. */

__attribute__((format(printf, 2, 3))) static int wrong(char why[TRIALS_WHY],
                                                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, TRIALS_WHY, format, arguments);
    va_end(arguments);
    return -1;
}

/* A whole number from `least` to `most`. */
static bool whole(const json_t *json, int64_t least, int64_t most, int64_t *number)
{
    *number = json_integer_value(json);
    return json_is_integer(json) && *number >= least && *number <= most;
}

/* The ground has whole pages; a probe needs some of the first kind. */
static int read_ground(const json_t *array, struct trials *trials, char why[TRIALS_WHY])
{
    const int64_t most = INT64_C(1) << 36;
    for (int i = 0; i < TRIAL_ARENAS; i++) {
        const json_t *entry = json_array_get(array, (size_t)i);
        int64_t page, bytes;
        if (!whole(json_object_get(entry, "page"), 0, INT64_C(1) << 30, &page) ||
            !whole(json_object_get(entry, "bytes"), 0, most, &bytes))
            return wrong(why, "ground[%d] must have whole numbers \"page\" and \"bytes\"",
                         i);
        if ((page & (page - 1)) || (page && page < 256) || (page ? bytes % page : bytes) ||
            (i == 0 && !bytes))
            return wrong(why, "ground[%d]: no pages of %lld bytes fill %lld", i,
                         (long long)page, (long long)bytes);
        trials->ground[i] =
            (struct trial_ground){.page = (uint64_t)page, .bytes = (uint64_t)bytes};
    }
    return 0;
}

static int read_head(const json_t *json, struct trials *trials, char why[TRIALS_WHY])
{
    const json_t *budget = json_object_get(json, "budget"),
                 *tick = json_object_get(json, "tick_ns");
    int64_t cpu;
    trials->budget = json_is_null(budget) ? INFINITY : json_number_value(budget);
    if (!(trials->budget > 0))
        return wrong(why, "\"budget\" must be a number above 0, or null");
    if (!json_is_number(tick) ||
        !whole(json_object_get(json, "cpu"), -1, INT32_MAX, &cpu) ||
        !json_is_boolean(json_object_get(json, "simulated")) ||
        !json_is_boolean(json_object_get(json, "guest")))
        return wrong(why, "\"tick_ns\" and \"cpu\" must be numbers, \"simulated\" and "
                          "\"guest\" true or false");
    trials->tick_ns = json_number_value(tick);
    trials->cpu = (int)cpu;
    trials->simulated = json_is_true(json_object_get(json, "simulated"));
    trials->guest = json_is_true(json_object_get(json, "guest"));
    return read_ground(json_object_get(json, "ground"), trials, why);
}

static int read_string(const json_t *entry, size_t i, struct trials *trials,
                       char why[TRIALS_WHY])
{
    struct trial_string string = {.n = 0};
    const json_t *name = json_array_get(entry, 0);
    size_t size = json_array_size(entry);
    int64_t number;
    if (!json_is_string(name) || json_string_length(name) >= sizeof string.name ||
        !whole(json_array_get(entry, 1), 0, TRIAL_ARENAS - 1, &number) ||
        size > 2 + TRIAL_PARAMETERS)
        return wrong(why, "strings[%zu] must have a name, an arena and up to %d numbers", i,
                     TRIAL_PARAMETERS);
    strcpy(string.name, json_string_value(name));
    string.arena = (uint32_t)number;
    for (size_t j = 2; j < size; j++) {
        if (!whole(json_array_get(entry, j), 0, INT64_MAX, &number))
            return wrong(why, "strings[%zu][%zu] must be a whole number from 0", i, j);
        string.given[string.n++] = (uint64_t)number;
    }
    if (trials_find(trials, &string) >= 0)
        return wrong(why, "strings[%zu] is there twice", i);
    return trials_string(trials, &string) < 0 ? -1 : 0;
}

static int read_walk(const json_t *entry, size_t i, struct trials *trials,
                     char why[TRIALS_WHY])
{
    int64_t string, cpu, us, visits, repeats, disturbed;
    uint64_t before = i ? trials->walks[i - 1].us : 0;
    const json_t *cycles = json_array_get(entry, 3);
    if (json_array_size(entry) != 7 ||
        !whole(json_array_get(entry, 0), 0, (int64_t)trials->nstrings - 1, &string) ||
        !whole(json_array_get(entry, 1), -1, INT32_MAX, &cpu) ||
        !whole(json_array_get(entry, 2), (int64_t)before, INT64_C(1) << 53, &us) ||
        !json_is_number(cycles) || json_number_value(cycles) < 0 ||
        !whole(json_array_get(entry, 4), 0, INT64_C(1) << 53, &visits) ||
        !whole(json_array_get(entry, 5), 0, INT32_MAX, &repeats) ||
        !whole(json_array_get(entry, 6), 0, 1, &disturbed))
        return wrong(why,
                     "walks[%zu] must be [string, cpu, microseconds that do not go back, "
                     "cycles, visits, repeats, disturbed]",
                     i);
    return trials_add(trials, &(struct trial_walk){.string = (uint32_t)string,
                                                   .cpu = (int32_t)cpu,
                                                   .us = (uint64_t)us,
                                                   .cycles = json_number_value(cycles),
                                                   .visits = (uint64_t)visits,
                                                   .repeats = (uint32_t)repeats,
                                                   .disturbed = disturbed});
}

static int read_leave(const json_t *entry, size_t i, struct trials *trials,
                      char why[TRIALS_WHY])
{
    int64_t left;
    return whole(entry, 0, 1, &left) ? trials_leave(trials, left)
                                     : wrong(why, "leaves[%zu] must be 0 or 1", i);
}

static const struct list {
    const char *key;
    int (*read)(const json_t *entry, size_t i, struct trials *trials, char why[TRIALS_WHY]);
} lists[] = {{"strings", read_string}, {"walks", read_walk}, {"leaves", read_leave}};

static int read_lists(const json_t *json, struct trials *trials, char why[TRIALS_WHY])
{
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        const json_t *array = json_object_get(json, lists[l].key);
        if (!json_is_array(array))
            return wrong(why, "\"%s\" must be an array", lists[l].key);
        for (size_t i = 0; i < json_array_size(array); i++)
            if (lists[l].read(json_array_get(array, i), i, trials, why))
                return -1;
    }
    return 0;
}

int trials_read(const json_t *json, struct trials **trials, char why[TRIALS_WHY])
{
    struct trials *made = trials_create();
    *why = '\0';
    if (!made)
        return -1;
    if (read_head(json, made, why) || read_lists(json, made, why)) {
        trials_release(made);
        return -1;
    }
    *trials = made;
    return 0;
}
