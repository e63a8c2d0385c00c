/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Slopes of loops: branches, what the operating system does, instructions and cycles. */
#include "inspect/fit.h"
#include "inspect/inner.h"

#include <string.h>

enum { POINTS = 64 };

static struct fit fit_of(const struct counts_table *table, size_t event, enum run_kind kind,
                         uint32_t kernel)
{
    double x[POINTS], y[POINTS];
    size_t n = event_points(table, event, kind, kernel, x, y, POINTS);
    return fit_line(x, y, n);
}

static bool has_runs(const struct plan *plan, enum run_kind kind)
{
    for (size_t i = 0; i < plan->n; i++)
        if (plan->runs[i].kind == kind)
            return true;
    return false;
}

static void by_matrix(const struct counts_table *table, size_t event,
                      struct finding *finding, const struct matrix *matrix,
                      enum run_kind kind, enum family family, double *slopes)
{
    double supported[MATRIX_KERNELS];
    if (!has_runs(table->plan, kind))
        return;
    for (uint32_t k = 0; k < matrix->nkernels; k++) {
        struct fit fit = fit_of(table, event, kind, k);
        slopes[k] = fit.slope;
        supported[k] = fit.slope * fit.r2;
        if (kind == RUN_BRANCH)
            finding->r2[k] = fit.r2;
    }
    for (size_t i = 0; i < matrix->ncategories; i++)
        finding_score(finding, family, matrix->categories[i].name,
                      matrix->categories[i].label,
                      goodness(supported, matrix->categories[i].slopes, matrix->nkernels));
}

static size_t kernel_of(const struct matrix *matrix, const char *name)
{
    size_t i = 0;
    while (i < matrix->nkernels && strcmp(matrix->kernels[i].name, name) != 0)
        i++;
    return i;
}

/* Whether an event counts in kernels that touch no memory. */
static void look_without_memory(const struct counts_table *table, size_t event,
                                struct finding *finding)
{
    static const char *const names[] = {"idle", "guess"};
    const struct matrix *matrix = &table->matrices->work;
    for (size_t i = 0; i < 2; i++) {
        size_t kernel = kernel_of(matrix, names[i]);
        struct fit fit = fit_of(table, event, RUN_WORK, (uint32_t)kernel);
        finding->without_memory |= fit.slope * fit.r2 > 0.05;
    }
}

/* Cycles: at most about one for an instruction that does nothing, and many times that for
 * one that waits for memory. Where memory takes no time, cycles are what goes on while the
 * processor sleeps and no instruction ends. */
static void by_cycles(const struct counts_table *table, size_t event,
                      struct finding *finding)
{
    enum { SLOWER = 4, SLEEP = 100000 };
    const struct matrix *matrix = &table->matrices->work;
    size_t idle = kernel_of(matrix, "idle"), miss = kernel_of(matrix, "miss");
    if (!has_runs(table->plan, RUN_WORK) || idle == matrix->nkernels ||
        miss == matrix->nkernels)
        return;
    struct fit quick = fit_of(table, event, RUN_WORK, (uint32_t)idle);
    struct fit slow = fit_of(table, event, RUN_WORK, (uint32_t)miss);
    struct fit sleep = fit_of(table, event, RUN_HALT, 0);
    bool steps = quick.slope > 0.1 && quick.slope < 1.2;
    bool waits = slow.slope * slow.r2 > SLOWER * quick.slope;
    bool sleeps = table->flat_memory && sleep.slope * sleep.r2 > SLEEP;
    /* It counts each instruction too, but these do not go on in a sleep. */
    if (sleeps && finding->best.family == FAMILY_WORK)
        finding->best.goodness = 0;
    finding_score(finding, FAMILY_WORK, "cycles", "cycles",
                  !steps || !(waits || sleeps) ? 0 : quick.r2 * slow.r2);
}

void find_loops(const struct counts_table *table, size_t event, struct finding *finding)
{
    const struct matrices *m = table->matrices;
    by_matrix(table, event, finding, &m->branches, RUN_BRANCH, FAMILY_BRANCH,
              finding->slopes);
    by_matrix(table, event, finding, &m->system, RUN_SYSTEM, FAMILY_SYSTEM,
              finding->system_slopes);
    by_matrix(table, event, finding, &m->work, RUN_WORK, FAMILY_WORK, finding->work_slopes);
    look_without_memory(table, event, finding);
    by_cycles(table, event, finding);
}
