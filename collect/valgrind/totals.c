/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The totals of the process: all that the virtual PMU can count, and the part of it that is
 * recorded. While collecting is paused the simulated machine goes on, so that its caches
 * stay warm; what it counts then is left out of the file. */
#include "tool.h"

struct raw_totals totals;

static struct raw_totals skipped;  /* in all pauses that have ended */
static struct raw_totals at_pause; /* when the present one began */

/* All of it is 64-bit counts. */
static void add(struct raw_totals *sum, const struct raw_totals *more,
                const struct raw_totals *less)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *plus = (const uint64_t *)more, *minus = (const uint64_t *)less;
    for (SizeT i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += plus[i] - minus[i];
}

/* Virtual cycles: an instruction takes one, and that covers a hit in the nearest cache. */
static uint64_t cycles(void)
{
    const struct strata_machine *machine = &tool.raw->machine;
    return totals.events[RAW_INSTRUCTIONS] + totals.waits +
           totals.events[RAW_MISPREDICTED] * machine->branch.penalty +
           totals.samples * tool.raw->interrupt_cycles;
}

void totals_renew(void)
{
    access_refresh();
    totals.counts = *sim_counts(tool.sim);
    totals.waits = totals.counts.cycles - access_near_cycles(&totals.counts);
    totals.cycles = cycles();
}

void totals_write(void)
{
    totals_renew();
    struct raw_totals shown = tool.collecting ? totals : at_pause;
    const struct raw_totals nothing = {0};
    add(&shown, &nothing, &skipped);
    tool.raw->counts = shown.counts;
    tool.raw->cycles = shown.cycles;
    tool.raw->waits = shown.waits;
    tool.raw->samples = shown.samples;
    tool.raw->stores = shown.stores;
    tool.raw->fetched = shown.fetched;
    VG_(memcpy)(tool.raw->events, shown.events, sizeof shown.events);
}

void totals_collect(bool on)
{
    if (on == tool.collecting)
        return;
    totals_write();
    if (on)
        add(&skipped, &totals, &at_pause);
    else
        at_pause = totals;
    tool.collecting = on;
}

void totals_start(void)
{
    tool.collecting = !tool.raw->paused;
}

void totals_forked(void)
{
    access_refresh();
    sim_reset_counts(tool.sim);
    VG_(memset)(&totals, 0, sizeof totals);
    VG_(memset)(&skipped, 0, sizeof skipped);
    VG_(memset)(&at_pause, 0, sizeof at_pause);
}
