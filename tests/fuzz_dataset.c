/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: any bytes as a dataset. What is accepted must survive being written and
 * read again; what is refused must have a reason. */
#include "dataset/dataset.h"

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
        again->nseries != data->nseries || again->seed != data->seed)
        abort();
    unlink(path);
    dataset_release(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct strata_error error = {0};
    struct dataset *data = NULL;
    int status = dataset_parse("fuzz", (const char *)bytes, size, &data, &error);
    if (status && (error.status != status || !*error.text || data))
        abort();
    if (status)
        return 0;
    for (size_t i = 0; i < data->nseries; i++)
        for (size_t j = 0; j < data->series[i]->npoints; j++) {
            const struct point *point = &data->series[i]->points[j];
            if (point->n && point_min(point) > point_median(point))
                abort();
        }
    read_again(data);
    dataset_release(data);
    return 0;
}
