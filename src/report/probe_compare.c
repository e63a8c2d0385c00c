/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What was measured beside what the operating system and hwloc claim, or the file of a
 * simulated machine:
 *
 *                     measured       OS   hwloc  verdict
 *       L1 data size  32K           32K     32K  same
 *       L3 usable     8.5M .. 12M   32M     32M  smaller: 27 to 38% is usable
 *       L3 ways       –              16      16  not known
 *
 * A dash is what is not known; who claims nothing has an empty place, and what is claimed
 * but does not show is "none". The verdict is on the first claim that there is. */
#include "core/units.h"
#include "host/claims.h"
#include "report/params.h"
#include "report/probe_report.h"
#include "report/terminal.h"

#include <math.h>
#include <string.h>

enum { MEASURED = 1, FIRST_CLAIM };

/* A row of the comparison: one parameter of a cache or a TLB. */
struct figure {
    const char *label;
    size_t measured; /* offset in strata_probed_cache or strata_probed_tlb */
    size_t claimed;  /* offset in struct claim or struct claim_tlb */
    bool wide;       /* 64 bits there, not 32 */
    bool bytes, usable;
};

#define CACHE(member)     offsetof(struct strata_probed_cache, member)
#define TLB(member)       offsetof(struct strata_probed_tlb, member)
#define CLAIM(member)     offsetof(struct claim, member)
#define CLAIM_TLB(member) offsetof(struct claim_tlb, member)

static const struct figure cache_figures[] = {
    {"size", CACHE(size), CLAIM(size), true, true, false},
    {"usable", CACHE(effective), CLAIM(size), true, true, true},
    {"line", CACHE(line), CLAIM(line), false, true, false},
    {"ways", CACHE(ways), CLAIM(ways), false, false, false},
    {0},
};
static const struct figure tlb_figures[] = {
    {"entries", TLB(entries), CLAIM_TLB(entries), false, false, false},
    {"ways", TLB(ways), CLAIM_TLB(ways), false, false, false},
    {0},
};

/* The grid under work, with the columns that it has. */
struct comparison {
    const struct strata_probed *probed;
    const struct claims *claims;
    const struct style *style;
    int claimants; /* how many columns of claims */
    struct grid grid;
};

/* The figure in a claim, which may be NULL; 0: not claimed. */
static double claimed(const void *claim, const struct figure *figure)
{
    if (!claim)
        return 0;
    const char *at = (const char *)claim + figure->claimed;
    uint64_t wide = 0;
    uint32_t narrow = 0;
    memcpy(figure->wide ? (void *)&wide : (void *)&narrow, at,
           figure->wide ? sizeof wide : sizeof narrow);
    return figure->wide ? (double)wide : narrow;
}

/* A figure; nothing where there is none. */
static void put_claim(struct comparison *c, int column, double value, bool bytes)
{
    char text[GRID_CELL], size[SIZE_TEXT];
    if (!(value > 0))
        *text = '\0';
    else if (bytes)
        snprintf(text, sizeof text, "%s", format_size_short(value, size));
    else
        snprintf(text, sizeof text, "%.0f", value);
    grid_set(&c->grid, column, text);
}

static void put_measured(struct comparison *c, const struct strata_value *value,
                         const struct figure *figure)
{
    char text[GRID_CELL];
    if (value_known(value) && figure->usable) {
        format_interval(value, text, sizeof text);
        grid_set(&c->grid, MEASURED, text);
    } else if (value_known(value)) {
        put_claim(c, MEASURED, value->value, figure->bytes);
    } else {
        grid_set(&c->grid, MEASURED, style_dash(c->style));
    }
    if (value_doubtful(value))
        grid_mark(&c->grid, MEASURED, '?');
}

/* "smaller: 27 to 38% is usable" */
static void usable_verdict(const struct strata_value *value, double claim, char *text,
                           size_t size)
{
    double low = isfinite(value->low) ? value->low : value->value;
    double high = isfinite(value->high) ? value->high : value->value;
    double from = round(100 * low / claim), to = round(100 * high / claim);
    if (from >= 100 && to <= 100)
        snprintf(text, size, "same: all of it is usable");
    else if (to < 100 && from == to)
        snprintf(text, size, "smaller: %.0f%% is usable", from);
    else if (to < 100)
        snprintf(text, size, "smaller: %.0f to %.0f%% is usable", from, to);
    else if (from <= 100)
        snprintf(text, size, "same within %.0f to %.0f%%", from, to);
    else
        snprintf(text, size, "larger: %.0f%% of the claim", from);
}

/* `first` and `second` are the claims by[0] and by[1]. */
static void verdict(const struct strata_value *value, double first, double second,
                    const struct figure *figure, char *text, size_t size)
{
    double claim = first > 0 ? first : second;
    if (!value_known(value))
        snprintf(text, size, "not known");
    else if (!(claim > 0))
        snprintf(text, size, "no claim");
    else if (figure->usable)
        usable_verdict(value, claim, text, size);
    else if (value->value == claim)
        snprintf(text, size, "same%s",
                 second > 0 && second != claim ? ", but not as hwloc" : "");
    else
        snprintf(text, size, "%s%s", value->value < claim ? "smaller" : "larger",
                 value->value == second ? ", as hwloc says" : "");
}

/* All figures of one cache or TLB; claim[i] is what by[i] says of it, or NULL. */
static void put_figures(struct comparison *c, const char *name, const void *measured,
                        const void *const claim[CLAIMANTS], const struct figure *figures)
{
    for (const struct figure *f = figures; f->label; f++) {
        const struct strata_value *value =
            (const struct strata_value *)((const char *)measured + f->measured);
        char text[GRID_CELL];
        snprintf(text, sizeof text, "%.31s %s", name, f->label);
        grid_row(&c->grid);
        grid_set(&c->grid, 0, text);
        put_measured(c, value, f);
        for (int i = 0; i < c->claimants; i++)
            put_claim(c, FIRST_CLAIM + i, claimed(claim[i], f), f->bytes);
        verdict(value, claimed(claim[0], f), claimed(claim[1], f), f, text, sizeof text);
        grid_set(&c->grid, FIRST_CLAIM + c->claimants, text);
    }
}

static void put_caches(struct comparison *c)
{
    for (int i = 0; i < cache_count(c->probed); i++) {
        const struct strata_probed_cache *cache = &c->probed->caches[i];
        const void *const claim[] = {claims_find(&c->claims->by[0], cache->level),
                                     claims_find(&c->claims->by[1], cache->level)};
        char name[32];
        cache_name(cache->level, name, sizeof name);
        put_figures(c, name, cache, claim, cache_figures);
    }
}

/* Only where TLBs are claimed at all. */
static void put_tlbs(struct comparison *c)
{
    for (int i = 0; c->claims->ntlbs && i < tlb_count(c->probed); i++) {
        const struct strata_probed_tlb *tlb = &c->probed->tlbs[i];
        const void *const claim[] = {claims_find_tlb(c->claims, tlb->level, tlb->page),
                                     NULL};
        char name[32];
        tlb_name(tlb, c->probed->page, name, sizeof name);
        put_figures(c, name, tlb, claim, tlb_figures);
    }
}

/* A claim that the probe found nothing for. */
static void put_unseen(struct comparison *c, const char *name, const void *const claim[],
                       const struct figure *figure)
{
    grid_row(&c->grid);
    grid_set(&c->grid, 0, name);
    grid_set(&c->grid, MEASURED, "none");
    for (int i = 0; i < c->claimants; i++)
        put_claim(c, FIRST_CLAIM + i, claimed(claim[i], figure), figure->bytes);
    grid_set(&c->grid, FIRST_CLAIM + c->claimants, "not found by measurement");
}

static bool cache_measured(const struct strata_probed *probed, int level)
{
    for (int i = 0; i < cache_count(probed); i++)
        if (probed->caches[i].level == level)
            return true;
    return false;
}

static bool tlb_measured(const struct strata_probed *probed, const struct claim_tlb *claim)
{
    for (int i = 0; i < tlb_count(probed); i++)
        if (probed->tlbs[i].level == claim->level && probed->tlbs[i].page == claim->page)
            return true;
    return false;
}

static void put_unseen_caches(struct comparison *c)
{
    for (int level = 1; level <= 16; level++) {
        const void *const claim[] = {claims_find(&c->claims->by[0], level),
                                     claims_find(&c->claims->by[1], level)};
        char name[32];
        cache_name(level, name, sizeof name);
        if ((claim[0] || claim[1]) && !cache_measured(c->probed, level))
            put_unseen(c, name, claim, &cache_figures[0]);
    }
}

static void put_unseen_tlbs(struct comparison *c)
{
    for (int i = 0; i < c->claims->ntlbs; i++) {
        const struct claim_tlb *claim = &c->claims->tlbs[i];
        const struct strata_probed_tlb like = {.level = claim->level, .page = claim->page};
        const void *const both[] = {claim, NULL};
        char name[32];
        tlb_name(&like, c->probed->page, name, sizeof name);
        if (!tlb_measured(c->probed, claim))
            put_unseen(c, name, both, &tlb_figures[0]);
    }
}

static void print_pages(FILE *out, const struct comparison *c, int width)
{
    const struct claims *claims = c->claims;
    char text[256], size[SIZE_TEXT];
    size_t used = (size_t)snprintf(text, sizeof text, "Pages: measured with %s",
                                   format_size(c->probed->page, size));
    if (c->probed->huge)
        used += (size_t)snprintf(text + used, sizeof text - used, " and %s",
                                 format_size(c->probed->huge, size));
    used += (size_t)snprintf(text + used, sizeof text - used, "; the %s names",
                             claims->by[0].who);
    for (int i = 0; i < claims->npages; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %s", i ? "," : "",
                                 format_size(claims->pages[i], size));
    snprintf(text + used, sizeof text - used, claims->npages ? "." : " none.");
    print_folded(out, text, width, 2);
}

static void print_why(FILE *out, const struct claim_list *list, int width)
{
    char text[256];
    if (list->n || !list->who)
        return;
    snprintf(text, sizeof text, "%s claims no cache: %s.", list->who, list->why);
    print_folded(out, text, width, 2);
}

static void put_heading(struct comparison *c)
{
    grid_row(&c->grid);
    grid_set(&c->grid, MEASURED, "measured");
    for (int i = 0; i < c->claimants; i++)
        grid_set(&c->grid, FIRST_CLAIM + i, c->claims->by[i].who);
    grid_set(&c->grid, FIRST_CLAIM + c->claimants, "verdict");
}

void probe_compare(FILE *out, const struct strata_probed *probed,
                   const struct claims *claims, bool colour, int width)
{
    struct style style = style_make(colour);
    struct comparison c = {.probed = probed, .claims = claims, .style = &style};
    while (c.claimants < CLAIMANTS && claims->by[c.claimants].who)
        c.claimants++;
    static const char *const aligns[] = {"lll", "llrl", "llrrl"};
    c.grid.align = aligns[c.claimants];
    width = bound(width, 40, 200);
    put_heading(&c);
    put_caches(&c);
    put_unseen_caches(&c);
    put_tlbs(&c);
    put_unseen_tlbs(&c);
    grid_print(out, &c.grid, &style, width);
    print_pages(out, &c, width);
    for (int i = 0; i < c.claimants; i++)
        print_why(out, &claims->by[i], width);
}
