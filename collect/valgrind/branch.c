/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Branches by kind, how many of them the simulated machine's predictor gets wrong, and what
 * is executed behind a wrong guess.
 *
 * A wrong guess lets the processor go on for a window of instructions, which are then
 * thrown away. Only the right way is seen here. Ways that part at a branch mostly join
 * again soon, so that the branches which follow within the window on the right way stand
 * for those of the wrong one: each was executed twice, and counts once as a shadow. The
 * latest wrong guess throws away all that is younger, so that there is no shadow of a
 * shadow. */
#include "sim/predictor.h"
#include "tool.h"

static struct predictor *predictor;
static uint64_t shadow_end; /* instructions up to which branches have a shadow */

void branch_start(void)
{
    predictor = predictor_create(&tool.raw->machine.branch, &tool_allocator);
}

/* Past the end, and in a child of fork, whose instructions begin at 0, what is left is
 * more than any window. */
static bool in_shadow(void)
{
    uint64_t left = shadow_end - totals.events[RAW_INSTRUCTIONS];
    return left < tool.raw->machine.branch.window;
}

static void count(enum raw_event kind, bool right)
{
    totals.events[kind]++;
    if (in_shadow())
        totals.events[kind + (RAW_SHADOW_CONDITIONAL - RAW_CONDITIONAL)]++;
    if (right)
        return;
    uint32_t window = tool.raw->machine.branch.window;
    totals.events[RAW_MISPREDICTED]++;
    totals.events[RAW_SHADOW_INSTRUCTIONS] += window;
    shadow_end = totals.events[RAW_INSTRUCTIONS] + window;
}

VG_REGPARM(2) void branch_conditional(Addr address, UWord taken)
{
    totals.events[RAW_TAKEN] += taken;
    totals.events[RAW_SHADOW_TAKEN] += taken && in_shadow();
    count(RAW_CONDITIONAL, predictor_conditional(predictor, address, taken));
}

VG_REGPARM(2) void branch_indirect(Addr address, Addr target)
{
    bool right = predictor_indirect(predictor, address, target);
    totals.events[RAW_MISPREDICTED_INDIRECT] += !right;
    count(RAW_INDIRECT, right);
}

VG_REGPARM(1) void branch_jump(Addr address)
{
    (void)address;
    count(RAW_JUMPS, true);
}

VG_REGPARM(3) void branch_call(Addr address, Addr target, Addr returns_to)
{
    /* A target of 0 stands for one that the instruction names. */
    bool right = !target || predictor_indirect(predictor, address, target);
    totals.events[RAW_INDIRECT_CALLS] += target != 0;
    totals.events[RAW_MISPREDICTED_INDIRECT] += !right;
    count(RAW_CALLS, right);
    predictor_call(predictor, returns_to);
}

VG_REGPARM(1) void branch_return(Addr target)
{
    bool right = predictor_return(predictor, target);
    totals.events[RAW_MISPREDICTED_RETURNS] += !right;
    count(RAW_RETURNS, right);
}
