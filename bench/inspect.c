/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata inspect on simulated machines: how many of the events of the virtual PMU are put
 * in their true category, in none, or in a wrong one, clean, with 2% of noise, and with a
 * background that drifts; the slopes of the source's Table 1; sizes read back; and how long
 * it takes. Targets: none wrong, at least 60 events, sizes exact, at most 120 s.
 *
 *     build/bench/inspect [MACHINE]...      generic and tests/machines/inspect.machine */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <strata/error.h>
#include <strata/machine.h>
#include <string.h>
#include <time.h>

enum { EVENTS = 256, SECONDS = 120, LEAST = 60 };

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

static json_t *inspect(const char *machine, const char *dirt, double *seconds)
{
    char command[512];
    struct timespec start, end;
    json_error_t error;
    snprintf(command, sizeof command,
             "build/strata inspect --source sim --machine %s --json %s", machine, dirt);
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

static bool run_machine(const struct truth *truth, const char *path)
{
    static const char *const dirts[] = {"", "--noise 0.02", "--drift 200",
                                        "--noise 0.02 --drift 200"};
    struct strata_machine machine;
    struct strata_error error;
    bool good = strata_machine_read(path, &machine, &error) == STRATA_OK;
    printf("%s\n", path);
    for (size_t i = 0; good && i < sizeof dirts / sizeof *dirts; i++) {
        double seconds;
        size_t right, none;
        json_t *found = inspect(path, dirts[i], &seconds);
        size_t wrong = judge(truth, found, &right, &none);
        printf("  %-26s %zu right, %zu in none, %zu wrong, %.1f s\n",
               *dirts[i] ? dirts[i] : "clean", right, none, wrong, seconds);
        good = good && found && wrong == 0 && right >= LEAST && seconds <= SECONDS;
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
    static const char *const machines[] = {"machines/generic.machine",
                                           "tests/machines/inspect.machine"};
    static struct truth truth;
    bool good = read_truth(&truth);
    for (int i = 1; i < argc; i++)
        good = run_machine(&truth, argv[i]) && good;
    for (size_t i = 0; argc < 2 && i < 2; i++)
        good = run_machine(&truth, machines[i]) && good;
    puts(good ? "all targets are met" : "a target is missed");
    return good ? 0 : 1;
}
