/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Faults on new pages until it is ended; waits a little in between, for no processor's
 * sake. */
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
    for (;;) {
        volatile char *page =
            mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED)
            return 1;
        *page = 1;
        munmap((void *)page, 4096);
        usleep(1000);
    }
}
