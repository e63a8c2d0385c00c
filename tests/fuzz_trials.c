/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: any bytes as a dataset with a log of trials. What is accepted must survive
 * being written and read again, and be replayed: every string of which there is a walk
 * costs what the log says, and the clock never goes back. */
#include "dataset/dataset.h"
#include "run/runner.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Through the file format once more. */
static void read_again(const struct dataset *data)
{
    char path[64];
    struct strata_error error = {0};
    struct dataset *again = NULL;
    snprintf(path, sizeof path, "/tmp/strata-fuzz-%ld.json", (long)getpid());
    if (dataset_write(data, path, &error) || dataset_read(path, &again, &error) ||
        again->trials->nstrings != data->trials->nstrings ||
        again->trials->nwalks != data->trials->nwalks ||
        again->trials->nleaves != data->trials->nleaves)
        abort();
    unlink(path);
    dataset_release(again);
}

static void replay(const struct trials *trials)
{
    struct runner *runner = NULL;
    struct strata_error error = {0};
    struct trial trial = {.cycles = 0};
    double before = 0;
    if (runner_replay(&runner, trials, 1, &error))
        abort();
    for (size_t i = 0; i < trials->nwalks; i++) {
        const struct trial_string *string = &trials->strings[trials->walks[i].string];
        struct refs refs = {.call = {.name = string->name, .n = string->n}};
        memcpy(refs.call.given, string->given, sizeof refs.call.given);
        if (runner_walk(runner, string->arena, &refs, &trial) ||
            trial.cycles != trials->walks[i].cycles || runner_clock(runner) < before)
            abort();
        before = runner_clock(runner);
    }
    runner_release(runner);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct strata_error error = {0};
    struct dataset *data = NULL;
    int status = dataset_parse("fuzz", (const char *)bytes, size, &data, &error);
    if (status && (error.status != status || !*error.text || data))
        abort();
    if (!status && data->trials) {
        read_again(data);
        replay(data->trials);
    }
    dataset_release(data);
    return 0;
}
