/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How two machines differ; machine/compare.h has the contract. */
#include "machine/compare.h"

#include "machine/locale.h"

#include <stdio.h>
#include <string.h>

struct list {
    struct difference *differences;
    size_t most, n;
};

static void add(struct list *list, enum section section, const void *named, const char *key,
                const char *a, const char *b)
{
    const struct section_type *type = &section_types[section];
    if (list->n < list->most) {
        struct difference *d = &list->differences[list->n];
        snprintf(d->section, sizeof d->section, "%s%s%s", type->name,
                 type->named ? " " : "", type->named ? (const char *)named : "");
        d->key = key;
        snprintf(d->a, sizeof d->a, "%s", a);
        snprintf(d->b, sizeof d->b, "%s", b);
    }
    list->n++;
}

static bool match(enum section section, const void *a, const void *b)
{
    if (section == SECTION_CACHE) {
        const struct strata_cache *x = a, *y = b;
        return x->level == y->level && x->kind == y->kind;
    }
    if (section == SECTION_TLB) {
        const struct strata_tlb *x = a, *y = b;
        return x->page == y->page && x->level == y->level && x->kind == y->kind;
    }
    if (section == SECTION_PREFETCH) {
        const struct strata_prefetcher *x = a, *y = b;
        return x->level == y->level;
    }
    return true;
}

/* The record of `machine` that stands for the same thing, or NULL. `skip` of those
 * that match are passed over: the second prefetcher of a level meets the second. */
static const void *counterpart(const struct strata_machine *machine, enum section section,
                               const void *record, uint32_t skip)
{
    for (uint32_t i = 0; i < record_count(machine, section); i++) {
        const void *other = record_of(machine, section, i);
        if (match(section, record, other) && skip-- == 0)
            return other;
    }
    return NULL;
}

/* How many records before the i-th match it. */
static uint32_t matches_before(const struct strata_machine *machine, enum section section,
                               uint32_t i)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < i; j++)
        n += match(section, record_of(machine, section, i), record_of(machine, section, j));
    return n;
}

static void compare_keys(struct list *list, enum section section, const void *a,
                         const void *b)
{
    const struct section_type *type = &section_types[section];
    char x[VALUE_TEXT], y[VALUE_TEXT];
    for (uint32_t k = 0; k < type->nkeys; k++) {
        key_format(&type->keys[k], a, x);
        key_format(&type->keys[k], b, y);
        if (strcmp(x, y) != 0)
            add(list, section, a, type->keys[k].name, x, y);
    }
}

static void compare_section(struct list *list, enum section section,
                            const struct strata_machine *a, const struct strata_machine *b)
{
    for (uint32_t i = 0; i < record_count(a, section); i++) {
        const void *record = record_of(a, section, i);
        const void *other = counterpart(b, section, record, matches_before(a, section, i));
        if (other)
            compare_keys(list, section, record, other);
        else
            add(list, section, record, NULL, "present", "");
    }
    for (uint32_t i = 0; i < record_count(b, section); i++) {
        const void *record = record_of(b, section, i);
        if (!counterpart(a, section, record, matches_before(b, section, i)))
            add(list, section, record, NULL, "", "present");
    }
}

int machine_compare(const struct strata_machine *a, const struct strata_machine *b,
                    struct difference *differences, size_t most, size_t *n,
                    struct strata_error *error)
{
    struct list list = {differences, most, 0};
    struct c_locale locale;
    int status = c_locale_enter(&locale, error);
    if (status)
        return status;
    for (int s = 0; s < SECTIONS; s++)
        compare_section(&list, s, a, b);
    c_locale_leave(&locale);
    *n = list.n;
    return STRATA_OK;
}
