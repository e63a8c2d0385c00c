/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata inspect on simulated machines: how many of the events of the virtual PMU are put
 * in their true category, in none, or in a wrong one, clean, with 2% of noise, and with a
 * background that drifts; the slopes of the source's Table 1; sizes read back; and how long
 * it takes. Targets: none wrong, nothing in none but what is known to be, sizes exact, at
 * most 120 s.
 *
 * tests/data/inspect-truth.csv is the truth of a machine with three levels, two TLBs,
 * prefetchers in front of both nearer levels and a branch predictor. Of another machine,
 * what the file says is taken into account: levels that are missing, prefetchers that are.
 *
 *     build/bench/inspect [MACHINE]...      generic, the small ones of tests/machines, and
 *                                           shipped ones whose prefetchers act on every
 * miss */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <strata/error.h>
#include <strata/machine.h>
#include <string.h>
#include <time.h>

enum { EVENTS = 256, SECONDS = 120 };

struct truth {
    size_t n;
    char event[EVENTS][64], category[EVENTS][32];
};

static bool read_truth(struct truth *truth)
{
    char line[128];
    FILE *file = fopen("tests/data/inspect-truth.csv", "r");
    if (!file || !fgets(line, sizeof line, file))
        return false;
    for (truth->n = 0; truth->n < EVENTS && fgets(line, sizeof line, file); truth->n++) {
        line[strcspn(line, "\n")] = '\0';
        char *comma = strchr(line, ',');
        if (!comma)
            return false;
        *comma = '\0';
        snprintf(truth->event[truth->n], 64, "%.63s", line);
        snprintf(truth->category[truth->n], 32, "%.31s", comma + 1);
    }
    fclose(file);
    return true;
}

/* What the machine makes of the truth. */

static uint32_t last_level(const struct strata_machine *machine)
{
    return machine->caches[machine->ncaches - 1].level;
}

static uint32_t last_tlb(const struct strata_machine *machine)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < machine->ntlbs; i++)
        if (machine->tlbs[i].kind != STRATA_INSTRUCTION && machine->tlbs[i].level > last)
            last = machine->tlbs[i].level;
    return last;
}

/* Whether something is prefetched into a level, or into a nearer one. */
static bool prefetches(const struct strata_machine *machine, uint32_t level, bool nearer)
{
    for (uint32_t i = 0; i < machine->nprefetchers; i++)
        if (machine->prefetchers[i].kind != STRATA_PREFETCH_NONE &&
            (nearer ? machine->prefetchers[i].level < level
                    : machine->prefetchers[i].level == level))
            return true;
    return false;
}

static void settle_cache(const struct strata_machine *machine, const char *event,
                         char category[32])
{
    uint32_t level = (uint32_t)strtoul(event + 1, NULL, 10);
    bool own = prefetches(machine, level, false), nearer = prefetches(machine, level, true);
    if (level > last_level(machine)) {
        *category = '\0';
    } else if (strstr(event, "_prefetches")) {
        if (own)
            snprintf(category, 32, "L%u.prefetch", level);
        else
            *category = '\0';
    } else if (strstr(event, "_fills")) {
        snprintf(category, 32, "L%u.miss%s", level, own ? ".all" : "");
    } else if (strstr(event, "_evictions")) {
        snprintf(category, 32, "L%u.miss%s", level, own || nearer ? ".all" : "");
    }
}

/* Without a predictor nothing is guessed wrong, and so nothing is thrown away. */
static void settle_branch(const char *event, char category[32])
{
    if (*category == 'M')
        *category = '\0';
    else if (strcmp(event, "instructions_executed") == 0)
        strcpy(category, "instructions");
    else if (strstr(event, "_executed") && *category)
        strcpy(category, strcmp(category, "CE") == 0    ? "CR"
                         : strcmp(category, "TE") == 0  ? "T"
                         : strcmp(category, "BE") == 0  ? "B"
                         : strcmp(category, "BTE") == 0 ? "BT"
                                                        : "D");
}

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static void settle(const struct strata_machine *machine, const char *event,
                   char category[32])
{
    bool level = event[0] == 'l' && event[1] >= '1' && event[1] <= '9';
    if (level && strcmp(event, "l1d_accesses") != 0)
        settle_cache(machine, event, category);
    else if (strcmp(event, "llc_misses") == 0)
        snprintf(category, 32, "L%u.miss", last_level(machine));
    else if (strcmp(event, "dtlb_walks") == 0 || strcmp(event, "walks") == 0)
        snprintf(category, last_tlb(machine) ? 32 : 1, "TLB%u.miss", last_tlb(machine));
    else if ((begins(event, "stlb") && last_tlb(machine) < 2) ||
             (begins(event, "dtlb") && last_tlb(machine) < 1))
        *category = '\0';
    else if (!machine->branch.present)
        settle_branch(event, category);
}

static void settle_all(const struct strata_machine *machine, const struct truth *general,
                       struct truth *truth)
{
    *truth = *general;
    for (size_t i = 0; i < truth->n; i++)
        settle(machine, truth->event[i], truth->category[i]);
}

static json_t *inspect(const char *machine, const struct truth *truth, const char *dirt,
                       double *seconds)
{
    char command[8192];
    struct timespec start, end;
    json_error_t error;
    int used = snprintf(command, sizeof command,
                        "build/strata inspect --source sim --machine %s --json %s -e ",
                        machine, dirt);
    for (size_t i = 0; i < truth->n && used < (int)sizeof command - 80; i++)
        used += snprintf(command + used, sizeof command - (size_t)used, "%s%s",
                         i ? "," : "", truth->event[i]);
    clock_gettime(CLOCK_MONOTONIC, &start);
    FILE *pipe = popen(command, "r"); /* NOLINT: a fixed command */
    json_t *found = pipe ? json_loadf(pipe, 0, &error) : NULL;
    if (pipe && pclose(pipe) != 0)
        fprintf(stderr, "%s failed\n", command);
    clock_gettime(CLOCK_MONOTONIC, &end);
    *seconds =
        (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
    return found;
}

static const char *category_of(const json_t *found, const char *event)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(found, "events"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "event"));
        const char *category = json_string_value(json_object_get(row, "category"));
        if (name && strcmp(name, event) == 0)
            return category ? category : "";
    }
    return "";
}

/* How many are wrong; prints each. */
static size_t judge(const struct truth *truth, const json_t *found, size_t *right,
                    size_t *none)
{
    size_t wrong = 0;
    *right = *none = 0;
    for (size_t i = 0; i < truth->n; i++) {
        const char *category = category_of(found, truth->event[i]);
        bool equal = strcmp(category, truth->category[i]) == 0;
        *right += equal;
        *none += !equal && !*category;
        wrong += !equal && *category;
        if (!equal)
            printf("    %s: %s and not %s\n", truth->event[i],
                   *category ? category : "none", truth->category[i]);
    }
    return wrong;
}

static bool sizes_agree(const json_t *found, const struct strata_machine *machine)
{
    const json_t *caches = json_object_get(found, "caches");
    bool agree = true;
    for (uint32_t i = 0; i < machine->ncaches; i++) {
        const struct strata_cache *cache = &machine->caches[i];
        if (cache->kind == STRATA_INSTRUCTION)
            continue;
        double size = json_number_value(
            json_object_get(json_array_get(caches, cache->level - 1), "size"));
        printf("    %s: %.0f of %llu bytes\n", cache->name, size,
               (unsigned long long)cache->size);
        agree = agree && size == (double)cache->size;
    }
    return agree;
}

static void print_slopes(const json_t *found)
{
    static const char *const names[] = {"CE", "CR", "T", "D", "M"};
    for (size_t c = 0; c < 5; c++) {
        size_t i;
        json_t *row;
        json_array_foreach(json_object_get(found, "events"), i, row)
        {
            const char *category = json_string_value(json_object_get(row, "category"));
            if (!category || strcmp(category, names[c]) != 0)
                continue;
            printf("    %-3s", names[c]);
            for (size_t k = 0; k < 7; k++)
                printf(" %5.2f", json_number_value(
                                     json_array_get(json_object_get(row, "slopes"), k)));
            putchar('\n');
            break;
        }
    }
}

static bool run_machine(const struct truth *general, const char *path, size_t runs)
{
    static const char *const dirts[] = {"", "--noise 0.02", "--drift 200",
                                        "--noise 0.02 --drift 200"};
    static struct truth truth;
    struct strata_machine machine;
    struct strata_error error;
    bool good = strata_machine_read(path, &machine, &error) == STRATA_OK;
    printf("%s\n", path);
    if (good)
        settle_all(&machine, general, &truth);
    for (size_t i = 0; good && i < runs; i++) {
        double seconds;
        size_t right, none;
        json_t *found = inspect(path, &truth, dirts[i], &seconds);
        size_t wrong = judge(&truth, found, &right, &none);
        printf("  %-26s %zu right, %zu in none, %zu wrong, %.1f s\n",
               *dirts[i] ? dirts[i] : "clean", right, none, wrong, seconds);
        good = good && found && wrong == 0 && none == 0 && seconds <= SECONDS;
        if (i == 0) {
            print_slopes(found);
            good = sizes_agree(found, &machine) && good;
        }
        json_decref(found);
    }
    return good;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *path;
        size_t runs; /* clean alone, or dirty too */
    } machines[] = {{"machines/generic.machine", 4},
                    {"tests/machines/inspect.machine", 4},
                    {"tests/machines/beside.machine", 4},
                    {"tests/machines/streamer.machine", 4},
                    {"machines/intel-xeon-e5420-harpertown.machine", 2},
                    {"machines/intel-xeon-e7330-tigerton.machine", 1},
                    {"machines/intel-core-2-duo-t5600-merom.machine", 1},
                    {"machines/intel-pentium-4.machine", 1},
                    {"machines/ibm-power7.machine", 1}};
    static struct truth truth;
    bool good = read_truth(&truth);
    for (int i = 1; i < argc; i++)
        good = run_machine(&truth, argv[i], 4) && good;
    for (size_t i = 0; argc < 2 && i < sizeof machines / sizeof *machines; i++)
        good = run_machine(&truth, machines[i].path, machines[i].runs) && good;
    puts(good ? "all targets are met" : "a target is missed");
    return good ? 0 : 1;
}
