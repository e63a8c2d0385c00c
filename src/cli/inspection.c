/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `strata inspect` has measured; inspecting.h has the contract. */
#include "cli/inspecting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int inspection_add(struct inspection *inspection, const char *name)
{
    size_t n = inspection->nevents;
    char **names = realloc(inspection->names, (n + 1) * sizeof *names);
    if (names)
        inspection->names = names;
    char **why = realloc(inspection->why, (n + 1) * sizeof *why);
    if (why)
        inspection->why = why;
    if (!names || !why)
        return -1;
    names[n] = strdup(name);
    why[n] = strdup("");
    inspection->nevents++;
    return names[n] && why[n] ? 0 : -1;
}

int inspection_refer(struct inspection *inspection, const char *const *names, size_t n)
{
    if (!inspection->nevents)
        return 0;
    inspection->asked = inspection->nevents;
    for (size_t i = 0; i < n; i++) {
        bool there = false;
        for (size_t j = 0; j < inspection->nevents; j++)
            there |= strcmp(inspection->names[j], names[i]) == 0;
        if (!there && inspection_add(inspection, names[i]) != 0)
            return -1;
    }
    return 0;
}

int inspection_refuse(struct inspection *inspection, size_t event, const char *why)
{
    char *copy = strdup(*why ? why : "not counted");
    if (!copy)
        return -1;
    free(inspection->why[event]);
    inspection->why[event] = copy;
    return 0;
}

static double *not_known(size_t n)
{
    double *numbers = malloc((n ? n : 1) * sizeof *numbers);
    for (size_t i = 0; numbers && i < n; i++)
        numbers[i] = NAN;
    return numbers;
}

int inspection_room(struct inspection *inspection)
{
    size_t n = inspection->plan.n * inspection->nevents;
    free(inspection->counts);
    free(inspection->ns);
    inspection->counts = not_known(n);
    inspection->ns = not_known(inspection->plan.n);
    return inspection->counts && inspection->ns ? 0 : -1;
}

void inspection_release(struct inspection *inspection)
{
    for (size_t i = 0; i < inspection->nevents; i++) {
        free(inspection->names[i]);
        free(inspection->why[i]);
    }
    free(inspection->names);
    free(inspection->why);
    free(inspection->counts);
    free(inspection->ns);
    plan_release(&inspection->plan);
    pmu_model_release(&inspection->model);
    *inspection = (struct inspection){.nevents = 0};
}
