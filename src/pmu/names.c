/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libpfm4 behind names.h. It encodes events of absent PMUs only if the environment said so
 * when it was set up; whether a PMU is present is asked apart from that, by the identity of
 * the processor (in a guest without a PMU it still says present: only opening tells). */
#include "pmu/names.h"

#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets libpfm4 up; again, it does nothing. */
static bool set_up(void)
{
    static const char variable[] = "LIBPFM_ENCODE_INACTIVE";
    bool given = getenv(variable) != NULL;
    if (!given)
        setenv(variable, "1", 1);
    int status = pfm_initialize();
    if (!given)
        unsetenv(variable); /* programs that strata starts need not see it */
    return status == PFM_SUCCESS;
}

static bool pmu_info(int pmu, pfm_pmu_info_t *info)
{
    *info = (pfm_pmu_info_t){.size = sizeof *info};
    return pfm_get_pmu_info((pfm_pmu_t)pmu, info) == PFM_SUCCESS;
}

static bool find_pmu(const char *name, size_t length, pfm_pmu_info_t *info)
{
    for (int pmu = 0; pmu < PFM_PMU_MAX; pmu++)
        if (pmu_info(pmu, info) && strlen(info->name) == length &&
            strncmp(info->name, name, length) == 0)
            return true;
    return false;
}

/* Says why a name means nothing here; false if it may. */
static bool refuse_pmu(const char *name, bool present, char why[PMU_WHY])
{
    pfm_pmu_info_t info;
    const char *colons = strstr(name, "::");
    if (!colons)
        return false;
    if (!find_pmu(name, (size_t)(colons - name), &info)) {
        snprintf(why, PMU_WHY, "no PMU %.*s is known; 'strata events --pmus' lists them",
                 (int)(colons - name), name);
        return true;
    }
    if (!present || info.is_present || info.type == PFM_PMU_TYPE_OS_GENERIC)
        return false;
    snprintf(why, PMU_WHY, "it is an event of %s, and this is another processor",
             info.desc);
    return true;
}

int names_encode(const char *pmu, const char *name, bool present,
                 struct perf_event_attr *attr, char why[PMU_WHY])
{
    char whole[256];
    struct perf_event_attr encoded = {.size = sizeof encoded};
    pfm_perf_encode_arg_t argument = {.attr = &encoded, .size = sizeof argument};
    if (!set_up()) {
        snprintf(why, PMU_WHY, "libpfm4 could not be set up");
        return -1;
    }
    bool own = *pmu && !strstr(name, "::");
    if (snprintf(whole, sizeof whole, "%s%s%s", own ? pmu : "", own ? "::" : "", name) >=
        (int)sizeof whole) {
        snprintf(why, PMU_WHY, "the name is too long");
        return -1;
    }
    if (refuse_pmu(whole, present, why))
        return -1;
    int status =
        pfm_get_os_event_encoding(whole, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &argument);
    if (status != PFM_SUCCESS) {
        snprintf(why, PMU_WHY, "%.120s: libpfm4 says %s", whole, pfm_strerror(status));
        return -1;
    }
    attr->type = encoded.type;
    attr->config = encoded.config;
    attr->config1 = encoded.config1;
    attr->config2 = encoded.config2;
    return 0;
}

/* Listing. */

struct walk {
    bool (*visit)(const struct named_event *event, void *context);
    void *context;
    struct named_event event;
    bool ended;
};

static void visit_one(struct walk *walk)
{
    walk->ended = !walk->visit(&walk->event, walk->context);
}

bool names_code(const struct named_event *event, uint32_t *type, uint64_t *config)
{
    struct perf_event_attr attr = {.size = sizeof attr};
    char why[PMU_WHY];
    if (names_encode(event->pmu, event->name, false, &attr, why) != 0)
        return false;
    *type = attr.type;
    *config = attr.config;
    return true;
}

static void walk_masks(struct walk *walk, int index, const pfm_event_info_t *info)
{
    int nmasks = 0;
    for (int a = 0; a < info->nattrs && !walk->ended; a++) {
        pfm_event_attr_info_t mask = {.size = sizeof mask};
        if (pfm_get_event_attr_info(index, a, PFM_OS_NONE, &mask) != PFM_SUCCESS ||
            mask.type != PFM_ATTR_UMASK)
            continue;
        nmasks++;
        snprintf(walk->event.name, sizeof walk->event.name, "%s:%s", info->name, mask.name);
        walk->event.about = mask.desc ? mask.desc : "";
        visit_one(walk);
    }
    if (nmasks || walk->ended)
        return;
    snprintf(walk->event.name, sizeof walk->event.name, "%s", info->name);
    walk->event.about = info->desc ? info->desc : "";
    visit_one(walk);
}

static void walk_pmu(struct walk *walk, const pfm_pmu_info_t *pmu)
{
    walk->event.pmu = pmu->name;
    walk->event.pmu_name = pmu->desc;
    walk->event.present = pmu->is_present;
    for (int i = pmu->first_event; i != -1 && !walk->ended; i = pfm_get_event_next(i)) {
        pfm_event_info_t info = {.size = sizeof info};
        if (pfm_get_event_info(i, PFM_OS_NONE, &info) == PFM_SUCCESS)
            walk_masks(walk, i, &info);
    }
}

size_t names_each(const char *pmu,
                  bool (*visit)(const struct named_event *event, void *context),
                  void *context)
{
    struct walk walk = {.visit = visit, .context = context};
    pfm_pmu_info_t info;
    size_t n = 0;
    if (!set_up())
        return 0;
    for (int i = 0; i < PFM_PMU_MAX && !walk.ended; i++)
        if (pmu_info(i, &info) && (pmu ? strcmp(info.name, pmu) == 0 : info.is_present)) {
            n++;
            walk_pmu(&walk, &info);
        }
    return n;
}

void names_pmus(void (*visit)(const char *name, const char *about, bool present,
                              int nevents, void *context),
                void *context)
{
    pfm_pmu_info_t info;
    if (!set_up())
        return;
    for (int i = 0; i < PFM_PMU_MAX; i++)
        if (pmu_info(i, &info))
            visit(info.name, info.desc, info.is_present, info.nevents, context);
}

const char *names_version(char text[32])
{
    int version = pfm_get_version();
    snprintf(text, 32, "%d.%d", PFM_MAJ_VERSION(version), PFM_MIN_VERSION(version));
    return text;
}

const struct pmu_system pmu_system_here = {.open = pmu_system_open,
                                           .names = names_encode,
                                           .root = "",
                                           .may_count = pmu_system_may_count};
