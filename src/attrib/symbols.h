/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The variables of a program or shared library: where each lies, how long it is, and what
 * it is called.
 *
 * Two sources are joined. The symbol table (.symtab, else that of the separate debug
 * file, else .dynsym) knows the true size of everything that has a symbol. Debug
 * information (in the file, or in a separate one under /usr/lib/debug that is found by
 * build-id or .gnu_debuglink) knows better names:
 *
 *     counter               a global or static variable of C
 *     parse::cache          a static variable within a function
 *     ns::Pool::free_list   C++: a variable or static member with its scopes
 *     mesh::points          a variable of a Fortran module
 *     /blk/x, /blk/         a member of a Fortran common block; the rest of the block
 *                           (// is the blank one)
 *
 * C++ symbols without debug information (vtables, say) are demangled where the C++
 * library is installed, and left as they are where it is not.
 *
 * Left out: thread-local variables, which have no address of their own in the file;
 * string literals and other constants that have no symbol; what the linker removed. */
#ifndef ATTRIB_SYMBOLS_H
#define ATTRIB_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <strata/error.h>

struct variable {
    uint64_t address; /* virtual, as in the file: add where the file was loaded */
    uint64_t size;    /* bytes, above 0 */
    const char *name; /* not empty; any bytes */
};

struct symbols {
    struct variable *variables; /* by address, no two overlap */
    size_t n;
    struct name_block *names; /* owned: the text of the names */
};

/* Reads a file. The same file always gives the same variables: of several names for one
 * address, that of the debug information wins, then that of a global symbol, of a weak, of
 * a local one, then the shortest, then the first in the alphabet; where one variable lies
 * within another, its bytes are its own. Fails with STRATA_BAD_INPUT if it is no ELF
 * program or library that can be read; then *symbols is empty. The caller releases. */
int symbols_read(const char *path, struct symbols *symbols, struct strata_error *error);
void symbols_release(struct symbols *symbols);

/* Writes `address size name` for each, in hexadecimal, one a line. Control characters and
 * the backslash are written as \xNN. Errors are left to ferror(). */
void symbols_write_map(const struct symbols *symbols, FILE *file);

#endif
