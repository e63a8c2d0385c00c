/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Variables from debug information. */
#ifndef ATTRIB_DWARF_VARIABLES_H
#define ATTRIB_DWARF_VARIABLES_H

#include "attrib/candidates.h"

#include <elfutils/libdw.h>

/* Adds every variable that has one fixed address, and every common block. What is
 * corrupt is passed over. */
void dwarf_variables(Dwarf *dwarf, struct candidates *candidates);

#endif
