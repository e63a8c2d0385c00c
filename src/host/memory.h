/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of this machine to measure on: how much there is, arenas of a kind of page. */
#ifndef HOST_MEMORY_H
#define HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that this process may still take without harm to others: the least of what is
 * free, what its control group leaves and its own address space limit leave. */
uint64_t memory_available(void);

uint64_t page_size(void);      /* base page */
uint64_t huge_page_size(void); /* transparent huge page, 0 if the kernel has none */

/* Maps `bytes` of zeroed base pages, every one of them present. NULL if refused. */
void *map_base_pages(uint64_t bytes);

/* The same on huge pages. NULL if refused, or if the kernel gave base pages instead. */
void *map_huge_pages(uint64_t bytes);

void unmap_pages(void *pages, uint64_t bytes);

#endif
