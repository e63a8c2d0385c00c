/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Demangling by the C++ library of the system, loaded only when a mangled name turns up.
 *
 * Linking it would make strata a C++ program, and the demanglers of binutils are under
 * the (L)GPL. A program with C++ symbols needs a C++ library to run, so one is there;
 * where none is, names stay mangled. */
#include "attrib/demangle.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static void look(struct demangler *demangler)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    demangler->looked = 1;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        demangler->library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        if (!demangler->library)
            continue;
        void *found = dlsym(demangler->library, "__cxa_demangle");
        /* ISO C has no cast from an object pointer to a function pointer. */
        memcpy(&demangler->demangle, &found, sizeof found);
        return;
    }
}

char *demangle(struct demangler *demangler, const char *symbol)
{
    int status = -1;
    if (strncmp(symbol, "_Z", 2) != 0)
        return NULL;
    if (!demangler->looked)
        look(demangler);
    return demangler->demangle ? demangler->demangle(symbol, NULL, NULL, &status) : NULL;
}

void demangler_release(struct demangler *demangler)
{
    if (demangler->library)
        dlclose(demangler->library);
    *demangler = (struct demangler){0};
}
