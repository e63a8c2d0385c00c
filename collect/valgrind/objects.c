/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Address -> bucket. Objects of one name share a bucket: a variable, all blocks that came
 * from the same three functions, all ranges that the program gave one name.
 *
 * Asked in this order: names given by the program, the running thread's stack, the heap,
 * variables, the stacks of other threads. */
#include "pub_tool_aspacemgr.h"
#include "tool.h"

enum { RED_ZONE = 128, NAME_SIZE = 512, CALLERS = 3, HASH = 4096 };

static struct blocks *heap, *named;
static uint32_t stack_bucket, unknown_bucket, code_bucket, allocator_bucket;
static bool any_named;

uint64_t object_age = 1;
UInt object_threads;
uint64_t object_threads_ended;
static Addr break_low, break_high; /* what the program got by brk */

/* Buckets by kind and name. */
struct named_bucket {
    struct named_bucket *next;
    uint32_t kind, name, bucket;
};
static struct named_bucket *by_name[HASH];

void objects_start(void)
{
    heap = blocks_create(&tool_allocator);
    named = blocks_create(&tool_allocator);
    unknown_bucket = raw_new_bucket(RAW_UNKNOWN, "<UNKNOWN>", NULL, NULL);
    stack_bucket = raw_new_bucket(RAW_STACK, "<STACK>", NULL, NULL);
    allocator_bucket = raw_new_bucket(RAW_HEAP, "<ALLOCATOR>", NULL, NULL);
    if (tool.raw->fetches)
        code_bucket = raw_new_bucket(RAW_CODE, "<CODE>", NULL, NULL);
}

uint32_t object_code_bucket(void)
{
    return code_bucket;
}

static uint32_t bucket_of(uint32_t kind, const HChar *name, const HChar *place)
{
    uint32_t text = raw_text(name);
    struct named_bucket **first = &by_name[(text * 8 + kind) % HASH];
    for (struct named_bucket *at = *first; at; at = at->next)
        if (at->kind == kind && at->name == text)
            return at->bucket;
    struct named_bucket *added = VG_(malloc)("strata.bucket", sizeof *added);
    *added =
        (struct named_bucket){*first, kind, text, raw_new_bucket(kind, name, NULL, place)};
    *first = added;
    return added->bucket;
}

static void note_new(uint32_t number, uint64_t size)
{
    struct raw_bucket *bucket = raw_bucket_at(number);
    struct raw_lives *lives = raw_lives_at(number);
    bucket->objects++;
    bucket->bytes += size;
    bucket->live = ++lives->objects;
    bucket->live_bytes = lives->bytes += size;
    if (bucket->live_bytes > bucket->most_bytes)
        bucket->most_bytes = bucket->live_bytes;
    if (size < bucket->smallest)
        bucket->smallest = size;
    if (size > bucket->largest)
        bucket->largest = size;
}

static void note_gone(const struct block *block)
{
    object_age++;
    struct raw_bucket *bucket = raw_bucket_at(block->owner);
    struct raw_lives *lives = raw_lives_at(block->owner);
    bucket->live = --lives->objects;
    bucket->live_bytes = lives->bytes -= block->size;
}

static void add_to(struct blocks *blocks, Addr start, SizeT size, uint32_t bucket)
{
    struct block gone;
    if (blocks_remove(blocks, start, &gone))
        note_gone(&gone);
    if (!blocks_add(blocks, start, size, bucket))
        note_new(bucket, size ? size : 1);
}

void object_add(Addr start, SizeT size, uint32_t bucket)
{
    add_to(heap, start, size, bucket);
}

/* Names of a block's parts go with it. */
static void remove_names(Addr start, Addr end)
{
    struct block gone;
    while (blocks_remove_first(named, start, end, &gone)) {
        note_gone(&gone);
        start = gone.start + 1;
    }
}

void object_remove(Addr start)
{
    struct block gone = {.size = 1};
    if (blocks_remove(heap, start, &gone))
        note_gone(&gone);
    if (any_named)
        remove_names(start, start + gone.size);
}

void object_name(Addr start, SizeT size, const HChar *name)
{
    any_named = true;
    object_age++;
    add_to(named, start, size, bucket_of(RAW_NAMED, name, NULL));
}

void object_forget(Addr start)
{
    struct block gone;
    if (blocks_remove(named, start, &gone))
        note_gone(&gone);
}

/* Length of a C++ name without its parameters: "f(int) const" is "f". */
static SizeT without_parameters(const HChar *name)
{
    SizeT length = VG_(strlen)(name), end = length;
    while (end > 0 && name[end - 1] != ')')
        end--;
    if (end == 0)
        return length;
    Int depth = 0;
    for (SizeT i = end; i-- > 0;) {
        depth += (name[i] == ')') - (name[i] == '(');
        if (depth == 0)
            return i > 0 && name[i - 1] != ' ' ? i : length;
    }
    return length;
}

static Bool starts_with(const HChar *name, const HChar *start)
{
    return VG_(strncmp)(name, start, VG_(strlen)(start)) == 0;
}

/* Functions that only pass an allocation on: the name begins with their callers. */
static Bool is_wrapper(const HChar *name)
{
    static const HChar *const starts[] = {
        "operator new", "std::", "__gnu_cxx::", "void* std::", "void std::", NULL};
    static const HChar *const whole[] = {
        "xmalloc",    "xcalloc",     "xrealloc",         "xmallocz",
        "xstrdup",    "xmemdup",     "xzalloc",          "xnmalloc",
        "xmalloc0",   "g_malloc",    "g_malloc0",        "g_realloc",
        "g_malloc_n", "g_malloc0_n", "g_slice_alloc",    "strdup",
        "strndup",    "__strdup",    "safe_malloc",      "checked_malloc",
        "emalloc",    "ecalloc",     "erealloc",         "zmalloc",
        "zcalloc",    "zrealloc",    "sqlite3MemMalloc", "sqlite3MemRealloc",
        NULL};
    for (UInt i = 0; starts[i]; i++)
        if (starts_with(name, starts[i]))
            return True;
    for (UInt i = 0; whole[i]; i++)
        if (VG_(strcmp)(name, whole[i]) == 0)
            return True;
    return False;
}

/* Writes "f-g-h" of up to three callers; those below main are left out. Returns how many
 * callers were wrappers at the top; *used counts those that were looked at. */
static UInt name_callers(HChar *name, const Addr *callers, UInt n, UInt *used)
{
    SizeT length = 0;
    UInt named_callers = 0, first = n;
    *used = 0;
    for (UInt i = 0; i < n && named_callers < CALLERS; i++) {
        const HChar *function = site_function(callers[i]);
        *used = i + 1;
        if (!function)
            function = "?";
        Bool wrapper = named_callers == 0 && i + 1 < n && is_wrapper(function);
        Vg_FnNameKind kind = VG_(get_fnname_kind)(function);
        if (wrapper || (kind == Vg_FnNameBelowMain && named_callers > 0))
            continue;
        SizeT part = without_parameters(function);
        if (length + part + 2 > NAME_SIZE)
            break;
        if (named_callers++)
            name[length++] = '-';
        else
            first = i;
        VG_(memcpy)(name + length, function, part);
        length += part;
        if (kind == Vg_FnNameMain)
            break;
    }
    name[length] = 0;
    return first < n ? first : 0;
}

uint32_t object_heap_bucket(const Addr *callers, UInt n, UInt *used)
{
    HChar name[NAME_SIZE], place[VKI_PATH_MAX + 16];
    const HChar *file, *folder;
    UInt line, first = name_callers(name, callers, n, used);
    if (!*name)
        VG_(strcpy)(name, "?");
    Bool known = n > 0 && VG_(get_filename_linenum)(VG_(current_DiEpoch)(), callers[first],
                                                    &file, &folder, &line);
    if (known && VG_(strlen)(file) < VKI_PATH_MAX)
        VG_(sprintf)(place, "%s:%u", file, line);
    return bucket_of(RAW_HEAP, name, known ? place : NULL);
}

/* The function whose frame holds an address of the running thread's stack. */
static uint32_t frame_bucket(ThreadId tid, Addr address, struct site *site)
{
    enum { DEEP = 32 };
    Addr ips[DEEP], sps[DEEP], fps[DEEP];
    UInt n = VG_(get_StackTrace)(tid, ips, DEEP, sps, fps, 0), i = 0;
    while (i + 1 < n && address >= sps[i + 1])
        i++;
    HChar name[NAME_SIZE];
    Addr ip = i == 0 ? site->address : ips[i];
    if (n == DEEP && i + 1 == n)
        return stack_bucket;
    const HChar *function = site_function(ip);
    VG_(snprintf)(name, sizeof name, "<STACK> %s", function ? function : "?");
    return bucket_of(RAW_STACK, name, NULL);
}

static bool find_on_other_stack(Addr address, struct object *object)
{
    ThreadId tid;
    Addr low, high;
    VG_(thread_stack_reset_iter)(&tid);
    while (VG_(thread_stack_next)(&tid, &low, &high))
        if (address >= low - RED_ZONE && address <= high) {
            *object =
                (struct object){stack_bucket, low - RED_ZONE, high - low + RED_ZONE + 1};
            return true;
        }
    return false;
}

/* A part of a module that has no symbols, say of a stripped program: "<.bss of gzip>". */
static bool find_section(Addr address, struct object *object)
{
    const HChar *module;
    VgSectKind kind = VG_(DebugInfo_sect_kind)(&module, address);
    NSegment const *segment = VG_(am_find_nsegment)(address);
    if (kind == Vg_SectUnknown || !segment)
        return false;
    HChar name[NAME_SIZE];
    VG_(snprintf)
    (name, sizeof name, "<%s of %s>",
     kind == Vg_SectBSS    ? ".bss"
     : kind == Vg_SectText ? ".text"
                           : ".data",
     VG_(basename)(module));
    object->bucket = bucket_of(RAW_UNKNOWN, name, NULL);
    /* The gap between variables may reach beyond the module. */
    Addr end = object->from + object->size;
    if (object->from < segment->start)
        object->from = segment->start;
    if (end > segment->end + 1)
        end = segment->end + 1;
    object->size = end - object->from;
    return true;
}

/* The allocator looks into its records, not into blocks. */
static void find_between_blocks(struct object *object)
{
    object->bucket = heap_expected_sp != HEAP_NOWHERE ? allocator_bucket : unknown_bucket;
    object->size = 0; /* a block may come there */
}

/* What is neither on the heap nor in a variable; *object is the gap between variables. */
static void find_outside(Addr address, struct object *object)
{
    if ((object_threads > 1 && find_on_other_stack(address, object)) ||
        find_section(address, object))
        return;
    find_between_blocks(object);
}

static bool find_on_stack(Addr address, struct site *site, struct object *object)
{
    ThreadId tid = VG_(get_running_tid)();
    Addr low = VG_(get_SP)(tid) - RED_ZONE, high = VG_(thread_get_stack_max)(tid);
    if (address < low || address > high)
        return false;
    *object = (struct object){stack_bucket, low, high - low + 1};
    if (tool.raw->stack_frames)
        *object = (struct object){frame_bucket(tid, address, site), 0, 0};
    return true;
}

void object_break(Addr start, SizeT size)
{
    if (!break_high)
        break_low = start;
    break_high = start + size;
}

void object_expect(Addr address)
{
    blocks_expect(heap, address);
}

void object_find(Addr address, struct site *site, struct object *object)
{
    struct block block;
    bool found = any_named && blocks_find(named, address, &block);
    if (!found && find_on_stack(address, site, object))
        return;
    if (found || blocks_find(heap, address, &block)) {
        *object = (struct object){block.owner, block.start, block.size};
        if (any_named) /* a part of it may have another name */
            object->size = 0;
    } else if (address >= break_low && address < break_high) {
        find_between_blocks(object);
    } else if (!variable_find(address, object)) {
        find_outside(address, object);
    } else if (any_named) {
        object->size = 0;
    }
}

UInt object_trail(Addr address, uint32_t bucket, Addr trail[4])
{
    UInt n = 0;
    const void *read = blocks_read_at(heap, address);
    if (read)
        trail[n++] = (Addr)read;
    trail[n++] = (Addr)raw_bucket_at(bucket);
    return n;
}
