/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What this machine calls itself, for the titles of reports. For display only: no answer
 * rests on it. */
#ifndef HOST_IDENTITY_H
#define HOST_IDENTITY_H

#include <stddef.h>

/* The processor's name below `root`: the kernel's, or the device tree's for the board; the
 * signs of trade marks are left out. "" if neither is there. */
void processor_name(const char *root, char *text, size_t size);

/* The name of this host; "" if it has none. */
void host_name(char *text, size_t size);

#endif
