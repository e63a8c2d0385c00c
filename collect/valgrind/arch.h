/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where a function's arguments, its result, its return address and the stack pointer are,
 * by processor. */
#ifndef VALGRIND_ARCH_H
#define VALGRIND_ARCH_H

#include "libvex_guest_offsets.h"
#include "pub_tool_basics.h"

#if defined(VGA_amd64)
#include "libvex_guest_amd64.h"
#define ARCH_STATE             VexGuestAMD64State
#define ARCH_ARGUMENT          guest_RDI
#define ARCH_SECOND            guest_RSI
#define ARCH_THIRD             guest_RDX
#define ARCH_RESULT            guest_RAX
#define ARCH_SP                guest_RSP
#define ARCH_FP                guest_RBP
#define ARCH_RETURN_SP         8 /* what a return adds to the stack pointer */
#define ARCH_RETURNS_TO(state) (*(const Addr *)(state)->guest_RSP)
/* Registers for floating point and vectors: from here to there. */
#define ARCH_FIRST_VECTOR guest_YMM0
#define ARCH_LAST_VECTOR  guest_YMM16
#elif defined(VGA_arm64)
#include "libvex_guest_arm64.h"
#define ARCH_STATE             VexGuestARM64State
#define ARCH_ARGUMENT          guest_X0
#define ARCH_SECOND            guest_X1
#define ARCH_THIRD             guest_X2
#define ARCH_RESULT            guest_X0
#define ARCH_SP                guest_XSP
#define ARCH_FP                guest_X29
#define ARCH_RETURN_SP         0
#define ARCH_RETURNS_TO(state) ((Addr)(state)->guest_X30)
#define ARCH_FIRST_VECTOR      guest_Q0
#define ARCH_LAST_VECTOR       guest_QCFLAG
#else
#error "the Valgrind tool knows amd64 and arm64"
#endif

#define ARCH_OFFSET(field) offsetof(ARCH_STATE, field)

#endif
