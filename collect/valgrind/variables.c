/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Global and static variables. Valgrind's own tables cut their names, so `strata symbols`
 * reads them from the files, once for each module and only when an address is asked for
 * that nothing else holds: all modules that came since the last time go into one call. */
#include "tool.h"

struct variable {
    Addr start, end;
    uint32_t bucket; /* RAW_NONE until it has an event */
    uint32_t module; /* number */
    const HChar *name;
};

struct module {
    const HChar *path;
    PtrdiffT bias;
    Addr text;
    bool read;
    bool gone; /* it was closed; another one may be in its place */
};

static struct variable *variables; /* by address */
static UInt nvariables, variables_room;
static struct module *modules;
static UInt nmodules, modules_room;
static bool changed = true;
static UInt calls; /* of `strata symbols` */

void variables_changed(void)
{
    changed = true;
    object_age++;
}

void variables_unmapped(Addr start, SizeT size)
{
    for (UInt i = 0; i < nmodules; i++)
        if (!modules[i].gone && modules[i].text - start < size)
            variables_changed();
}

static bool is_same(const struct module *module, const DebugInfo *info)
{
    const HChar *path = VG_(DebugInfo_get_filename)(info);
    return VG_(DebugInfo_get_text_avma)(info) == module->text && path &&
           VG_(strcmp)(path, module->path) == 0;
}

static bool is_known(const DebugInfo *info)
{
    for (UInt i = 0; i < nmodules; i++)
        if (!modules[i].gone && is_same(&modules[i], info))
            return true;
    return false;
}

static bool is_there(const struct module *module)
{
    const DebugInfo *at = VG_(next_DebugInfo)(NULL);
    while (at && !is_same(module, at))
        at = VG_(next_DebugInfo)(at);
    return at != NULL;
}

static void drop_variable(const struct variable *variable)
{
    if (variable->bucket == RAW_NONE)
        return;
    struct raw_bucket *bucket = raw_bucket_at(variable->bucket);
    *raw_lives_at(variable->bucket) = (struct raw_lives){0, 0};
    bucket->live = bucket->live_bytes = 0;
}

/* Forgets the variables of modules that went. */
static void drop_modules(void)
{
    UInt kept = 0;
    for (UInt i = 0; i < nmodules; i++)
        modules[i].gone = modules[i].gone || !is_there(&modules[i]);
    for (UInt i = 0; i < nvariables; i++)
        if (modules[variables[i].module].gone)
            drop_variable(&variables[i]);
        else
            variables[kept++] = variables[i];
    nvariables = kept;
}

/* Notes the modules that came; returns whether any did. */
static bool find_modules(void)
{
    UInt before = nmodules;
    for (const DebugInfo *at = VG_(next_DebugInfo)(NULL); at;
         at = VG_(next_DebugInfo)(at)) {
        Addr text = VG_(DebugInfo_get_text_avma)(at);
        const HChar *path = VG_(DebugInfo_get_filename)(at);
        if (text == 0 || !path || is_known(at))
            continue;
        if (nmodules == modules_room) {
            modules_room = modules_room ? 2 * modules_room : 16;
            modules =
                VG_(realloc)("strata.modules", modules, modules_room * sizeof *modules);
        }
        modules[nmodules++] = (struct module){.path = VG_(strdup)("strata.modules", path),
                                              .bias = VG_(DebugInfo_get_text_bias)(at),
                                              .text = text};
    }
    return nmodules > before;
}

static void add_variable(UInt module, Addr start, SizeT size, const HChar *name)
{
    if (nvariables == variables_room) {
        variables_room = variables_room ? 2 * variables_room : 1024;
        variables =
            VG_(realloc)("strata.variables", variables, variables_room * sizeof *variables);
    }
    variables[nvariables++] = (struct variable){start, start + size, RAW_NONE, module,
                                                VG_(strdup)("strata.variables", name)};
}

static Int by_start(const void *a, const void *b)
{
    const struct variable *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Reads a line "hexaddress hexsize name" of a module's map. */
static void read_line(UInt module, const HChar *line)
{
    HChar *rest;
    Addr start = (Addr)VG_(strtoull16)(line, &rest);
    if (*rest != ' ')
        return;
    SizeT size = (SizeT)VG_(strtoull16)(rest + 1, &rest);
    if (*rest != ' ' || size == 0)
        return;
    add_variable(module, start + (Addr)modules[module].bias, size, rest + 1);
}

static UInt module_of(const HChar *path, UInt first)
{
    for (UInt i = first; i < nmodules; i++)
        if (VG_(strcmp)(modules[i].path, path) == 0 && !modules[i].read)
            return i;
    return nmodules;
}

/* Reads what `strata symbols` printed: "= PATH" and then the lines of its map. */
static void read_maps(HChar *text, UInt first)
{
    UInt module = nmodules;
    for (HChar *line = text, *end; *line; line = end + 1) {
        end = VG_(strchr)(line, '\n');
        if (!end)
            return;
        *end = 0;
        if (line[0] == '=' && line[1] == ' ') {
            module = module_of(line + 2, first);
            if (module < nmodules)
                modules[module].read = true;
        } else if (module < nmodules) {
            read_line(module, line);
        }
    }
}

static HChar *read_text(const HChar *path)
{
    struct vg_stat status;
    SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
    if (sr_isError(opened))
        return NULL;
    Int fd = (Int)sr_Res(opened);
    HChar *text = NULL;
    if (VG_(fstat)(fd, &status) == 0) {
        SizeT size = (SizeT)status.size, got = 0;
        text = VG_(malloc)("strata.maps", size + 1);
        while (got < size) {
            Int part = VG_(read)(fd, text + got, (Int)(size - got));
            if (part <= 0)
                break;
            got += (SizeT)part;
        }
        text[got] = 0;
    }
    VG_(close)(fd);
    return text;
}

static HChar *quote(HChar *to, const HChar *text)
{
    *to++ = '\'';
    for (; *text; text++)
        if (*text == '\'')
            to = VG_(strcpy)(to, "'\\''") + 4;
        else
            *to++ = *text;
    *to++ = '\'';
    *to = 0;
    return to;
}

/* Runs `strata symbols` on the modules from a number on. */
static void read_symbols(UInt first)
{
    SizeT length = VG_(strlen)(tool.strata) * 4 + VG_(strlen)(tool.folder) * 8 + 128;
    for (UInt i = first; i < nmodules; i++)
        length += VG_(strlen)(modules[i].path) * 4 + 4;
    HChar *command = VG_(malloc)("strata.command", length), *to = command;
    HChar map[VKI_PATH_MAX];
    VG_(snprintf)(map, sizeof map, "%s/map-%d-%u", tool.folder, VG_(getpid)(), calls++);
    to = quote(to, tool.strata);
    /* Other processes of the same run need most of the modules too. */
    to = VG_(strcpy)(to, " symbols --cache ") + 17;
    to = quote(to, tool.folder);
    for (UInt i = first; i < nmodules; i++) {
        *to++ = ' ';
        to = quote(to, modules[i].path);
    }
    to = VG_(strcpy)(to, " >") + 2;
    to = quote(to, map);
    VG_(strcpy)(to, " 2>/dev/null </dev/null");
    if (VG_(system)(command) == 0) {
        HChar *text = read_text(map);
        if (text)
            read_maps(text, first);
        VG_(free)(text);
    }
    VG_(unlink)(map);
    VG_(free)(command);
    VG_(ssort)(variables, nvariables, sizeof *variables, by_start);
}

/* The number of variables that begin at or before an address. */
static UInt rank(Addr address)
{
    UInt low = 0, high = nvariables;
    while (low < high) {
        UInt middle = low + (high - low) / 2;
        if (variables[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void make_bucket(struct variable *variable)
{
    variable->bucket =
        raw_new_bucket(RAW_GLOBAL, variable->name, modules[variable->module].path, NULL);
    struct raw_bucket *bucket = raw_bucket_at(variable->bucket);
    *raw_lives_at(variable->bucket) =
        (struct raw_lives){1, variable->end - variable->start};
    bucket->objects = bucket->live = 1;
    bucket->bytes = bucket->live_bytes = bucket->most_bytes = bucket->smallest =
        bucket->largest = variable->end - variable->start;
}

static void read_new_modules(void)
{
    UInt first = nmodules;
    changed = false;
    object_age++;
    drop_modules();
    if (tool.strata && find_modules())
        read_symbols(first);
}

bool variable_find(Addr address, struct object *object)
{
    if (changed)
        read_new_modules();
    UInt after = rank(address);
    struct variable *variable = after > 0 ? &variables[after - 1] : NULL;
    if (variable && address < variable->end) {
        if (variable->bucket == RAW_NONE)
            make_bucket(variable);
        *object = (struct object){variable->bucket, variable->start,
                                  variable->end - variable->start};
        return true;
    }
    object->from = variable ? variable->end : 0;
    object->size = (after < nvariables ? variables[after].start : (Addr)-1) - object->from;
    return false;
}
