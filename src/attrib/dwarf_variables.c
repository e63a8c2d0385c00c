/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The walk over debug information: compile units, the scopes in them that may hold a
 * variable with a fixed address, and nothing else, since most of the information is about
 * types and about code that was inlined.
 *
 * A variable's name begins with the names of its scopes. Where it is defined apart from
 * its declaration (a static member of a class, or after link-time optimisation), the
 * scopes are those of the declaration, which are looked for from the top of its unit:
 * entries do not know what they lie in, but they are in order, so each level of the search
 * is a walk over siblings. */
#include "attrib/dwarf_variables.h"

#include <dwarf.h>
#include <string.h>

enum { DEPTH = 64, ORIGINS = 8, NAME_SIZE = 4096 };

/* The entries from the unit's down to where the walk is; the first is the unit. */
struct scopes {
    Dwarf_Die dies[DEPTH];
    int n;
};

struct walk {
    struct candidates *candidates;
    struct scopes scopes;
};

/* The name under construction. */
struct text {
    char bytes[NAME_SIZE];
    size_t used;
};

static void text_begin(struct text *text)
{
    text->used = 0;
    text->bytes[0] = '\0';
}

static void text_add(struct text *text, const char *more)
{
    size_t length = strlen(more), room = sizeof text->bytes - 1 - text->used;
    length = length < room ? length : room;
    memcpy(text->bytes + text->used, more, length);
    text->used += length;
    text->bytes[text->used] = '\0';
}

/* The next entry of the same level; false behind the last. Corrupt information may point
 * backwards, which would have no end. */
static bool next_sibling(Dwarf_Die *die)
{
    Dwarf_Die next;
    if (dwarf_siblingof(die, &next) != 0 || dwarf_dieoffset(&next) <= dwarf_dieoffset(die))
        return false;
    *die = next;
    return true;
}

/* Where else an entry is described: its declaration or its abstract instance. */
static bool step_to_origin(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if (!dwarf_attr(die, DW_AT_specification, &attribute) &&
        !dwarf_attr(die, DW_AT_abstract_origin, &attribute))
        return false;
    if (!dwarf_formref_die(&attribute, &origin))
        return false;
    *die = origin;
    return true;
}

static bool find_origin(const Dwarf_Die *die, Dwarf_Die *origin)
{
    *origin = *die;
    int steps = 0;
    while (steps < ORIGINS && step_to_origin(origin))
        steps++;
    return steps > 0;
}

/* The scopes that an entry lies in. */
static bool find_scopes(Dwarf_Die *die, struct scopes *scopes)
{
    Dwarf_Die at;
    Dwarf_Off target = dwarf_dieoffset(die);
    scopes->n = 0;
    if (!dwarf_diecu(die, &at, NULL, NULL))
        return false;
    while (dwarf_dieoffset(&at) != target) {
        if (scopes->n == DEPTH)
            return false;
        scopes->dies[scopes->n++] = at;
        if (dwarf_child(&scopes->dies[scopes->n - 1], &at) != 0)
            return false;
        Dwarf_Die next = at;
        while (next_sibling(&next) && dwarf_dieoffset(&next) <= target)
            at = next;
    }
    return true;
}

static bool is_function(int tag)
{
    return tag == DW_TAG_subprogram || tag == DW_TAG_entry_point;
}

/* What a scope without a name is called; NULL: it is not mentioned. */
static const char *scope_name(Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
        return name ? name : "(anonymous namespace)";
    case DW_TAG_module:
    case DW_TAG_subprogram:
    case DW_TAG_entry_point:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
        return name;
    default:
        return NULL;
    }
}

static bool add_scopes(struct text *text, struct scopes *scopes, int steps);

/* The last function among the scopes that is defined apart from its declaration; its
 * own scopes stand for all before it. */
static int find_apart(struct scopes *scopes, Dwarf_Die *origin)
{
    for (int i = scopes->n - 1; i > 0; i--)
        if (is_function(dwarf_tag(&scopes->dies[i])) &&
            find_origin(&scopes->dies[i], origin))
            return i;
    return 0;
}

static bool add_scopes_of(struct text *text, Dwarf_Die *die, int steps)
{
    struct scopes scopes;
    return steps && find_scopes(die, &scopes) && add_scopes(text, &scopes, steps - 1);
}

/* Adds "a::b::" for scopes a and b. `steps` bounds the jumps to declarations. False where
 * a function has no name, as clang 14 has it for one that is inlined everywhere: then the
 * symbol, which holds the function's name, is better. */
static bool add_scopes(struct text *text, struct scopes *scopes, int steps)
{
    Dwarf_Die origin;
    int first = find_apart(scopes, &origin);
    if (first && !add_scopes_of(text, &origin, steps))
        return false;
    for (int i = first ? first : 1; i < scopes->n; i++) {
        const char *name = scope_name(&scopes->dies[i]);
        if (!name && is_function(dwarf_tag(&scopes->dies[i])))
            return false;
        if (!name)
            continue;
        text_add(text, name);
        text_add(text, "::");
    }
    return true;
}

/* The address of a location that is nothing but one address, or one and an offset. */
static bool fixed_address(Dwarf_Die *die, uint64_t *address)
{
    Dwarf_Attribute attribute, indexed;
    Dwarf_Block block;
    Dwarf_Op *ops;
    size_t n;
    if (!dwarf_attr(die, DW_AT_location, &attribute) ||
        dwarf_formblock(&attribute, &block) != 0 || !block.length)
        return false;
    /* Most locations are others; a look at the first byte is quicker than decoding. */
    uint8_t first = block.data[0];
    if (first != DW_OP_addr && first != DW_OP_addrx && first != DW_OP_GNU_addr_index)
        return false;
    if (dwarf_getlocation(&attribute, &ops, &n) != 0 || n < 1 || n > 2 ||
        (n == 2 && ops[1].atom != DW_OP_plus_uconst))
        return false;
    *address = ops[0].number;
    if (first != DW_OP_addr && (dwarf_getlocation_attr(&attribute, ops, &indexed) != 0 ||
                                dwarf_formaddr(&indexed, address) != 0))
        return false;
    *address += n == 2 ? ops[1].number : 0;
    return true;
}

/* Bytes of the variable's type; 0 where they are not fixed. */
static uint64_t type_size(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    Dwarf_Word size = 0;
    if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) ||
        !dwarf_formref_die(&attribute, &type) || dwarf_aggregate_size(&type, &size) != 0)
        return 0;
    return size;
}

static void add_variable(struct walk *walk, Dwarf_Die *die)
{
    uint64_t address;
    Dwarf_Die origin;
    struct text text;
    if (!fixed_address(die, &address))
        return;
    text_begin(&text);
    const char *name = dwarf_diename(die); /* looks at the declaration too */
    if (!name || !*name)
        return;
    if (find_origin(die, &origin) ? !add_scopes_of(&text, &origin, ORIGINS)
                                  : !add_scopes(&text, &walk->scopes, ORIGINS))
        return;
    text_add(&text, name);
    candidate_add(walk->candidates, (struct candidate){.address = address,
                                                       .size = type_size(die),
                                                       .name = text.bytes,
                                                       .rank = RANK_DEBUG});
}

static void add_member(struct walk *walk, Dwarf_Die *die, const char *block)
{
    uint64_t address;
    struct text text;
    const char *name = dwarf_diename(die);
    if (dwarf_tag(die) != DW_TAG_variable || !name || !fixed_address(die, &address))
        return;
    text_begin(&text);
    text_add(&text, block);
    text_add(&text, name);
    candidate_add(walk->candidates, (struct candidate){.address = address,
                                                       .size = type_size(die),
                                                       .name = text.bytes,
                                                       .rank = RANK_MEMBER});
}

/* gfortran calls the blank common block __BLNK__ and gives no linkage name for it. */
static void add_common_block(struct walk *walk, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die member;
    struct text text;
    const char *name = dwarf_diename(die);
    if (!name)
        return;
    text_begin(&text);
    const char *linkage = dwarf_formstring(dwarf_attr(die, DW_AT_linkage_name, &attribute));
    text_add(&text, "/");
    text_add(&text, strcmp(name, "__BLNK__") == 0 ? "" : name);
    text_add(&text, "/");
    common_block_add(walk->candidates, (struct common_block){
                                           .linkage = linkage ? linkage : name,
                                           .name = text.bytes,
                                       });
    if (dwarf_child(die, &member) != 0)
        return;
    do
        add_member(walk, &member, text.bytes);
    while (next_sibling(&member));
}

static void walk_children(struct walk *walk, Dwarf_Die *die)
{
    Dwarf_Die child;
    if (walk->scopes.n == DEPTH || dwarf_child(die, &child) != 0)
        return;
    walk->scopes.dies[walk->scopes.n++] = *die;
    do {
        switch (dwarf_tag(&child)) {
        case DW_TAG_variable:
            add_variable(walk, &child);
            break;
        case DW_TAG_common_block:
            add_common_block(walk, &child);
            break;
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_subprogram:
        case DW_TAG_lexical_block:
            walk_children(walk, &child);
            break;
        default:
            break;
        }
    } while (next_sibling(&child));
    walk->scopes.n--;
}

void dwarf_variables(Dwarf *dwarf, struct candidates *candidates)
{
    struct walk walk = {.candidates = candidates};
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split) == 0) {
        if (type == DW_UT_type || type == DW_UT_split_type)
            continue;
        /* -gsplit-dwarf: the unit proper is in a .dwo file, if that is still there */
        walk_children(&walk, type == DW_UT_skeleton && split.addr ? &split : &die);
    }
}
