/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library that names.c opens while it runs: a variable and a block of its own. */
#include <stdlib.h>

void *library_buffer(void);
void *library_block(void);

static char buffer[7000];

void *library_buffer(void)
{
    return buffer;
}

void *library_block(void)
{
    void *block = malloc(8000);
    if (!block)
        exit(1);
    return block;
}
