/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hardware and the simulator on the same strings: this machine is probed, what was
 * found is made a machine, and that is probed again. The two must agree: what was found the
 * first time is now the truth.
 *
 *     build/bench/agree [FILE.machine]      the same, beginning with a simulated machine */
#include <math.h>
#include <stdio.h>
#include <strata/error.h>
#include <strata/probe.h>
#include <string.h>

static int compared, agreed;

/* Only what both tell is compared. Times agree within a tenth, or a cycle. */
static void compare(const char *what, int level, const struct strata_value *first,
                    const struct strata_value *again, double share)
{
    char here[32] = "-", there[32] = "-", verdict[16] = "";
    if (first->known)
        snprintf(here, sizeof here, "%.6g", first->value);
    if (again->known)
        snprintf(there, sizeof there, "%.6g", again->value);
    if (first->known && again->known) {
        double by = share > 0 ? fmax(1, share * first->value) : 0;
        bool same =
            fabs(first->value - again->value) <= by ||
            (share > 0 && again->value >= first->low && again->value <= first->high);
        snprintf(verdict, sizeof verdict, "%s", same ? "agrees" : "DIFFERS");
        compared++;
        agreed += same;
    }
    printf("  L%d %-14s %12s %12s  %s\n", level, what, here, there, verdict);
}

static void compare_all(const struct strata_probed *a, const struct strata_probed *b)
{
    struct strata_value levels[2] = {{.known = true, .value = a->ncaches},
                                     {.known = true, .value = b->ncaches}};
    printf("%-21s %9s %12s\n", "", "measured", "simulated");
    compare("cache levels", 0, &levels[0], &levels[1], 0);
    for (int i = 0; i < a->ncaches && i < b->ncaches; i++) {
        const struct strata_probed_cache *x = &a->caches[i], *y = &b->caches[i];
        compare("size", i + 1, &x->size, &y->size, 0);
        compare("effective", i + 1, &x->effective, &y->effective, 0.15);
        compare("line", i + 1, &x->line, &y->line, 0);
        compare("ways", i + 1, &x->ways, &y->ways, 0);
        compare("latency", i + 1, &x->latency_cycles, &y->latency_cycles, 0.1);
    }
    compare("memory latency", a->ncaches + 1, &a->memory_cycles, &b->memory_cycles, 0.1);
    for (int i = 0; i < a->ntlbs && i < b->ntlbs; i++) {
        const struct strata_probed_tlb *x = &a->tlbs[i], *y = &b->tlbs[i];
        compare("TLB entries", x->level, &x->entries, &y->entries, 0);
        compare("TLB ways", x->level, &x->ways, &y->ways, 0);
        compare("TLB penalty", x->level, &x->penalty_cycles, &y->penalty_cycles, 0.1);
    }
}

int main(int argc, char **argv)
{
    struct strata_machine machine;
    struct strata_probed first, again;
    struct strata_error error;
    struct strata_probe_options options = {.cpu = -1};
    int status = 0;
    if (argc > 1) {
        status = strata_machine_read(argv[1], &machine, &error);
        options.machine = &machine;
    }
    if (!status)
        status = strata_probe(&options, &first, &error);
    if (!status)
        status = strata_probed_machine(&first, &machine, &error);
    options.machine = &machine;
    if (!status)
        status = strata_probe(&options, &again, &error);
    if (status) {
        fprintf(stderr, "%s\n", error.text);
        return status;
    }
    compare_all(&first, &again);
    printf("%d of %d agree\n", agreed, compared);
    strata_probed_release(&first);
    strata_probed_release(&again);
    return agreed != compared;
}
