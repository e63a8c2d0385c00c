/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The tool's start and end, and what the process does in between: fork, exec, modules that
 * come and go, requests of the program. */
#include "tool.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_clreq.h"
#include "core/version.h"

#include <asm/unistd.h>
#include <elf.h>

enum { POLL = 100000 }; /* blocks: some milliseconds */

struct tool tool;

static void *allocate(void *context, SizeT size)
{
    (void)context;
    return VG_(malloc)("strata", size);
}

static void release(void *context, void *block)
{
    (void)context;
    VG_(free)(block);
}

const struct allocator tool_allocator = {allocate, release, NULL};

static ULong last_poll;
static HChar last_word;    /* of `strata record` */
static bool exiting;       /* the program asked for its end */
static int32_t own_signal; /* the last that it sent itself */

static Bool option(const HChar *argument)
{
    return VG_STR_CLO(argument, "--strata-dir", tool.folder) ||
           VG_STR_CLO(argument, "--strata-symbols", tool.strata);
}

static void usage(void)
{
    VG_(printf)
    ("    --strata-dir=DIR        where the configuration is and counts go\n"
     "    --strata-symbols=FILE   the strata program, which reads symbols\n"
     "    This tool is started by `strata record`.\n");
}

static void debug_usage(void)
{
    VG_(printf)("    (none)\n");
}

/* Whether the program has no dynamic linker. */
static bool is_static(void)
{
    HChar path[VKI_PATH_MAX];
    Elf64_Ehdr header;
    Elf64_Phdr part;
    VG_(client_fname)(path, sizeof path, False);
    SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
    if (sr_isError(opened))
        return false;
    Int fd = (Int)sr_Res(opened);
    bool linked = VG_(read)(fd, &header, sizeof header) != sizeof header ||
                  VG_(memcmp)(header.e_ident, ELFMAG, SELFMAG) != 0;
    for (UInt i = 0; !linked && i < header.e_phnum; i++) {
        VG_(lseek)(fd, (Off64T)(header.e_phoff + i * sizeof part), VKI_SEEK_SET);
        linked =
            VG_(read)(fd, &part, sizeof part) != sizeof part || part.p_type == PT_INTERP;
    }
    VG_(close)(fd);
    return !linked;
}

static void start(void)
{
    if (!tool.folder) {
        VG_(umsg)("strata: this tool is started by `strata record`\n");
        VG_(exit)(2);
    }
    tool.off = !raw_open();
    if (tool.off)
        return;
    totals_start();
    access_start();
    sample_start();
    objects_start();
    heap_start();
    if (tool.raw->branches) {
        branch_start();
        /* A jump that is followed within a block, or a loop that is unrolled, is no branch
         * any more. */
        VG_(clo_vex_control).guest_chase = False;
        VG_(clo_vex_control).iropt_unroll_thresh = 0;
    }
    /* Where a call of malloc does not go through a table of the dynamic linker, its entry
     * would be in the middle of a block, where the arguments may be in no register. */
    if (is_static())
        VG_(clo_vex_control).guest_chase = False;
}

/* Valgrind does not say the exit status here, nor the signal; before_call() has seen what
 * the program asked for. Who neither exits nor sends itself a signal was sent one by
 * somebody, or made a fault: 0 stands for a signal that is not known. */
static void finish(Int status)
{
    (void)status;
    if (tool.off)
        return;
    totals_write();
    tool.raw->end = exiting ? RAW_EXITED : RAW_SIGNALLED;
    if (!exiting)
        tool.raw->status = own_signal;
}

static void forked(ThreadId tid)
{
    (void)tid;
    if (tool.off)
        return;
    object_threads = 1; /* the others stay with the parent */
    raw_forked();
    totals_forked();
    pmu_forked();
}

static void before_fork(ThreadId tid)
{
    (void)tid;
    if (!tool.off)
        totals_write();
}

static void on_map(Addr start, SizeT size, Bool r, Bool w, Bool x, ULong handle)
{
    (void)start, (void)size, (void)r, (void)w, (void)x;
    if (handle)
        variables_changed();
}

/* A thread's stack was something else before, and is so again afterwards. */
static void on_thread_start(ThreadId tid)
{
    (void)tid;
    object_threads++;
    object_age++;
}

static void on_thread_end(ThreadId tid)
{
    (void)tid;
    object_threads--;
    object_threads_ended++;
    object_age++;
}

/* `strata record` may have left a word: 's' to collect, 'p' to pause. */
static void poll_command(void)
{
    HChar path[VKI_PATH_MAX], word;
    VG_(snprintf)(path, sizeof path, "%s/command", tool.folder);
    SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
    if (sr_isError(opened))
        return;
    if (VG_(read)((Int)sr_Res(opened), &word, 1) == 1 && word != last_word) {
        last_word = word;
        totals_collect(word == 's');
    }
    VG_(close)((Int)sr_Res(opened));
}

static void on_run(ThreadId tid, ULong blocks)
{
    if (tool.off)
        return;
    heap_switch(tid);
    if (blocks - last_poll >= POLL) {
        last_poll = blocks;
        poll_command();
        totals_write();
    }
}

static void before_call(ThreadId tid, UInt number, UWord *args, UInt n)
{
    (void)tid, (void)n;
    if (tool.off)
        return;
    Word pid = tool.raw->pid;
    if (number == __NR_exit_group || (number == __NR_exit && object_threads <= 1)) {
        exiting = true;
        tool.raw->status = (int32_t)(args[0] & 0xff);
    }
    if (number == __NR_tgkill && (Word)args[0] == pid)
        own_signal = (int32_t)args[2];
    if (number == __NR_kill && (Word)args[0] == pid)
        own_signal = (int32_t)args[1];
    if (number == __NR_execve) {
        totals_write();
        tool.raw->end = RAW_EXECUTED;
    }
}

static void after_call(ThreadId tid, UInt number, UWord *args, UInt n, SysRes result)
{
    (void)tid, (void)args, (void)n, (void)result;
    if (number == __NR_execve && !tool.off) /* it failed, else nobody is here */
        tool.raw->end = RAW_RUNNING;
}

static void on_break(Addr start, SizeT size, ThreadId tid)
{
    (void)tid;
    object_break(start, size);
}

static void on_discard(Addr start, VexGuestExtents extents)
{
    (void)start;
    for (UInt i = 0; i < extents.n_used; i++)
        sites_forget(extents.base[i], extents.len[i]);
}

static void before_options(void)
{
    VG_(details_name)("strata");
    VG_(details_version)(build_version);
    VG_(details_description)("a program on a simulated machine");
    VG_(details_copyright_author)("GPL-2.0-or-later, the strata authors.");
    VG_(details_bug_reports_to)("the strata authors");
    VG_(details_avg_translation_sizeB)(400);
    VG_(basic_tool_funcs)(start, instrument, finish);
    VG_(needs_command_line_options)(option, usage, debug_usage);
    VG_(needs_client_requests)(pmu_request);
    VG_(needs_syscall_wrapper)(before_call, after_call);
    VG_(needs_superblock_discards)(on_discard);
    VG_(track_new_mem_mmap)(on_map);
    VG_(track_new_mem_startup)(on_map);
    VG_(track_new_mem_brk)(on_break);
    VG_(track_die_mem_munmap)(variables_unmapped);
    VG_(track_pre_thread_first_insn)(on_thread_start);
    VG_(track_pre_thread_ll_exit)(on_thread_end);
    VG_(track_start_client_code)(on_run);
    VG_(atfork)(before_fork, NULL, forked);
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
