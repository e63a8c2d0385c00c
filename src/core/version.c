/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The version, as the Makefile reads it from VERSION. */
#include "core/version.h"

const char build_version[] = STRATA_VERSION;
