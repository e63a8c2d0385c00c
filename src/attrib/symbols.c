/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading the variables of an ELF file; symbols.h has the contract. */
#include "attrib/symbols.h"

#include "attrib/candidates.h"
#include "attrib/debug_file.h"
#include "attrib/demangle.h"
#include "attrib/dwarf_variables.h"
#include "core/fail.h"

#include <ctype.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

static const char debug_folder[] = "/usr/lib/debug";

/* The first section of a type; NULL where there is none. */
static Elf_Scn *find_section(Elf *elf, uint32_t type)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while (elf && (section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == type)
            return section;
    return NULL;
}

static enum candidate_rank rank_of(const GElf_Sym *symbol)
{
    switch (GELF_ST_BIND(symbol->st_info)) {
    case STB_GLOBAL:
    case STB_GNU_UNIQUE:
        return RANK_GLOBAL;
    case STB_WEAK:
        return RANK_WEAK;
    default:
        return RANK_LOCAL;
    }
}

/* A variable of this file with an address and a size. */
static bool is_variable(const GElf_Sym *symbol)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    return (type == STT_OBJECT || type == STT_COMMON) && symbol->st_size &&
           symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
           symbol->st_shndx != SHN_COMMON;
}

static void add_symbol(struct candidates *candidates, struct demangler *demangler,
                       const GElf_Sym *symbol, const char *name)
{
    /* stdout@GLIBC_2.2.5 is what a program calls its copy of stdout. */
    size_t length = strcspn(name, "@");
    char *plain = length ? strndup(name, length) : NULL;
    if (!plain) {
        candidates->no_memory |= length != 0;
        return;
    }
    char *full = demangle(demangler, plain);
    candidate_add(candidates, (struct candidate){.address = symbol->st_value,
                                                 .size = symbol->st_size,
                                                 .name = full ? full : plain,
                                                 .rank = rank_of(symbol)});
    free(full);
    free(plain);
}

static void read_symbols(Elf *elf, Elf_Scn *section, struct candidates *candidates)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    struct demangler demangler = {0};
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !gelf_getshdr(section, &header) || !header.sh_entsize)
        return;
    size_t n = data->d_size / header.sh_entsize;
    for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
        if (!gelf_getsym(data, (int)i, &symbol) || !is_variable(&symbol))
            continue;
        const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (name)
            add_symbol(candidates, &demangler, &symbol, name);
    }
    demangler_release(&demangler);
}

static void read_best_table(Elf *elf, Elf *debug, struct candidates *candidates)
{
    const struct {
        Elf *elf;
        uint32_t type;
    } tables[] = {{elf, SHT_SYMTAB}, {debug, SHT_SYMTAB}, {elf, SHT_DYNSYM}};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        Elf_Scn *section = find_section(tables[i].elf, tables[i].type);
        if (!section)
            continue;
        read_symbols(tables[i].elf, section, candidates);
        return;
    }
}

static void read_debug_information(Elf *elf, struct candidates *candidates)
{
    Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
    if (dwarf)
        dwarf_variables(dwarf, candidates);
    dwarf_end(dwarf);
}

/* Whether the file itself has debug information. */
static bool has_debug_information(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section))) {
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
            return true;
    }
    return false;
}

/* Addresses that the file's sections take in memory. */
struct extents {
    uint64_t (*ranges)[2]; /* first, behind the last */
    size_t n;
};

static bool read_extents(Elf *elf, struct extents *extents)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t count;
    *extents = (struct extents){0};
    if (elf_getshdrnum(elf, &count) != 0)
        return true;
    extents->ranges = calloc(count + 1, sizeof extents->ranges[0]);
    if (!extents->ranges)
        return false;
    while (extents->n < count && (section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
            header.sh_flags & SHF_TLS || header.sh_addr + header.sh_size < header.sh_addr)
            continue;
        extents->ranges[extents->n][0] = header.sh_addr;
        extents->ranges[extents->n++][1] = header.sh_addr + header.sh_size;
    }
    return true;
}

static bool lies_within(const struct extents *extents, const struct candidate *candidate)
{
    for (size_t i = 0; i < extents->n; i++) {
        uint64_t first = extents->ranges[i][0], end = extents->ranges[i][1];
        if (candidate->address >= first && candidate->address < end)
            return candidate->address && candidate->size <= end - candidate->address;
    }
    return false;
}

/* What the linker removed is at address 0; corrupt files have worse. */
static bool drop_strays(Elf *elf, struct candidates *candidates)
{
    struct extents extents;
    if (!read_extents(elf, &extents))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < candidates->n; i++)
        if (lies_within(&extents, &candidates->items[i]))
            candidates->items[kept++] = candidates->items[i];
    candidates->n = kept;
    free(extents.ranges);
    return true;
}

static int read_variables(const char *path, Elf *elf, struct symbols *symbols,
                          struct strata_error *error)
{
    struct candidates candidates = {0};
    struct elf_file debug = {.fd = -1};
    bool own = has_debug_information(elf);
    if (!own)
        debug = debug_file_open(path, elf, debug_folder);
    read_best_table(elf, debug.elf, &candidates);
    read_debug_information(own ? elf : debug.elf, &candidates);
    elf_file_close(&debug);
    if (!drop_strays(elf, &candidates))
        candidates.no_memory = true;
    int status = candidates_resolve(&candidates, symbols, error);
    candidates_release(&candidates);
    return status;
}

int symbols_read(const char *path, struct symbols *symbols, struct strata_error *error)
{
    GElf_Ehdr header;
    *symbols = (struct symbols){0};
    struct elf_file file = elf_file_open(path);
    if (!file.elf)
        return fail(error, STRATA_BAD_INPUT, "%s: %s", path,
                    errno == ENOEXEC ? "not an ELF file" : strerror(errno));
    int status;
    if (!gelf_getehdr(file.elf, &header) ||
        (header.e_type != ET_EXEC && header.e_type != ET_DYN))
        status = fail(error, STRATA_BAD_INPUT, "%s: neither a program nor a shared library",
                      path);
    else
        status = read_variables(path, file.elf, symbols, error);
    elf_file_close(&file);
    return status;
}

static void write_name(const char *name, FILE *file)
{
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (iscntrl(*c) || *c == '\\')
            fprintf(file, "\\x%02x", *c);
        else
            putc(*c, file);
}

void symbols_write_map(const struct symbols *symbols, FILE *file)
{
    for (size_t i = 0; i < symbols->n; i++) {
        const struct variable *v = &symbols->variables[i];
        fprintf(file, "%llx %llx ", (unsigned long long)v->address,
                (unsigned long long)v->size);
        write_name(v->name, file);
        putc('\n', file);
    }
}
