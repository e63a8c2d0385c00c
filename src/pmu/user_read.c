/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rdpmc on x86, PMEVCNTR on ARM: the kernel says in a shared page which counter it is and
 * what to add, and changes its `lock` whenever it moves the event. */
#include "pmu/user_read.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

void *user_page_map(int fd)
{
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
    return page == MAP_FAILED ? NULL : page;
}

void user_page_unmap(void *page)
{
    if (page)
        munmap(page, (size_t)sysconf(_SC_PAGESIZE));
}

/* What hardware counter `index` shows. */
#if defined(__x86_64__)
static bool read_hardware(uint32_t index, uint64_t *value)
{
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
    *value = (uint64_t)high << 32 | low;
    return true;
}
#elif defined(__aarch64__)
static bool read_hardware(uint32_t index, uint64_t *value)
{
    if (index != 31)
        return false; /* PMEVCNTRn_EL0 has n in the instruction; cycles are enough here */
    __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(*value));
    return true;
}
#else
static bool read_hardware(uint32_t index, uint64_t *value)
{
    (void)index, (void)value;
    return false;
}
#endif

bool user_page_read(const void *page, uint64_t *count)
{
    const volatile struct perf_event_mmap_page *shared = page;
    uint32_t before, width;
    do {
        before = shared->lock;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        uint32_t index = shared->index;
        int64_t offset = shared->offset;
        uint64_t value;
        width = shared->pmc_width;
        if (!shared->cap_user_rdpmc || index == 0 || width == 0 || width > 64 ||
            !read_hardware(index - 1, &value))
            return false;
        /* the counter is narrower than a word: its highest bit is a sign */
        int64_t wide = (int64_t)(value << (64 - width)) >> (64 - width);
        *count = (uint64_t)(offset + wide);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (shared->lock != before);
    return true;
}
