/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions that access memory, and where each is in the source.
 *
 * A site is made when its code is translated; function and line are looked up when it has
 * its first event, because most instructions never have one. When code goes away (a library
 * is closed, a compiler at run time writes anew) its sites are forgotten, so that what
 * comes to the same address gets its own. */
#include "tool.h"

enum { HASH_BITS = 18 };

static struct site *sites[1 << HASH_BITS];

static struct site **chain(Addr address)
{
    return &sites[(address * 0x9e3779b97f4a7c15u) >> (64 - HASH_BITS)];
}

struct site *site_of(Addr address)
{
    struct site **first = chain(address);
    for (struct site *site = *first; site; site = site->next)
        if (site->address == address)
            return site;
    struct site *site = VG_(calloc)("strata.site", 1, sizeof *site);
    site->address = address;
    site->id = RAW_NONE;
    site->bucket = RAW_NONE;
    site->next = *first;
    return *first = site;
}

/* Translated code may still hold a forgotten site, so it is not freed. */
void sites_forget(Addr start, SizeT size)
{
    for (Addr address = start; address < start + size; address++)
        for (struct site **at = chain(address); *at; at = &(*at)->next)
            if ((*at)->address == address) {
                *at = (*at)->next;
                break;
            }
}

const HChar *site_function(Addr address)
{
    static HChar name[1024];
    const HChar *full;
    if (!VG_(get_fnname)(VG_(current_DiEpoch)(), address, &full))
        return NULL;
    SizeT length = VG_(strlen)(full);
    const HChar *version = VG_(strchr)(full, '@');
    if (version && version > full)
        length = (SizeT)(version - full);
    if (length >= sizeof name)
        return full;
    VG_(memcpy)(name, full, length);
    name[length] = 0;
    return name;
}

uint32_t site_number(struct site *site)
{
    if (site->id != RAW_NONE)
        return site->id;
    DiEpoch now = VG_(current_DiEpoch)();
    const HChar *file, *folder;
    UInt line = 0;
    struct raw_site raw = {.address = site->address, .offset = site->address};
    raw.function = raw.file = raw.module = RAW_NONE;
    const HChar *function = site_function(site->address);
    if (function)
        raw.function = raw_text(function);
    if (VG_(get_filename_linenum)(now, site->address, &file, &folder, &line)) {
        HChar path[VKI_PATH_MAX];
        if (*folder && VG_(strlen)(folder) + VG_(strlen)(file) + 2 <= sizeof path) {
            VG_(sprintf)(path, "%s/%s", folder, file);
            file = path;
        }
        raw.file = raw_text(file);
        raw.line = line;
    }
    const DebugInfo *module = VG_(find_DebugInfo)(now, site->address);
    if (module) {
        raw.module = raw_text(VG_(DebugInfo_get_filename)(module));
        raw.offset = site->address - (Addr)VG_(DebugInfo_get_text_bias)(module);
    }
    return site->id = raw_new_site(&raw);
}
