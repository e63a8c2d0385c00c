/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sampling: one event in so many is attributed, as an interrupt on a counter's overflow
 * would do it.
 *
 * The distance to the next sample is drawn anew each time, evenly from half the period to
 * one and a half, so that it cannot keep step with the program. What a sampler does to the
 * machine is part of the simulation: it reads the tables that the look-up of the object
 * read, updates the counts, and costs the cycles of an interrupt. */
#include "core/rng.h"
#include "tool.h"

static uint64_t countdown;
static struct rng rng;

uint64_t sample_distance(struct rng *numbers, uint64_t period)
{
    return period <= 1 ? 1 : period - period / 2 + rng_below(numbers, period / 2 * 2 + 1);
}

void sample_start(void)
{
    rng.state = tool.raw->seed ^ 0x73616d706c65u;
    countdown = sample_distance(&rng, tool.raw->period);
}

/* An access of the sampler itself. */
static void touch(Addr address, enum sim_op op)
{
    struct sim_result result;
    sim_access(tool.sim, address & ~(Addr)7, 8, op, STRATA_INT, &result);
    tool.raw->sampler_accesses++;
    tool.raw->sampler_misses += result.level > tool.raw->event_level;
    tool.raw->sampler_cycles += result.cycles;
}

static void disturb(struct site *site, Addr address)
{
    Addr trail[4];
    UInt n = object_trail(address, site->bucket, trail);
    for (UInt i = 0; i < n; i++)
        touch(trail[i], SIM_LOAD);
    touch((Addr)site, SIM_LOAD);
    Addr cell = (Addr)site->cells[SAMPLED];
    for (SizeT at = 0; at < sizeof(struct raw_cell); at += 32)
        touch(cell + at, SIM_STORE);
}

void sample_event(struct site *site, Addr address, enum access_kind kind,
                  const struct sim_result *result)
{
    if (--countdown)
        return;
    countdown = sample_distance(&rng, tool.raw->period);
    totals.samples++;
    access_count(SAMPLED, site, address, kind, result);
    disturb(site, address);
}
