/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of this machine's processors, and lists of events. */
#include "pmu/model.h"

#include "core/fail.h"
#include "pmu/virtual.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char pmu_standard_events[] =
    "instructions,cycles,l1d_accesses,l1d_misses,l2_misses,l3_misses,dtlb_walks,itlb_walks,"
    "branches,branch_misses,task-clock,page-faults,context-switches,cpu-migrations";

/* The model. */

static int read_named(const char *folder, const char *name, char path[PATH_MAX],
                      struct strata_error *error)
{
    return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX
               ? STRATA_OK
               : fail(error, STRATA_BAD_INPUT, "%.80s...: the name is too long", folder);
}

static int read_tables(struct pmu_model *model, const char *folder,
                       struct strata_error *error)
{
    char path[PATH_MAX];
    int status = read_named(folder, "cpus.table", path, error);
    if (!status)
        status = cpu_table_read(path, &model->cpus, error);
    if (!status)
        status = read_named(folder, "common.metrics", path, error);
    return status ? status : metric_table_read(path, &model->metrics, error);
}

int pmu_model_read(struct pmu_model *model, const char *folder, const char *root,
                   struct strata_error *error)
{
    struct cpu_kind kinds[CPU_KINDS] = {{.first = 0}};
    *model = (struct pmu_model){.nkinds = 0};
    int status = read_tables(model, folder, error);
    size_t n = cpu_kinds(root, kinds);
    n = n ? n : 1;
    for (size_t i = 0; i < n && !status; i++) {
        struct pmu_model_kind *kind = &model->kinds[i];
        kind->cpu = kinds[i];
        kind->row = cpu_find(&model->cpus, &kinds[i].id);
        status = event_table_read(folder, kind->row ? kind->row->events : "generic",
                                  &kind->events, error);
        model->nkinds += !status;
    }
    if (status)
        pmu_model_release(model);
    return status;
}

void pmu_model_release(struct pmu_model *model)
{
    for (size_t i = 0; i < model->nkinds; i++)
        event_table_release(&model->kinds[i].events);
    cpu_table_release(&model->cpus);
    metric_table_release(&model->metrics);
    *model = (struct pmu_model){.nkinds = 0};
}

const char *pmu_model_name(const struct pmu_model *model, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < model->nkinds && used < size; i++) {
        char own[CPU_TEXT];
        const struct pmu_model_kind *kind = &model->kinds[i];
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " and " : "",
                                 kind->row ? kind->row->name
                                           : cpu_describe(&kind->cpu.id, own));
    }
    return text;
}

/* Lists. */

/* Where the name that starts here ends: at a comma that separates, a brace, or the end. */
static char *end_of_name(char *at)
{
    bool within = false, fields = strncmp(at, "event=", 6) == 0;
    bool address = strncmp(at, "mem:", 4) == 0; /* its slash is a single one */
    for (; *at && *at != '}'; at++) {
        if (*at == '/' && !address)
            within = !within;
        if (*at != ',' || within)
            continue;
        size_t length = strcspn(at + 1, "=,}/"); /* the next field, if that is one */
        bool field = fields && at[1 + length] == '=' && strncmp(at + 1, "event=", 6) != 0;
        if (!field)
            return at;
    }
    return at;
}

static int add_name(struct pmu_list *list, const char *name, int group)
{
    const char **names = realloc(list->names, (list->n + 1) * sizeof *names);
    if (names)
        list->names = names;
    int *groups = realloc(list->groups, (list->n + 1) * sizeof *groups);
    if (groups)
        list->groups = groups;
    if (!names || !groups)
        return -1;
    list->names[list->n] = name;
    list->groups[list->n++] = group;
    return 0;
}

/* Splits list->text. Returns NULL, or what is wrong; "" without memory. */
static const char *split(struct pmu_list *list)
{
    int groups = 0;
    bool inside = false;
    for (char *at = list->text;;) {
        if (*at == '{') {
            if (inside)
                return "a { within another";
            inside = true;
            groups++;
            at++;
        }
        char *end = end_of_name(at), stop = *end;
        if (end == at)
            return "the name of an event is missing";
        *end = '\0';
        if (add_name(list, at, inside ? groups : 0) != 0)
            return "";
        if (stop == '}') {
            if (!inside)
                return "a } without its {";
            inside = false;
            stop = *++end;
        }
        if (!stop)
            return inside ? "a { without its }" : NULL;
        if (stop != ',')
            return "a comma is missing behind }";
        at = end + 1;
    }
}

int pmu_list_split(const char *text, struct pmu_list *list, struct strata_error *error)
{
    *list = (struct pmu_list){.text = strdup(text)};
    const char *wrong = list->text ? split(list) : "";
    if (!wrong)
        return STRATA_OK;
    pmu_list_release(list);
    return *wrong ? fail(error, STRATA_BAD_INPUT, "--events %.120s: %s", text, wrong)
                  : fail(error, STRATA_FAILED, "out of memory");
}

void pmu_list_release(struct pmu_list *list)
{
    free(list->text);
    free(list->names);
    free(list->groups);
    free(list->wants);
    free(list->about);
    *list = (struct pmu_list){.n = 0};
}

/* Binding. */

static struct pmu_kind kind_of(const struct pmu_model_kind *kind)
{
    return (struct pmu_kind){.pmu = event_table_pmu(&kind->events),
                             .device = kind->cpu.device};
}

static void add_want(struct pmu_list *list, size_t i, const struct pmu_model_kind *kind,
                     const struct event_row *row)
{
    list->about[list->nwants] = row && row->nways ? row->about : "";
    list->wants[list->nwants++] = (struct pmu_want){.name = list->names[i],
                                                    .row = row,
                                                    .kind = kind_of(kind),
                                                    .group = list->groups[i]};
}

/* Whether a name can only be judged on the machine that has it. */
static bool depends_on_machine(const char *name)
{
    return strchr(name, '/') || (strchr(name, ':') && !strstr(name, "::") &&
                                 !strpbrk(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ="));
}

static int bind_name(struct pmu_list *list, size_t i, const struct pmu_model *model,
                     const struct pmu_system *system, struct strata_error *error)
{
    const char *name = list->names[i];
    size_t before = list->nwants;
    for (size_t k = 0; k < model->nkinds; k++) {
        const struct event_row *row = event_find(&model->kinds[k].events, name, NULL);
        if (row)
            add_want(list, i, &model->kinds[k], row);
    }
    if (list->nwants > before)
        return STRATA_OK;
    struct pmu_kind kind = kind_of(&model->kinds[0]);
    struct pmu_code code;
    char why[PMU_WHY];
    kind.absent = true;
    add_want(list, i, &model->kinds[0], NULL);
    if (pmu_encode(system, &kind, name, &code, why) == 0 || depends_on_machine(name) ||
        virtual_has(name))
        return STRATA_OK;
    return fail(error, STRATA_BAD_INPUT,
                "--events: %s: %.200s; 'strata events PATTERN' searches them", name, why);
}

int pmu_list_bind(struct pmu_list *list, const struct pmu_model *model,
                  const struct pmu_system *system, struct strata_error *error)
{
    size_t most = list->n * model->nkinds;
    list->wants = calloc(most ? most : 1, sizeof *list->wants);
    list->about = calloc(most ? most : 1, sizeof *list->about);
    if (!list->wants || !list->about)
        return fail(error, STRATA_FAILED, "out of memory");
    int status = STRATA_OK;
    for (size_t i = 0; i < list->n && !status; i++)
        status = bind_name(list, i, model, system, error);
    return status;
}

bool pmu_needs_hardware(const struct pmu_model *model, const struct pmu_system *system,
                        const char *name)
{
    struct pmu_code code;
    char why[PMU_WHY];
    struct pmu_kind kind = kind_of(&model->kinds[0]);
    for (size_t k = 0; k < model->nkinds; k++)
        if (event_find(&model->kinds[k].events, name, NULL))
            return true;
    kind.absent = true;
    if (pmu_encode(system, &kind, name, &code, why) == 0)
        return !code.software;
    return !depends_on_machine(name);
}
