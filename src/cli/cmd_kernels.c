/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata kernels: runs the kernels of `strata inspect` on the simulated machine under which
 * this process runs, and leaves what each run counted. A person need not know it.
 *
 * FILE begins with struct plan_options; behind it come the totals of each run. */
#include "cli/commands.h"
#include "cli/inspecting.h"
#include "core/fail.h"
#include "host/shipped.h"
#include "profile/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <strata/vpmu.h>
#include <string.h>
#include <unistd.h>

struct recording {
    FILE *file;
    struct raw_totals before, after;
};

static void totals(struct raw_totals *now)
{
    (void)vpmu_request(VPMU_NOT_AVAILABLE, VPMU_REQUEST_TOTALS, (unsigned long)now, 0, 0);
}

static int count(void *context, size_t run, size_t group, void (*work)(void *),
                 void *argument, struct strata_error *error)
{
    struct recording *r = context;
    (void)run, (void)group;
    totals(&r->before);
    work(argument);
    totals(&r->after);
    uint64_t *to = (uint64_t *)&r->after;
    const uint64_t *from = (const uint64_t *)&r->before;
    for (size_t i = 0; i < sizeof r->after / sizeof *to; i++)
        to[i] -= from[i];
    if (fwrite(&r->after, sizeof r->after, 1, r->file) != 1)
        return fail(error, STRATA_FAILED, "cannot write counts: %m");
    return STRATA_OK;
}

static int run_plan(FILE *file, struct strata_error *error)
{
    struct plan_options options;
    struct matrices matrices;
    struct plan plan;
    char folder[PATH_MAX];
    if (fread(&options, sizeof options, 1, file) != 1)
        return fail(error, STRATA_BAD_INPUT, "no plan in the file");
    int status = place_of_metrics(folder, error);
    if (!status)
        status = matrices_read(folder, &matrices, error);
    if (status)
        return status;
    if (plan_make(&options, &matrices, &plan) != 0)
        return fail(error, STRATA_FAILED, "out of memory");
    struct recording recording = {.file = file};
    const struct counters counting = {.context = &recording, .groups = 1, .count = count};
    if (fseek(file, 0, SEEK_CUR) != 0) /* from reading to writing */
        status = fail(error, STRATA_FAILED, "cannot write counts: %m");
    if (!status)
        status = perform(&plan, &matrices, &counting, error);
    plan_release(&plan);
    return status;
}

int kernels_run(const char *path, struct strata_error *error)
{
    struct raw_totals try;
    if (vpmu_request(VPMU_NOT_AVAILABLE, VPMU_REQUEST_TOTALS, (unsigned long)&try, 0, 0) !=
        0)
        return fail(error, STRATA_UNABLE,
                    "this process does not run on a simulated machine");
    FILE *file = fopen(path, "r+e");
    if (!file)
        return fail(error, STRATA_BAD_INPUT, "%s: %s", path, strerror(errno));
    int status = run_plan(file, error);
    if (fclose(file) != 0 && !status)
        status = fail(error, STRATA_FAILED, "%s: %m", path);
    return status;
}

int cmd_kernels(const struct options *options, struct strata_error *error)
{
    if (options->noperands != 1)
        return fail(error, STRATA_BAD_INPUT, "strata kernels FILE");
    return kernels_run(options->operands[0], error);
}
