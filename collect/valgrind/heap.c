/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The heap: the program keeps its own allocator, so that the allocator's accesses are
 * simulated like all others, and is only watched. An allocator's functions are known by
 * name. At the entry of one its arguments are noted, with the stack pointer that its return
 * will leave; when a return leaves that stack pointer, the result is there. What an
 * allocator calls inside (calloc malloc, malloc mmap) is its own affair. A call may also be
 * left by an exception or longjmp(): then a return comes that leaves more of the stack, or
 * goes somewhere else, and the call is forgotten.
 *
 * A bucket is found by the callers. Unwinding is slow, so stacks that were seen are kept:
 * where each return address was and what it was. If the same addresses hold the same words
 * under the same stack pointer, the callers are the same: the nearest return address says
 * how large that function's frame is, and so where the next is, and so on. */
#include "arch.h"
#include "tool.h"

enum heap_kind {
    HEAP_SIZE,           /* f(size) */
    HEAP_SECOND_SIZE,    /* f(alignment, size) */
    HEAP_PRODUCT,        /* f(count, size) */
    HEAP_RESIZE,         /* f(block, size) */
    HEAP_RESIZE_PRODUCT, /* f(block, count, size) */
    HEAP_BY_POINTER,     /* f(&block, alignment, size) */
    HEAP_FREE,           /* f(block) */
    HEAP_REMAP           /* f(block, old size, size) */
};

struct heap_function {
    const HChar *name; /* a * at the end stands for anything */
    enum heap_kind kind;
};

static const struct heap_function functions[] = {
    {"malloc", HEAP_SIZE},
    {"__libc_malloc", HEAP_SIZE},
    {"__malloc", HEAP_SIZE},
    {"valloc", HEAP_SIZE},
    {"__libc_valloc", HEAP_SIZE},
    {"pvalloc", HEAP_SIZE},
    {"__libc_pvalloc", HEAP_SIZE},
    {"operator new*", HEAP_SIZE},
    {"_Znwm*", HEAP_SIZE},
    {"_Znam*", HEAP_SIZE},
    {"calloc", HEAP_PRODUCT},
    {"__libc_calloc", HEAP_PRODUCT},
    {"__calloc", HEAP_PRODUCT},
    {"memalign", HEAP_SECOND_SIZE},
    {"__libc_memalign", HEAP_SECOND_SIZE},
    {"__memalign", HEAP_SECOND_SIZE},
    {"aligned_alloc", HEAP_SECOND_SIZE},
    {"realloc", HEAP_RESIZE},
    {"__libc_realloc", HEAP_RESIZE},
    {"__realloc", HEAP_RESIZE},
    {"reallocarray", HEAP_RESIZE_PRODUCT},
    {"__libc_reallocarray", HEAP_RESIZE_PRODUCT},
    {"posix_memalign", HEAP_BY_POINTER},
    {"__posix_memalign", HEAP_BY_POINTER},
    {"free", HEAP_FREE},
    {"__libc_free", HEAP_FREE},
    {"__free", HEAP_FREE},
    {"cfree", HEAP_FREE},
    {"operator delete*", HEAP_FREE},
    {"_ZdlPv*", HEAP_FREE},
    {"_ZdaPv*", HEAP_FREE},
    {"mmap", HEAP_SECOND_SIZE},
    {"mmap64", HEAP_SECOND_SIZE},
    {"__mmap", HEAP_SECOND_SIZE},
    {"__mmap64", HEAP_SECOND_SIZE},
    {"munmap", HEAP_FREE},
    {"__munmap", HEAP_FREE},
    {"mremap", HEAP_REMAP},
    {"__mremap", HEAP_REMAP},
};

/* What a thread is waiting for. */
struct pending {
    Addr sp; /* after the return; HEAP_NOWHERE: nothing */
    Addr returns_to;
    const struct heap_function *function;
    UWord arguments[3];
    uint32_t bucket;
};

enum { DEEP = 12, SEEN = 4096 };

/* Callers that were seen. */
struct seen {
    uint64_t age; /* object_threads_ended at the time: later, its words may be gone */
    Addr sp;
    UInt n;
    uint32_t bucket;
    Addr words[DEEP], values[DEEP];
};

Addr heap_expected_sp = HEAP_NOWHERE;
static struct pending *pending;
static ThreadId npending;
static ThreadId running = 1;
static struct seen *seen;

/* Room for the calls of so many threads. */
static void make_room(ThreadId n)
{
    pending = VG_(realloc)("strata.heap", pending, n * sizeof *pending);
    for (ThreadId i = npending; i < n; i++)
        pending[i] = (struct pending){.sp = HEAP_NOWHERE};
    npending = n;
}

void heap_start(void)
{
    make_room(512);
    seen = VG_(calloc)("strata.heap", SEEN, sizeof *seen);
}

void heap_switch(ThreadId tid)
{
    if (tid >= npending)
        make_room(2 * tid);
    running = tid;
    heap_expected_sp = pending[tid].sp;
}

static bool matches(const HChar *name, const HChar *pattern)
{
    SizeT length = VG_(strlen)(pattern);
    if (pattern[length - 1] == '*')
        return VG_(strncmp)(name, pattern, length - 1) == 0;
    return VG_(strcmp)(name, pattern) == 0;
}

const struct heap_function *heap_function_at(Addr address)
{
    const HChar *name;
    DiEpoch now = VG_(current_DiEpoch)();
    if (!VG_(get_fnname_if_entry)(now, address, &name))
        return NULL;
    for (UInt i = 0; i < sizeof functions / sizeof *functions; i++)
        if (matches(name, functions[i].name)) {
            /* The dynamic linker's maps are modules, whose variables have names. */
            const DebugInfo *module = VG_(find_DebugInfo)(now, address);
            const HChar *so = module ? VG_(DebugInfo_get_soname)(module) : NULL;
            return so && VG_(strncmp)(so, "ld-linux", 8) == 0 ? NULL : &functions[i];
        }
    return NULL;
}

static Addr word_at(Addr address)
{
    return *(const Addr *)address;
}

static bool is_same(const struct seen *stack, Addr sp)
{
    if (stack->sp != sp || stack->n == 0 || stack->age != object_threads_ended)
        return false;
    for (UInt i = 0; i < stack->n; i++)
        if (word_at(stack->words[i]) != stack->values[i])
            return false;
    return true;
}

#if ARCH_RETURN_SP
/* Where return addresses are on the stack, a stack can be recognised. */
static void remember(struct seen *stack, Addr sp, const Addr *ips, const Addr *sps, UInt n)
{
    stack->n = 0;
    for (UInt i = 1; i < n; i++) {
        Addr word = sps[i] - sizeof(Addr);
        if (word_at(word) - 1 != ips[i])
            return;
        stack->words[i - 1] = word;
        stack->values[i - 1] = ips[i] + 1;
    }
    stack->age = object_threads_ended;
    stack->sp = sp;
    stack->n = n - 1;
}
#else
static void remember(struct seen *stack, Addr sp, const Addr *ips, const Addr *sps, UInt n)
{
    (void)sp, (void)ips, (void)sps, (void)n;
    stack->n = 0;
}
#endif

/* The bucket of what the running thread's callers allocate. */
static uint32_t callers_bucket(const ARCH_STATE *state)
{
    Addr sp = state->ARCH_SP;
    UWord hash = (sp ^ (ARCH_RETURN_SP ? word_at(sp) : 0)) * 0x9e3779b97f4a7c15u >> 52;
    struct seen *stack = &seen[hash % SEEN];
    if (is_same(stack, sp))
        return stack->bucket;
    Addr ips[DEEP], sps[DEEP], fps[DEEP];
    UInt n = VG_(get_StackTrace)(running, ips, DEEP, sps, fps, 0);
    UInt used;
    uint32_t bucket = object_heap_bucket(ips + 1, n > 0 ? n - 1 : 0, &used);
    remember(stack, sp, ips, sps, used + 1);
    stack->bucket = bucket;
    return bucket;
}

static SizeT size_of(const struct pending *call)
{
    const UWord *argument = call->arguments;
    switch (call->function->kind) {
    case HEAP_SIZE:
        return argument[0];
    case HEAP_SECOND_SIZE:
    case HEAP_RESIZE:
        return argument[1];
    case HEAP_PRODUCT:
        return argument[0] * argument[1];
    case HEAP_RESIZE_PRODUCT:
        return argument[1] * argument[2];
    case HEAP_BY_POINTER:
    case HEAP_REMAP:
        return argument[2];
    case HEAP_FREE:
        break;
    }
    return 0;
}

VG_REGPARM(2) void heap_enter(const struct heap_function *function, const void *guest)
{
    const ARCH_STATE *state = guest;
    struct pending *call = &pending[running];
    Addr after = state->ARCH_SP + ARCH_RETURN_SP;
    /* Deeper than a call that waits: called by it. In the same place: it went on there by a
     * jump, or it was left and its caller tries again. */
    if (call->sp != HEAP_NOWHERE && after < call->sp && call->sp - after < (64 << 20))
        return;
    call->sp = heap_expected_sp = after;
    call->returns_to = ARCH_RETURNS_TO(state);
    call->function = function;
    call->arguments[0] = state->ARCH_ARGUMENT;
    call->arguments[1] = state->ARCH_SECOND;
    call->arguments[2] = state->ARCH_THIRD;
    if (function->kind == HEAP_FREE) {
        if (call->arguments[0])
            object_remove(call->arguments[0]);
        call->bucket = RAW_NONE;
    } else {
        call->bucket = callers_bucket(state);
    }
}

static void moved(const struct pending *call)
{
    enum heap_kind kind = call->function->kind;
    if ((kind == HEAP_RESIZE || kind == HEAP_RESIZE_PRODUCT || kind == HEAP_REMAP) &&
        call->arguments[0])
        object_remove(call->arguments[0]);
}

VG_REGPARM(3) void heap_leave(UWord result, Addr sp, Addr target)
{
    struct pending *call = &pending[running];
    bool left = sp != call->sp || target != call->returns_to;
    call->sp = heap_expected_sp = HEAP_NOWHERE;
    if (left)
        return;
    if (call->function->kind == HEAP_FREE)
        return;
    Addr start = result;
    SizeT size = size_of(call);
    if (call->function->kind == HEAP_BY_POINTER)
        start = result ? 0 : word_at(call->arguments[0]);
    if (start == 0 || start >= (Addr)-4096) {
        if (size == 0) /* realloc(block, 0) frees */
            moved(call);
        return;
    }
    moved(call);
    object_add(start, size, call->bucket);
}
