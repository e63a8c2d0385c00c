/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processes from /proc/PID/stat, a line whose second word, the name of the program, may
 * have spaces and parentheses in it. */
#include "host/processes.h"

#include "core/fail.h"
#include "host/facts.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int process_parse(const char *line, struct process *process)
{
    const char *open = strchr(line, '('), *close = strrchr(line, ')');
    uint64_t user, system;
    long threads;
    char *end;
    long pid = strtol(line, &end, 10);
    if (!open || !close || close < open || end == line || pid < 1 || pid > INT_MAX)
        return -1;
    /* state, 5 numbers, flags, 4 of page faults; times; 2 of children, 2 of priority */
    if (sscanf(close + 1,
               " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
               " %*d %*d %*d %*d %ld %*d %" SCNu64,
               &process->state, &user, &system, &threads, &process->start) != 5)
        return -1;
    process->pid = (pid_t)pid;
    process->ticks = user + system;
    process->threads = threads < 1 ? 1 : threads > INT_MAX ? INT_MAX : (uint32_t)threads;
    snprintf(process->name, sizeof process->name, "%.*s", (int)(close - open - 1),
             open + 1);
    return 0;
}

/* One whose first thread alone has ended still runs. */
static bool has_ended(const struct process *process)
{
    return strchr("ZXx", process->state) && process->threads <= 1;
}

int process_read(const char *root, pid_t pid, struct process *process)
{
    char path[PATH_MAX], folder[32], name[40], line[1024];
    struct stat info;
    snprintf(folder, sizeof folder, "/proc/%d", (int)pid);
    snprintf(name, sizeof name, "%s/stat", folder);
    snprintf(path, sizeof path, "%s%s", root, folder);
    *process = (struct process){.pid = 0};
    if (stat(path, &info) != 0 || facts_read_line(root, name, line, sizeof line) != 0 ||
        process_parse(line, process) != 0 || process->pid != pid || has_ended(process))
        return -1;
    process->uid = info.st_uid;
    return 0;
}

static int add(struct process_list *processes, const struct process *process)
{
    if ((processes->n & (processes->n - 1)) == 0) { /* room is a power of two */
        size_t room = processes->n ? 2 * processes->n : 1;
        void *more = realloc(processes->list, room * sizeof *processes->list);
        if (!more)
            return -1;
        processes->list = more;
    }
    processes->list[processes->n++] = *process;
    return 0;
}

static int by_pid(const void *a, const void *b)
{
    const struct process *left = a, *right = b;
    return (left->pid > right->pid) - (left->pid < right->pid);
}

int processes_read(const char *root, struct process_list *processes,
                   struct strata_error *error)
{
    char path[PATH_MAX];
    int bad = 0;
    *processes = (struct process_list){.n = 0};
    snprintf(path, sizeof path, "%s/proc", root);
    DIR *dir = opendir(path);
    if (!dir)
        return fail(error, STRATA_UNABLE, "%s: %s; is it mounted?", path, strerror(errno));
    for (struct dirent *entry; !bad && (entry = readdir(dir));) {
        struct process process;
        int pid = atoi(entry->d_name);
        if (pid > 0 && process_read(root, pid, &process) == 0)
            bad = add(processes, &process);
    }
    closedir(dir);
    if (bad) {
        processes_release(processes);
        return fail(error, STRATA_FAILED, "out of memory");
    }
    if (processes->n)
        qsort(processes->list, processes->n, sizeof *processes->list, by_pid);
    return STRATA_OK;
}

void processes_release(struct process_list *processes)
{
    free(processes->list);
    *processes = (struct process_list){.n = 0};
}
