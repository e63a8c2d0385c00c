/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The Valgrind tool: a program's loads and stores on a simulated machine.
 *
 * Its parts, each a file:
 *
 *     main.c        options, start, end, fork, exec, client requests
 *     instrument.c  what is added to the program's code
 *     access.c      an access on the simulated machine, and what follows from a miss
 *     sample.c      sampling, and what the sampler itself does to the machine
 *     objects.c     address -> bucket: stack, heap, variables
 *     heap.c        the program's own allocator, watched at its entries and returns
 *     variables.c   variables of modules, from `strata symbols`
 *     sites.c       instructions with their function and line
 *     branch.c      branches and the predictor
 *     pmu.c         the virtual PMU that programs reach by client requests
 *     totals.c      what the whole process did, and what of it is recorded
 *     raw.c         the file that all counts are in (src/profile/raw.h)
 *
 * Program-wide state is allowed here and only here: Valgrind calls back without a context,
 * and runs one thread at a time. */
#ifndef VALGRIND_TOOL_H
#define VALGRIND_TOOL_H

#include "pub_tool_basics.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_stacktrace.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"

#include "attrib/blocks.h"
#include "profile/raw.h"

#include <stdbool.h>
#include <stdint.h>

/* An instruction that reads or writes memory. */
struct site {
    Addr address;
    struct site *next; /* of the same hash */
    uint32_t id;       /* in the raw file; RAW_NONE until it has an event */
    /* The object of its last event: where that is, and until when this holds. */
    uint32_t bucket;
    Addr from;
    SizeT size;
    uint64_t age;              /* object_age at the time */
    struct raw_cell *cells[2]; /* of that bucket, exact and sampled, or NULL */
};

enum { EXACT, SAMPLED }; /* what cells[] are of */

struct tool {
    const HChar *folder; /* where config is and raw files go */
    const HChar *strata; /* the program that reads symbols; NULL: none */
    struct raw_header *raw;
    struct sim *sim;
    uint32_t cache_levels, tlb_levels;
    bool collecting; /* counts go to cells; the machine is simulated in any case */
    bool exact, sampling;
    bool off; /* nothing could be opened: the program runs and is left alone */
};

extern struct tool tool;
extern const struct allocator tool_allocator; /* Valgrind's own memory, for shared parts */

/* raw.c */

/* Makes this process's file from the folder's config. False, with a message: it cannot. */
bool raw_open(void);
/* In a child, after fork: a file of its own, with all counts at 0. */
void raw_forked(void);
/* A new record, to be filled in and then published; NULL: the disk is full. */
void *raw_append(uint32_t type, uint32_t size);
void raw_publish(void);
/* The id of a text, the same for the same text. */
uint32_t raw_text(const HChar *text);
/* The cell of a bucket and a site. Never NULL: on a full disk it is one that nobody reads.
 */
struct raw_cell *raw_cell_of(uint32_t bucket, uint32_t site, uint32_t collect);
/* A new bucket; its number. */
uint32_t raw_new_bucket(uint32_t kind, const HChar *name, const HChar *module,
                        const HChar *place);
struct raw_bucket *raw_bucket_at(uint32_t bucket);
/* What lives of a bucket. A child of fork needs it as it was at the fork, so it is kept
 * outside the file too, which is the parent's at that moment. */
struct raw_lives {
    uint64_t objects, bytes;
};
struct raw_lives *raw_lives_at(uint32_t bucket);
/* A new site like this one; its number. */
uint32_t raw_new_site(const struct raw_site *like);

/* totals.c */

/* Since the start or the fork, pauses included; cycles and counts are as of
 * totals_renew(). */
extern struct raw_totals totals;
void totals_start(void);
void totals_renew(void);
/* Brings those of the raw file up to date. */
void totals_write(void);
/* Collects, or pauses. */
void totals_collect(bool on);
void totals_forked(void);

/* sites.c */

struct site *site_of(Addr address);
/* The site's number in the raw file; looks up its function and line the first time. */
uint32_t site_number(struct site *site);
/* The function at an address, without the version that a symbol may have; NULL: not known.
 * Valid until the next call. */
const HChar *site_function(Addr address);
void sites_forget(Addr start, SizeT size);

/* access.c */

/* Kinds of access that differ for the simulated machine. */
enum access_kind { ACCESS_LOAD, ACCESS_STORE, ACCESS_FLOAT, ACCESS_FETCH, ACCESS_KINDS };

void access_start(void);
/* Tells the simulated machine of hits that it has not counted yet. */
void access_refresh(void);
/* What all these accesses would take if they hit the nearest cache. */
uint64_t access_near_cycles(const struct sim_counts *counts);
/* What to call for an access: by kind and log2 of the size, up to 32 bytes; and for any
 * size, with the size times 256 and the kind in one word. */
enum { ACCESS_SIZES = 6 };
typedef VG_REGPARM(2) void access_function(Addr address, struct site *site);
access_function *access_function_of(enum access_kind kind, UInt power);
VG_REGPARM(3) void access_any(Addr address, UWord size_and_kind, struct site *site);
/* Adds one event to the cell of a site and the bucket of an address. */
void access_count(int which, struct site *site, Addr address, enum access_kind kind,
                  const struct sim_result *result);

/* sample.c */

void sample_start(void);
/* How many events to the next sample: evenly from half a period to one and a half. */
struct rng;
uint64_t sample_distance(struct rng *numbers, uint64_t period);
/* An event of the sampled kind happened. */
void sample_event(struct site *site, Addr address, enum access_kind kind,
                  const struct sim_result *result);

/* objects.c */

void objects_start(void);
/* What an address belongs to, and the range around it for which that is so, as long as
 * object_age does not change. */
struct object {
    uint32_t bucket;
    Addr from;
    SizeT size;
};
void object_find(Addr address, struct site *site, struct object *object);
/* Asks the memory of this computer for what that will read. */
void object_expect(Addr address);
extern uint64_t object_age; /* grows when an object goes, or is named, or modules change */
extern UInt object_threads; /* that live */
extern uint64_t object_threads_ended;
/* The heap that the kernel keeps behind the program grew. */
void object_break(Addr start, SizeT size);
void object_add(Addr start, SizeT size, uint32_t bucket);
void object_remove(Addr start);
/* The program gives a range a name. */
void object_name(Addr start, SizeT size, const HChar *name);
void object_forget(Addr start);
/* The bucket that a stack of callers, nearest first, allocates for; *used: how many of
 * them that depends on. */
uint32_t object_heap_bucket(const Addr *callers, UInt n, UInt *used);
uint32_t object_code_bucket(void);
/* Addresses of the tool's own memory that a look-up reads, for the sampler; their number.
 */
UInt object_trail(Addr address, uint32_t bucket, Addr trail[4]);

/* heap.c */

void heap_start(void);
struct heap_function;
/* The allocator's function that begins at an address, or NULL. */
const struct heap_function *heap_function_at(Addr address);
VG_REGPARM(2) void heap_enter(const struct heap_function *function, const void *guest);
/* A return that leaves at least the stack pointer that is expected. */
VG_REGPARM(3) void heap_leave(UWord result, Addr sp, Addr target);
#define HEAP_NOWHERE ((Addr)-1)
extern Addr heap_expected_sp; /* of the running thread; nowhere: it is in no allocator */
void heap_switch(ThreadId tid);

/* variables.c */

/* Modules came. */
void variables_changed(void);
/* What was mapped there is not any more; it may have been a module. */
void variables_unmapped(Addr start, SizeT size);
/* The variable that holds an address. If there is none, returns false and gives the gap
 * between variables around it. */
bool variable_find(Addr address, struct object *object);

/* branch.c */

void branch_start(void);
VG_REGPARM(2) void branch_conditional(Addr address, UWord taken);
VG_REGPARM(2) void branch_indirect(Addr address, Addr target);
VG_REGPARM(1) void branch_jump(Addr address);
VG_REGPARM(3) void branch_call(Addr address, Addr target, Addr returns_to);
VG_REGPARM(1) void branch_return(Addr target);

/* pmu.c */

extern bool pmu_checks;         /* code has to look at the counters */
extern uint64_t pmu_next_check; /* instructions at which pmu_check() is to be called */
extern uint32_t pmu_periods;    /* counters that take samples */
VG_REGPARM(1) void pmu_check(Addr instruction);
/* An access missed the nearest cache or TLB. */
void pmu_event(Addr address, Addr instruction, const struct sim_result *result);
/* In a child, after fork: its totals begin at 0. */
void pmu_forked(void);
Bool pmu_request(ThreadId tid, UWord *args, UWord *result);

/* instrument.c */

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                 IRType host_word);

#endif
