/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A libFuzzer target for the tables in metrics/: processors, events and metrics. Any text
 * is either refused with a clean message, or gives a table whose parts hang together; the
 * ways of its events are encoded, and its formulas evaluated. */
#include "core/utf8.h"
#include "pmu/cpu.h"
#include "pmu/encode.h"
#include "pmu/events.h"
#include "pmu/metrics.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void refused(const struct strata_error *error)
{
    char clean[sizeof error->text];
    require(error->status == STRATA_BAD_INPUT);
    require(strncmp(error->text, "fuzz:", 5) == 0);
    require(strcmp(utf8_clean(error->text, clean, sizeof clean), error->text) == 0);
}

static bool one(void *context, const char *event, double *count, char *why)
{
    (void)context, (void)why;
    require(*event != '\0');
    *count = 1;
    return true;
}

static void encode_rows(const struct event_table *table)
{
    const struct pmu_system system = {.root = "/nonexistent"};
    const struct pmu_kind kind = {.pmu = "", .device = "", .absent = true};
    struct pmu_code code;
    char why[PMU_WHY];
    for (size_t i = 0; i < table->nrows; i++)
        for (uint32_t j = 0; j < table->rows[i].nways; j++)
            pmu_encode(&system, &kind, table->rows[i].ways[j], &code, why);
}

static void try_processors(const char *text, size_t size)
{
    struct cpu_table table;
    struct strata_error error = {0, ""};
    if (cpu_table_parse("fuzz", text, size, &table, &error) != STRATA_OK) {
        refused(&error);
        return;
    }
    for (size_t i = 0; i < table.nmatches; i++)
        require(table.matches[i].cpu < table.nrows);
    cpu_table_release(&table);
}

static void try_events(const char *text, size_t size)
{
    struct event_table table;
    struct strata_error error = {0, ""};
    if (event_table_parse("fuzz", text, size, &table, &error) != STRATA_OK) {
        refused(&error);
        return;
    }
    for (size_t i = 0; i < table.nrows; i++)
        require(event_find(&table, table.rows[i].name, NULL) == &table.rows[i]);
    encode_rows(&table);
    event_table_release(&table);
}

static void try_metrics(const char *text, size_t size)
{
    struct metric_table table;
    struct strata_error error = {0, ""};
    char why[METRIC_WHY];
    double value;
    if (metric_table_parse("fuzz", text, size, &table, &error) != STRATA_OK) {
        refused(&error);
        return;
    }
    for (size_t i = 0; i < table.n; i++)
        if (metric_value(&table.metrics[i], one, NULL, &value, why))
            metric_verdict(&table.metrics[i], value);
    metric_table_release(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    try_processors(text, size);
    try_events(text, size);
    try_metrics(text, size);
    free(text);
    return 0;
}
