/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which strata this is. Only version.c is compiled anew when VERSION changes. */
#ifndef CORE_VERSION_H
#define CORE_VERSION_H

extern const char build_version[]; /* "0.1.0" */

#endif
