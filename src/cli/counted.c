/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading what is to be counted. */
#include "cli/counted.h"

#include "core/fail.h"
#include "host/shipped.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>

int counted_target(const struct options *options, struct pmu_target *target,
                   char what[COUNTED_WHAT], bool *given, struct strata_error *error)
{
    uint64_t pid = 0;
    bool all = option_given(options, "all");
    const char *group = option_text(options, "cgroup");
    int status = option_whole(options, "pid", 1, INT32_MAX, &pid, error);
    if (status)
        return status;
    if ((pid != 0) + all + (group != NULL) > 1)
        return fail(error, STRATA_BAD_INPUT,
                    "--pid, --all and --cgroup are three targets; give one of them");
    *given = pid || all || group;
    if (!*given)
        return STRATA_OK;
    *target = (struct pmu_target){.kind = pid     ? PMU_PROCESS
                                          : group ? PMU_CGROUP
                                                  : PMU_ALL,
                                  .pid = (pid_t)pid,
                                  .cgroup = group,
                                  .inherit = pid != 0};
    if (pid && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return fail(error, STRATA_BAD_INPUT,
                    "--pid %d: there is no such process, or it has ended", (int)pid);
    if (pid)
        snprintf(what, COUNTED_WHAT, "process %d", (int)pid);
    else
        snprintf(what, COUNTED_WHAT, "%.255s", group ? group : "all processors");
    return STRATA_OK;
}

int counted_events(const struct options *options, const char *standard,
                   struct pmu_model *model, struct pmu_list *list,
                   struct strata_error *error)
{
    char folder[PATH_MAX];
    const char *events = option_text(options, "events");
    int status = place_of_metrics(folder, error);
    if (!status)
        status = pmu_model_read(model, folder, "", error);
    if (!status)
        status = pmu_list_split(events ? events : standard, list, error);
    return status ? status : pmu_list_bind(list, model, &pmu_system_here, error);
}
