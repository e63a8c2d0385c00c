/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The processes that there are, with the processor time that each has used, by the
 * kernel's account in /proc. */
#ifndef HOST_PROCESSES_H
#define HOST_PROCESSES_H

#include <stddef.h>
#include <stdint.h>
#include <strata/error.h>
#include <sys/types.h>

struct process {
    pid_t pid;
    uid_t uid;        /* that it acts for */
    char name[64];    /* as the program is called, cut off by the kernel after 15 bytes */
    char state;       /* 'R', 'S', ...; 'Z': it has ended, but for its parent */
    uint32_t threads; /* at least 1 */
    uint64_t ticks;   /* of processor time; sysconf(_SC_CLK_TCK) are a second */
    uint64_t start;   /* in ticks since the machine started: tells apart two processes that
                         had the same pid */
};

struct process_list {
    struct process *list; /* by pid */
    size_t n;
};

/* `root` goes before /proc, "" for this machine. Those that have ended are left out.
 * STRATA_UNABLE: there is no /proc. */
int processes_read(const char *root, struct process_list *processes,
                   struct strata_error *error);

/* One of them; -1: there is none, or it has ended. */
int process_read(const char *root, pid_t pid, struct process *process);
void processes_release(struct process_list *processes);

/* Reads the line of /proc/PID/stat; all but uid. -1: it is none. */
int process_parse(const char *line, struct process *process);

#endif
