/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzzes the reader of /proc/PID/stat: the name of a program is anybody's choice. */
#include "host/processes.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct process process;
    char *line = malloc(size + 1);
    if (!line)
        return 0;
    if (size)
        memcpy(line, data, size);
    line[size] = '\0';
    if (process_parse(line, &process) == 0 && (process.pid < 1 || process.threads < 1 ||
                                               strlen(process.name) >= sizeof process.name))
        abort();
    free(line);
    return 0;
}
