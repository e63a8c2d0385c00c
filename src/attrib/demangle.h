/* SPDX-License-Identifier: BSD-3-Clause
 *
 * C++ symbols as people write them. */
#ifndef ATTRIB_DEMANGLE_H
#define ATTRIB_DEMANGLE_H

/* Loads what demangles when it is first needed. Start with {0}. */
struct demangler {
    int looked; /* 1: the library was looked for */
    void *library;
    char *(*demangle)(const char *mangled, char *buffer, unsigned long *size, int *status);
};

/* The name in full, which the caller frees; NULL where it is no mangled name or nothing
 * here can demangle. */
char *demangle(struct demangler *demangler, const char *symbol);
void demangler_release(struct demangler *demangler);

#endif
