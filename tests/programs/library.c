/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library that names.c opens while it runs: a variable and a block of its own. It is
 * made twice, with another name of the variable, to take the place of the first. */
#include <stdlib.h>

void *library_buffer(void);
void *library_block(void);

#ifndef BUFFER
#define BUFFER buffer
#endif

static char BUFFER[7000];

void *library_buffer(void)
{
    return BUFFER;
}

void *library_block(void)
{
    void *block = malloc(8000);
    if (!block)
        exit(1);
    return block;
}
