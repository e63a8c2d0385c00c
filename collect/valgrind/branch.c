/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Branches by kind, and how many of them the simulated machine's predictor gets wrong. */
#include "sim/predictor.h"
#include "tool.h"

static struct predictor *predictor;

void branch_start(void)
{
    predictor = predictor_create(&tool.raw->machine.branch, &tool_allocator);
}

static void count(enum raw_event kind, bool right)
{
    totals.events[kind]++;
    totals.events[RAW_MISPREDICTED] += !right;
}

VG_REGPARM(2) void branch_conditional(Addr address, UWord taken)
{
    count(RAW_CONDITIONAL, predictor_conditional(predictor, address, taken));
    totals.events[RAW_TAKEN] += taken;
}

VG_REGPARM(2) void branch_indirect(Addr address, Addr target)
{
    count(RAW_INDIRECT, predictor_indirect(predictor, address, target));
}

VG_REGPARM(1) void branch_jump(Addr address)
{
    (void)address;
    count(RAW_JUMPS, true);
}

VG_REGPARM(3) void branch_call(Addr address, Addr target, Addr returns_to)
{
    /* A target of 0 stands for one that the instruction names. */
    count(RAW_CALLS, !target || predictor_indirect(predictor, address, target));
    predictor_call(predictor, returns_to);
}

VG_REGPARM(1) void branch_return(Addr target)
{
    count(RAW_RETURNS, predictor_return(predictor, target));
}
