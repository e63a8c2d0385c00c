/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libFuzzer: any bytes as a matrix of expected slopes. What is accepted can be used. */
#include "inspect/matrix.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct matrix matrix;
    struct strata_error error = {0, ""};
    int status = matrix_parse("fuzz", (const char *)data, size, &matrix, &error);
    if (status != STRATA_OK && !error.text[0])
        abort();
    for (size_t i = 0; status == STRATA_OK && i < matrix.ncategories; i++)
        for (size_t k = 0; k < matrix.nkernels; k++)
            if (!isfinite(matrix.categories[i].slopes[k]))
                abort();
    return 0;
}
