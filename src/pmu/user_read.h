/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a counter of this thread without a system call, through the page that the kernel
 * shares for it. */
#ifndef PMU_USER_READ_H
#define PMU_USER_READ_H

#include <stdbool.h>
#include <stdint.h>

/* NULL: the kernel shares none. */
void *user_page_map(int fd);
void user_page_unmap(void *page);

/* False: not allowed, or the event is on no counter now. */
bool user_page_read(const void *page, uint64_t *count);

#endif
