/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is added to the program's code: a call for each access, a count of instructions at
 * each way out of a block, a call where an allocator begins, and where a return may end it.
 *
 * A load and a store of one instruction to the same address are one access, as cachegrind
 * has it: the second finds what the first brought in. */
#include "arch.h"
#include "tool.h"

struct pass {
    IRSB *out;
    struct site *site;  /* of the instruction, once it needs one */
    Addr address, next; /* of the instruction, and behind it */
    uint64_t pending;   /* instructions since the last count */
    IRExpr *load;       /* address of this instruction's load, and its size */
    Int load_size;
    bool load_float;
    IRTemp loaded;    /* what it loads into */
    bool conditional; /* this instruction is a conditional branch */
};

static IRTemp assign(struct pass *pass, IRType type, IRExpr *value)
{
    IRTemp temp = newIRTemp(pass->out->tyenv, type);
    addStmtToIRSB(pass->out, IRStmt_WrTmp(temp, value));
    return temp;
}

static void call(struct pass *pass, const HChar *name, void *function, IRExpr **arguments,
                 Int n, IRExpr *guard)
{
    IRDirty *dirty = unsafeIRDirty_0_N(n, name, VG_(fnptr_to_fnentry)(function), arguments);
    if (guard)
        dirty->guard = guard;
    addStmtToIRSB(pass->out, IRStmt_Dirty(dirty));
}

/* Looks whether a counter of the virtual PMU may be full. */
static void check_counters(struct pass *pass, IRTemp instructions)
{
    IRExpr *at = mkIRExpr_HWord((HWord)&pmu_next_check);
    IRTemp limit = assign(pass, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, at));
    IRTemp full =
        assign(pass, Ity_I1,
               IRExpr_Binop(Iop_CmpLT64U, IRExpr_RdTmp(limit), IRExpr_RdTmp(instructions)));
    call(pass, "pmu_check", pmu_check, mkIRExprVec_1(mkIRExpr_HWord(pass->address)), 1,
         IRExpr_RdTmp(full));
}

static void count_instructions(struct pass *pass)
{
    if (!pass->pending)
        return;
    IRExpr *at = mkIRExpr_HWord((HWord)&totals.events[RAW_INSTRUCTIONS]);
    IRTemp old = assign(pass, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, at));
    IRTemp sum = assign(pass, Ity_I64,
                        IRExpr_Binop(Iop_Add64, IRExpr_RdTmp(old),
                                     IRExpr_Const(IRConst_U64(pass->pending))));
    addStmtToIRSB(pass->out, IRStmt_Store(Iend_LE, at, IRExpr_RdTmp(sum)));
    if (pmu_checks)
        check_counters(pass, sum);
    pass->pending = 0;
}

/* Most instructions access nothing and need no site. */
static struct site *site_of_pass(struct pass *pass)
{
    if (!pass->site)
        pass->site = site_of(pass->address);
    return pass->site;
}

static void emit(struct pass *pass, enum access_kind kind, IRExpr *address, Int size,
                 IRExpr *guard)
{
    IRExpr *site = mkIRExpr_HWord((HWord)site_of_pass(pass));
    UInt power = (UInt)__builtin_ctz((UInt)size);
    if (size == 1 << power && power < ACCESS_SIZES)
        call(pass, "access", access_function_of(kind, power), mkIRExprVec_2(address, site),
             2, guard);
    else
        call(pass, "access_any", access_any,
             mkIRExprVec_3(address, mkIRExpr_HWord((HWord)size << 8 | kind), site), 3,
             guard);
}

static void flush_load(struct pass *pass)
{
    if (!pass->load)
        return;
    emit(pass, pass->load_float ? ACCESS_FLOAT : ACCESS_LOAD, pass->load, pass->load_size,
         NULL);
    pass->load = NULL;
}

static Int limit(Int size)
{
    return size > 64 ? 64 : size; /* what is larger is rare: saved registers */
}

static void on_load(struct pass *pass, IRExpr *address, IRType type, IRTemp loaded)
{
    flush_load(pass);
    pass->load = address;
    pass->load_size = limit(sizeofIRType(type));
    pass->load_float = type != Ity_I8 && type != Ity_I16 && type != Ity_I32 &&
                       type != Ity_I64 && type != Ity_I128;
    pass->loaded = loaded;
}

static bool is_loaded(const struct pass *pass, const IRExpr *value)
{
    return pass->load && value->tag == Iex_RdTmp && value->Iex.RdTmp.tmp == pass->loaded;
}

/* VEX loads one number for a vector register as an integer. That its type is another shows
 * in where it goes. */
static void on_conversion(struct pass *pass, const IRExpr *value)
{
    if (value->tag != Iex_Unop || !is_loaded(pass, value->Iex.Unop.arg))
        return;
    IROp op = value->Iex.Unop.op;
    if (op == Iop_32UtoV128 || op == Iop_64UtoV128 || op == Iop_ReinterpI32asF32 ||
        op == Iop_ReinterpI64asF64)
        pass->load_float = true;
}

static void on_put(struct pass *pass, Int offset, const IRExpr *value)
{
    if (offset >= (Int)ARCH_OFFSET(ARCH_FIRST_VECTOR) &&
        offset < (Int)ARCH_OFFSET(ARCH_LAST_VECTOR) && is_loaded(pass, value))
        pass->load_float = true;
}

static bool is_same(const IRExpr *a, const IRExpr *b)
{
    if (a->tag == Iex_RdTmp && b->tag == Iex_RdTmp)
        return a->Iex.RdTmp.tmp == b->Iex.RdTmp.tmp;
    return a->tag == Iex_Const && b->tag == Iex_Const &&
           eqIRConst(a->Iex.Const.con, b->Iex.Const.con);
}

static void on_store(struct pass *pass, IRExpr *address, Int size)
{
    size = limit(size);
    if (pass->load && pass->load_size == size && is_same(pass->load, address)) {
        flush_load(pass);
        return;
    }
    flush_load(pass);
    emit(pass, ACCESS_STORE, address, size, NULL);
}

static void on_guarded_load(struct pass *pass, IRLoadG *load)
{
    IRType type, wide;
    typeOfIRLoadGOp(load->cvt, &wide, &type);
    flush_load(pass);
    emit(pass, ACCESS_LOAD, load->addr, limit(sizeofIRType(type)), load->guard);
}

static void on_guarded_store(struct pass *pass, IRStoreG *store)
{
    Int size = sizeofIRType(typeOfIRExpr(pass->out->tyenv, store->data));
    flush_load(pass);
    emit(pass, ACCESS_STORE, store->addr, limit(size), store->guard);
}

static void on_dirty(struct pass *pass, const IRDirty *dirty)
{
    if (dirty->mFx == Ifx_Read || dirty->mFx == Ifx_Modify) {
        flush_load(pass);
        emit(pass, ACCESS_LOAD, dirty->mAddr, limit(dirty->mSize), NULL);
    } else if (dirty->mFx == Ifx_Write) {
        on_store(pass, dirty->mAddr, dirty->mSize);
    }
}

/* Before it, VEX may load what it compares with: that is the same access. */
static void on_swap(struct pass *pass, const IRCAS *swap)
{
    Int size = sizeofIRType(typeOfIRExpr(pass->out->tyenv, swap->dataLo));
    size = limit(swap->dataHi ? 2 * size : size);
    bool loaded = pass->load && pass->load_size == size && is_same(pass->load, swap->addr);
    flush_load(pass);
    if (!loaded)
        emit(pass, ACCESS_LOAD, swap->addr, size, NULL);
}

static void on_exclusive(struct pass *pass, const IRStmt *stmt)
{
    IRTypeEnv *types = pass->out->tyenv;
    if (stmt->Ist.LLSC.storedata)
        on_store(pass, stmt->Ist.LLSC.addr,
                 sizeofIRType(typeOfIRExpr(types, stmt->Ist.LLSC.storedata)));
    else
        on_load(pass, stmt->Ist.LLSC.addr, typeOfIRTemp(types, stmt->Ist.LLSC.result),
                stmt->Ist.LLSC.result);
}

/* At the entry of an allocator's function. */
static void on_entry(struct pass *pass, Addr address)
{
    static const Int fields[] = {ARCH_OFFSET(ARCH_ARGUMENT), ARCH_OFFSET(ARCH_SECOND),
                                 ARCH_OFFSET(ARCH_THIRD), ARCH_OFFSET(ARCH_SP),
                                 ARCH_OFFSET(ARCH_FP)};
    const struct heap_function *function = heap_function_at(address);
    if (!function)
        return;
    IRExpr **arguments = mkIRExprVec_2(mkIRExpr_HWord((HWord)function), IRExpr_GSPTR());
    IRDirty *dirty =
        unsafeIRDirty_0_N(2, "heap_enter", VG_(fnptr_to_fnentry)(heap_enter), arguments);
    dirty->nFxState = sizeof fields / sizeof *fields;
    for (Int i = 0; i < dirty->nFxState; i++) {
        VG_(memset)(&dirty->fxState[i], 0, sizeof dirty->fxState[i]);
        dirty->fxState[i].fx = Ifx_Read;
        dirty->fxState[i].offset = (UShort)fields[i];
        dirty->fxState[i].size = sizeof(Addr);
    }
    addStmtToIRSB(pass->out, IRStmt_Dirty(dirty));
}

/* Before a return: is it the one that an allocator's caller waits for, or beyond that? */
static void on_return(struct pass *pass, IRExpr *target)
{
    IRTemp sp = assign(pass, Ity_I64, IRExpr_Get(ARCH_OFFSET(ARCH_SP), Ity_I64));
    IRExpr *at = mkIRExpr_HWord((HWord)&heap_expected_sp);
    IRTemp expected = assign(pass, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, at));
    IRTemp there = assign(
        pass, Ity_I1, IRExpr_Binop(Iop_CmpLE64U, IRExpr_RdTmp(expected), IRExpr_RdTmp(sp)));
    IRTemp result = assign(pass, Ity_I64, IRExpr_Get(ARCH_OFFSET(ARCH_RESULT), Ity_I64));
    call(pass, "heap_leave", heap_leave,
         mkIRExprVec_3(IRExpr_RdTmp(result), IRExpr_RdTmp(sp), target), 3,
         IRExpr_RdTmp(there));
}

/* A conditional branch. VEX may have turned its condition round: then the exit leads to
 * the next instruction. An exit that leads to its own instruction is a repeated one. */
static void on_exit(struct pass *pass, const IRStmt *stmt)
{
    const IRConst *to = stmt->Ist.Exit.dst;
    Addr target = to->tag == Ico_U64 ? to->Ico.U64 : to->Ico.U32;
    if (stmt->Ist.Exit.jk != Ijk_Boring || target == pass->address)
        return;
    IRTemp guard = assign(pass, Ity_I64, IRExpr_Unop(Iop_1Uto64, stmt->Ist.Exit.guard));
    IRTemp taken = guard;
    if (target == pass->next)
        taken = assign(
            pass, Ity_I64,
            IRExpr_Binop(Iop_Xor64, IRExpr_RdTmp(guard), IRExpr_Const(IRConst_U64(1))));
    call(pass, "branch_conditional", branch_conditional,
         mkIRExprVec_2(mkIRExpr_HWord(pass->address), IRExpr_RdTmp(taken)), 2, NULL);
    pass->conditional = true;
}

/* The way out at the end of a block: a jump, a call, a return, or just the next block. */
static void on_end(struct pass *pass, const IRSB *in)
{
    IRExpr *address = mkIRExpr_HWord(pass->address), *to = in->next;
    bool direct = to->tag == Iex_Const;
    Addr target = !direct                             ? 0
                  : to->Iex.Const.con->tag == Ico_U64 ? to->Iex.Const.con->Ico.U64
                                                      : to->Iex.Const.con->Ico.U32;
    if (in->jumpkind == Ijk_Ret)
        call(pass, "branch_return", branch_return, mkIRExprVec_1(to), 1, NULL);
    else if (in->jumpkind == Ijk_Call)
        call(pass, "branch_call", branch_call,
             mkIRExprVec_3(address, direct ? mkIRExpr_HWord(0) : to,
                           mkIRExpr_HWord(pass->next)),
             3, NULL);
    else if (in->jumpkind == Ijk_Boring && !direct)
        call(pass, "branch_indirect", branch_indirect, mkIRExprVec_2(address, to), 2, NULL);
    else if (in->jumpkind == Ijk_Boring && target != pass->next &&
             target != pass->address && !pass->conditional)
        call(pass, "branch_jump", branch_jump, mkIRExprVec_1(address), 1, NULL);
}

static void on_mark(struct pass *pass, const IRStmt *stmt)
{
    flush_load(pass);
    pass->address = stmt->Ist.IMark.addr + stmt->Ist.IMark.delta;
    pass->next = pass->address + stmt->Ist.IMark.len;
    pass->site = NULL;
    pass->pending++;
    pass->conditional = false;
    if (tool.raw->fetches)
        emit(pass, ACCESS_FETCH, mkIRExpr_HWord(stmt->Ist.IMark.addr),
             (Int)stmt->Ist.IMark.len, NULL);
}

static void on_statement(struct pass *pass, IRStmt *stmt)
{
    switch (stmt->tag) {
    case Ist_IMark:
        on_mark(pass, stmt);
        break;
    case Ist_WrTmp:
        if (stmt->Ist.WrTmp.data->tag == Iex_Load)
            on_load(pass, stmt->Ist.WrTmp.data->Iex.Load.addr,
                    stmt->Ist.WrTmp.data->Iex.Load.ty, stmt->Ist.WrTmp.tmp);
        else
            on_conversion(pass, stmt->Ist.WrTmp.data);
        break;
    case Ist_Put:
        on_put(pass, stmt->Ist.Put.offset, stmt->Ist.Put.data);
        break;
    case Ist_Store:
        on_store(pass, stmt->Ist.Store.addr,
                 sizeofIRType(typeOfIRExpr(pass->out->tyenv, stmt->Ist.Store.data)));
        break;
    case Ist_LoadG:
        on_guarded_load(pass, stmt->Ist.LoadG.details);
        break;
    case Ist_StoreG:
        on_guarded_store(pass, stmt->Ist.StoreG.details);
        break;
    case Ist_Dirty:
        on_dirty(pass, stmt->Ist.Dirty.details);
        break;
    case Ist_CAS:
        on_swap(pass, stmt->Ist.CAS.details);
        break;
    case Ist_LLSC:
        on_exclusive(pass, stmt);
        break;
    case Ist_Exit:
        flush_load(pass);
        count_instructions(pass); /* branches want to know their distance */
        if (tool.raw->branches)
            on_exit(pass, stmt);
        break;
    default:
        break;
    }
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                 IRType host_word)
{
    (void)closure, (void)layout, (void)host;
    if (guest_word != host_word)
        VG_(tool_panic)("strata: host and guest differ in their word");
    if (tool.off)
        return in;
    struct pass pass = {.out = deepCopyIRSBExceptStmts(in)};
    Int i = 0;
    for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
        addStmtToIRSB(pass.out, in->stmts[i]);
    on_entry(&pass, extents->base[0]);
    for (; i < in->stmts_used; i++) {
        on_statement(&pass, in->stmts[i]);
        addStmtToIRSB(pass.out, in->stmts[i]);
    }
    flush_load(&pass);
    count_instructions(&pass);
    if (tool.raw->branches)
        on_end(&pass, in);
    if (in->jumpkind == Ijk_Ret)
        on_return(&pass, in->next);
    return pass.out;
}
