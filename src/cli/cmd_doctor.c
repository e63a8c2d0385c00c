/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata doctor: what this machine offers for measuring, and what to do about it.
 *
 *     no    hardware counters       there is no PMU, or the hypervisor hides it (ENOENT)
 *                                   > nothing to change inside a guest; ...
 *     ok    clock                   tsc: smallest step 20 ns, a reading takes 22 ns
 *
 * It always exits with 0: a machine without counters is a finding, not a failure. */
#include "cli/commands.h"
#include "cli/term.h"
#include "core/fail.h"
#include "host/facts.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *mark;
    enum term_colour colour;
} looks[] = {
    [FACT_GOOD] = {"ok", TERM_GREEN},
    [FACT_LIMITED] = {"so-so", TERM_YELLOW},
    [FACT_MISSING] = {"no", TERM_RED},
    [FACT_UNKNOWN] = {"?", TERM_YELLOW},
};

/* Beside the names there is room for what was found, or else below them. */
static void print_fact(const struct fact *fact, bool colour)
{
    enum { BESIDE = 32, BELOW = 8, NARROW = 72 };
    bool below = term_text_columns(stdout) < NARROW;
    int column = below ? BELOW : BESIDE;
    char name[32];
    snprintf(name, sizeof name, "%s", fact->name);
    for (char *p = name; *p; p++)
        if (*p == '_')
            *p = ' ';
    printf("  %s%-5s%s %-*s", term_colour(colour, looks[fact->state].colour),
           looks[fact->state].mark, term_colour(colour, TERM_PLAIN),
           below ? 0 : BESIDE - BELOW, name);
    if (below)
        printf("\n%*s", BELOW, "");
    term_wrap(stdout, column, column, fact->found);
    if (fact->advice[0]) {
        printf("%*s> ", column, "");
        term_wrap(stdout, column + 2, column + 2, fact->advice);
    }
}

static int print_json(const struct fact *facts, size_t n, struct strata_error *error)
{
    json_t *rows = json_array();
    int bad = rows == NULL;
    for (size_t i = 0; i < n && !bad; i++) {
        const char *advice = facts[i].advice[0] ? facts[i].advice : NULL;
        bad = json_array_append_new(rows,
                                    json_pack("{s:s,s:s,s:s,s:s?}", "name", facts[i].name,
                                              "state", fact_state_name(facts[i].state),
                                              "found", facts[i].found, "advice", advice));
    }
    json_t *object =
        bad ? NULL : json_pack("{s:s,s:O}", "schema", "strata.doctor/1", "facts", rows);
    char *text = object ? json_dumps(object, JSON_INDENT(2)) : NULL;
    if (text)
        puts(text);
    json_decref(object);
    json_decref(rows);
    if (!text)
        return fail(error, STRATA_FAILED, "cannot write the facts as JSON");
    free(text);
    return STRATA_OK;
}

int cmd_doctor(const struct options *options, struct strata_error *error)
{
    struct fact facts[FACTS_MAX];
    size_t n = facts_collect("", facts);
    if (option_given(options, "json"))
        return print_json(facts, n, error);
    bool colour = term_has_colour(stdout);
    for (size_t i = 0; i < n; i++)
        print_fact(&facts[i], colour);
    fputs("\nnext    strata probe    ", stdout);
    term_wrap(stdout, 24, 24, "finds the memory hierarchy by the clock alone");
    return STRATA_OK;
}
