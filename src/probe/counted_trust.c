/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probing by counts: which events can be believed.
 *
 * Visits to one line in each of many pages that were not visited before miss everywhere: in
 * every cache and in every TLB, each of them once. So all events must count just as many.
 * One that stays at 0 never moves, one that shows twice as many counts twice, and one that
 * is off, or differs from one walk to the next, is noise. Visits to one line again and
 * again miss nowhere. None of these is believed: it is named, and taken off the list.
 *
 * A level whose event moves for integers, but stays at 0 for doubles, is bypassed by
 * them. */
#include "probe/counted.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WALKS = 8,
    PAGES = 128,  /* of a walk */
    AGAIN = 1024, /* visits to one line */
    RESERVED = 8, /* this part of the arena is left alone by others, for that */
};

#define OFF 0.02 /* counts that are off by more are not exact */

/* What is certain, held against what an event says. */
struct testimony {
    double least, most; /* share of the visits to new pages that were counted */
    double again;       /* of those to one line */
};

static int new_pages(struct counted *c, int walk)
{
    const struct ground *ground = &c->counting->ground[BASE_PAGES];
    uint64_t page = ground->page, at = ground->bytes - ground->bytes / RESERVED;
    struct lines lines = {0};
    int status = 0;
    at += (uint64_t)(walk * PAGES) * page;
    for (int i = 0; i < PAGES && at + page <= ground->bytes && !status; i++, at += page)
        if (lines_add(&lines, at))
            status = counted_no_memory(c);
    shuffle(c, &lines);
    if (!status)
        status = lap(c, &lines);
    lines_release(&lines);
    return status;
}

static int same_line(struct counted *c)
{
    struct lines lines = {0};
    int status = 0;
    for (int i = 0; i < AGAIN && !status; i++)
        if (lines_add(&lines, 0))
            status = counted_no_memory(c);
    if (!status)
        status = lap(c, &lines);
    lines_release(&lines);
    return status;
}

static void hear(const struct counted *c, struct testimony *all)
{
    for (int e = 0; e < COUNTED_EVENTS; e++) {
        double share = c->counts.events[e] / (double)c->counts.visits;
        all[e].least = fmin(all[e].least, share);
        all[e].most = fmax(all[e].most, share);
    }
}

/* What is wrong with an event, or "". */
static void judge(const struct testimony *t, char why[160])
{
    *why = 0;
    if (t->most == 0)
        snprintf(why, 160, "it never moves: visits that miss for certain count 0");
    else if (fabs(t->least - 2) < 2 * OFF && fabs(t->most - 2) < 2 * OFF)
        snprintf(why, 160, "it counts twice: every certain miss counts 2");
    else if (t->most - t->least > OFF)
        snprintf(why, 160,
                 "it is noise: of as many certain misses it counts %.0f%% to %.0f%%",
                 100 * t->least, 100 * t->most);
    else if (fabs(t->least - 1) > OFF)
        snprintf(why, 160, "it counts %.0f%% of the misses that are certain",
                 100 * t->least);
    else if (t->again > OFF)
        snprintf(why, 160, "it counts %.0f%% of visits that cannot miss", 100 * t->again);
}

static void dismiss(struct counted *c, int event, const char *why)
{
    struct counted_event *e = &c->counting->events[event];
    e->present = false;
    snprintf(e->why, sizeof e->why, "%s", why);
    counted_note(c, "%.32s is not believed: %s", e->name, why);
}

static int walk_all(struct counted *c, int first, struct testimony *all)
{
    int status = 0;
    for (int e = 0; e < COUNTED_EVENTS; e++)
        all[e] = (struct testimony){.least = INFINITY};
    for (int i = 0; i < WALKS && !status; i++) {
        status = new_pages(c, first + i);
        if (!status)
            hear(c, all);
    }
    if (!status)
        status = same_line(c);
    for (int e = 0; e < COUNTED_EVENTS && !status; e++)
        all[e].again = c->counts.events[e] / (double)c->counts.visits;
    return status;
}

int judge_events(struct counted *c)
{
    struct testimony ints[COUNTED_EVENTS], doubles[COUNTED_EVENTS];
    enum strata_types type = c->type;
    c->arena = BASE_PAGES;
    c->type = STRATA_INT;
    int status = walk_all(c, 0, ints);
    c->type = STRATA_FLOAT;
    if (!status)
        status = walk_all(c, WALKS, doubles);
    c->type = type;
    for (int e = 0; e < COUNTED_EVENTS && !status; e++) {
        char why[160];
        if (!c->counting->events[e].present || e == BANK_EVENT)
            continue;
        judge(&ints[e], why);
        if (*why)
            dismiss(c, e, why);
        c->bypassed[e] = !*why && doubles[e].most == 0;
    }
    /* What these walks cost could not be told before it was known what to believe. */
    c->costs = (struct costs){0};
    return status ? status : same_line(c);
}
