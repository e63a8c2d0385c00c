/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Codes of events; encode.h lists the forms that they come in. */
#include "pmu/encode.h"

#include "host/facts.h"
#include "pmu/ini.h"

#include <errno.h>
#include <limits.h>
#include <linux/hw_breakpoint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define CACHE(cache, op, result)                                                           \
    (PERF_COUNT_HW_CACHE_##cache | (PERF_COUNT_HW_CACHE_OP_##op << 8) |                    \
     (PERF_COUNT_HW_CACHE_RESULT_##result << 16))

static const struct {
    const char *name;
    uint32_t type;
    uint64_t config;
    bool kernel_only;
    const char *about;
} kernel_events[] = {
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false,
     "nanoseconds on a processor"},
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false,
     "nanoseconds of the processor's clock"},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false, "page faults"},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false,
     "page faults without a disk"},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false,
     "page faults that waited for a disk"},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true,
     "times that a thread lost its processor"},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true,
     "times that a thread moved to another processor"},
    {"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, false,
     "unaligned accesses that the kernel had to mend"},
    {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, false,
     "instructions that the kernel had to emulate"},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, "cycles"},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false,
     "instructions retired"},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false,
     "accesses of the last cache, mostly"},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false,
     "misses of the last cache, mostly"},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false,
     "branches retired"},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false,
     "branches that were predicted wrong"},
    {"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, false, "bus cycles"},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, false,
     "cycles at a constant frequency"},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
     false, "cycles without new instructions"},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
     false, "cycles without progress"},
    {"L1-dcache-loads", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS), false,
     "loads from the L1 data cache"},
    {"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS), false,
     "loads that missed the L1 data cache"},
    {"L1-dcache-stores", PERF_TYPE_HW_CACHE, CACHE(L1D, WRITE, ACCESS), false,
     "stores to the L1 data cache"},
    {"L1-icache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1I, READ, MISS), false,
     "fetches that missed the L1 instruction cache"},
    {"LLC-loads", PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS), false,
     "loads from the last cache"},
    {"LLC-load-misses", PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS), false,
     "loads that missed the last cache"},
    {"dTLB-loads", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, ACCESS), false,
     "loads that asked the data TLB"},
    {"dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS), false,
     "loads that missed the data TLB"},
    {"dTLB-store-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, WRITE, MISS), false,
     "stores that missed the data TLB"},
    {"iTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS), false,
     "fetches that missed the instruction TLB"},
    {"branch-load-misses", PERF_TYPE_HW_CACHE, CACHE(BPU, READ, MISS), false,
     "misses of the branch predictor"},
};

enum { KERNEL_EVENTS = sizeof kernel_events / sizeof kernel_events[0] };

const char *pmu_kernel_event(size_t i, const char **about, uint32_t *type, uint64_t *config)
{
    if (i >= KERNEL_EVENTS)
        return NULL;
    *about = kernel_events[i].about;
    *type = kernel_events[i].type;
    *config = kernel_events[i].config;
    return kernel_events[i].name;
}

/* All that a form needs; each returns 1: done, 0: not this form, -1: why says what is
 * wrong. */
struct encoding {
    const struct pmu_system *system;
    const struct pmu_kind *kind;
    struct pmu_code *code;
    char *why;
};

__attribute__((format(printf, 2, 3))) static int wrong(const struct encoding *encoding,
                                                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(encoding->why, PMU_WHY, format, arguments);
    va_end(arguments);
    return -1;
}

static int encode_kernel(const struct encoding *encoding, const char *text)
{
    for (size_t i = 0; i < KERNEL_EVENTS; i++)
        if (strcasecmp(kernel_events[i].name, text) == 0) {
            encoding->code->attr.type = kernel_events[i].type;
            encoding->code->attr.config = kernel_events[i].config;
            encoding->code->kernel_only = kernel_events[i].kernel_only;
            encoding->code->software = kernel_events[i].type == PERF_TYPE_SOFTWARE;
            return 1;
        }
    return 0;
}

/* PMUs in sysfs. */

static int read_device(const struct encoding *encoding, const char *device,
                       const char *file, char *line, size_t size)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "/sys/bus/event_source/devices/%.64s/%.64s", device,
                 file) >= (int)sizeof path)
        return -1;
    return facts_read_line(encoding->system->root, path, line, size);
}

static int device_type(const struct encoding *encoding, const char *device, uint32_t *type)
{
    char line[32];
    uint64_t number;
    if (read_device(encoding, device, "type", line, sizeof line) != 0 ||
        ini_number(line, &number) != 0 || number > UINT32_MAX)
        return -1;
    *type = (uint32_t)number;
    return 0;
}

/* Where the fields of a raw code are if the kernel does not say. */
static const char *standard_format(const char *field)
{
    static const struct {
        const char *field, *format;
    } formats[] = {
#if defined(__aarch64__)
        {"event", "config:0-15"},
#else
        {"event", "config:0-7,32-35"},
        {"umask", "config:8-15"},
        {"edge", "config:18"},
        {"inv", "config:23"},
        {"cmask", "config:24-31"},
#endif
        {"config", "config:0-63"},
        {"config1", "config1:0-63"},
        {"config2", "config2:0-63"},
    };
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].field, field) == 0)
            return formats[i].format;
    return NULL;
}

/* Puts the low bits of a value into one range of bits; how many bits it took. */
static int put_range(uint64_t *word, uint64_t value, long low, long high)
{
    long width = high - low + 1;
    uint64_t mask = width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    *word = (*word & ~(mask << low)) | ((value & mask) << low);
    return (int)width;
}

/* Puts a value where a format such as "config:0-7,32-35" says; -1: it does not fit, or
 * the format is none. */
static int put_field(struct perf_event_attr *attr, const char *format, uint64_t value)
{
    static const char names[][9] = {"config2:", "config1:", "config:"};
    uint64_t config[3] = {attr->config2, attr->config1, attr->config};
    size_t i = 0;
    while (i < 3 && strncmp(format, names[i], strlen(names[i])) != 0)
        i++;
    if (i == 3)
        return -1;
    for (const char *at = format + strlen(names[i]); *at;) {
        char *end;
        long low = strtol(at, &end, 10), high = low;
        if (*end == '-')
            high = strtol(end + 1, &end, 10);
        if (end == at || low < 0 || high < low || high > 63)
            return -1;
        int width = put_range(&config[i], value, low, high);
        value = width >= 64 ? 0 : value >> width;
        at = *end == ',' ? end + 1 : end;
        if (*end && *end != ',')
            return -1;
    }
    attr->config2 = config[0];
    attr->config1 = config[1];
    attr->config = config[2];
    return value ? -1 : 0;
}

/* "umask=0x08", or "edge", which is 1. */
static int take_term(const struct encoding *encoding, const char *device, char *term)
{
    char file[96], line[64];
    uint64_t value = 1;
    char *equals = strchr(term, '=');
    if (equals)
        *equals = '\0';
    if (equals && ini_number(equals + 1, &value) != 0)
        return wrong(encoding, "the value of %s is no number", term);
    snprintf(file, sizeof file, "format/%.64s", term);
    const char *format = *device && !strchr(term, '/') &&
                                 read_device(encoding, device, file, line, sizeof line) == 0
                             ? line
                             : standard_format(term);
    if (!format)
        return wrong(encoding, "the PMU has no field %s", term);
    if (put_field(&encoding->code->attr, format, value) != 0)
        return wrong(encoding, "the value of %s is too large", term);
    return 1;
}

static int take_terms(const struct encoding *encoding, const char *device, char *terms)
{
    int status = 1;
    for (char *term; status == 1 && (term = strsep(&terms, ","));)
        status = *term ? take_term(encoding, device, term)
                       : wrong(encoding, "a field is missing");
    return status;
}

/* The name of an event of a PMU stands for its terms. */
static int take_alias(const struct encoding *encoding, const char *device, char *terms)
{
    char file[96], line[256];
    if (strpbrk(terms, "=,/") || !*terms)
        return take_terms(encoding, device, terms);
    snprintf(file, sizeof file, "events/%.64s", terms);
    if (read_device(encoding, device, file, line, sizeof line) != 0)
        return take_terms(encoding, device, terms);
    return take_terms(encoding, device, line);
}

/* PMU/terms/ */
static int encode_device(const struct encoding *encoding, const char *text)
{
    char device[64], terms[256];
    const char *slash = strchr(text, '/');
    size_t length = strlen(text);
    if (!slash || strncmp(text, "mem:", 4) == 0)
        return 0;
    if (slash == text || text[length - 1] != '/' || slash == text + length - 1 ||
        (size_t)(slash - text) >= sizeof device ||
        length - (size_t)(slash - text) - 2 >= sizeof terms)
        return wrong(encoding, "%.80s: wanted is PMU/terms/, as cpu/event=0xc0/", text);
    snprintf(device, sizeof device, "%.*s", (int)(slash - text), text);
    snprintf(terms, sizeof terms, "%.*s", (int)(length - (size_t)(slash - text) - 2),
             slash + 1);
    if (device_type(encoding, device, &encoding->code->attr.type) != 0)
        return wrong(encoding, "there is no PMU %s in /sys/bus/event_source/devices",
                     device);
    encoding->code->software = encoding->code->attr.type == PERF_TYPE_SOFTWARE;
    return take_alias(encoding, device, terms);
}

/* event=...,umask=... of the processor's own PMU. */
static int encode_fields(const struct encoding *encoding, const char *text)
{
    char terms[256];
    const char *device = encoding->kind->device;
    if (!strchr(text, '=') || strchr(text, ':'))
        return 0;
    if (strlen(text) >= sizeof terms)
        return wrong(encoding, "%.40s...: it is too long", text);
    strcpy(terms, text);
    encoding->code->attr.type = PERF_TYPE_RAW;
    if (*device && device_type(encoding, device, &encoding->code->attr.type) != 0)
        return wrong(encoding, "there is no PMU %s here", device);
    return take_terms(encoding, *device ? device : "cpu", terms);
}

/* r1a8 */
static int encode_raw(const struct encoding *encoding, const char *text)
{
    char *end;
    if (text[0] != 'r' || !text[1] || text[1 + strspn(text + 1, "0123456789abcdefABCDEF")])
        return 0;
    errno = 0;
    encoding->code->attr.config = strtoull(text + 1, &end, 16);
    if (errno)
        return wrong(encoding, "%.40s: more than 64 bits", text);
    encoding->code->attr.type = PERF_TYPE_RAW;
    if (*encoding->kind->device)
        device_type(encoding, encoding->kind->device, &encoding->code->attr.type);
    return 1;
}

/* mem:ADDRESS[/LENGTH][:rwx] */
static int encode_breakpoint(const struct encoding *encoding, const char *text)
{
    struct perf_event_attr *attr = &encoding->code->attr;
    char *end;
    if (strncmp(text, "mem:", 4) != 0)
        return 0;
    attr->type = PERF_TYPE_BREAKPOINT;
    attr->bp_addr = strtoull(text + 4, &end, 0);
    attr->bp_len = 8;
    bool good = end != text + 4;
    if (good && *end == '/')
        attr->bp_len = strtoull(end + 1, &end, 10);
    const char *access = *end == ':' ? end + 1 : "rw";
    good = good && (!*end || *end == ':') && *access;
    for (; good && *access; access++) {
        attr->bp_type |= *access == 'r'   ? HW_BREAKPOINT_R
                         : *access == 'w' ? HW_BREAKPOINT_W
                         : *access == 'x' ? HW_BREAKPOINT_X
                                          : 0;
        good = strchr("rwx", *access) != NULL;
    }
    if (attr->bp_type == HW_BREAKPOINT_X)
        attr->bp_len = sizeof(long);
    encoding->code->software = true;
    return good ? 1 : wrong(encoding, "%.80s: wanted is mem:ADDRESS[/LENGTH][:rwx]", text);
}

/* category:name, by the number that the kernel gives it. */
static int encode_tracepoint(const struct encoding *encoding, const char *text)
{
    static const char *const folders[] = {"/sys/kernel/tracing",
                                          "/sys/kernel/debug/tracing"};
    char path[256], line[32];
    uint64_t number;
    const char *colon = strchr(text, ':');
    if (!colon || colon == text || colon[1] == ':' || strchr(colon + 1, ':') ||
        strchr(text, '/') || strlen(text) > 120)
        return 0;
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/events/%.*s/%s/id", folders[i], (int)(colon - text),
                 text, colon + 1);
        errno = 0;
        if (facts_read_line(encoding->system->root, path, line, sizeof line) == 0 &&
            ini_number(line, &number) == 0) {
            encoding->code->attr.type = PERF_TYPE_TRACEPOINT;
            encoding->code->attr.config = number;
            encoding->code->software = encoding->code->kernel_only = true;
            return 1;
        }
        if (errno == EACCES)
            return wrong(encoding,
                         "the tracepoint %.80s: /sys/kernel/tracing may only be "
                         "read by root",
                         text);
    }
    return 0;
}

/* Names of tracepoints have no capital letters, those of PMUs have. */
static bool looks_like_tracepoint(const char *text)
{
    const char *colon = strchr(text, ':');
    return colon && colon != text && colon[1] && !strchr(colon + 1, ':') &&
           !strpbrk(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ/=");
}

static void explain_tracepoint(const struct encoding *encoding, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/sys/kernel/tracing/events", encoding->system->root);
    if (access(path, F_OK) == 0)
        wrong(encoding, "there is no tracepoint %.80s", text);
    else
        wrong(
            encoding,
            "no tracepoint %.80s can be found: tracefs is not mounted; run 'sudo mount -t "
            "tracefs none /sys/kernel/tracing'",
            text);
}

static int encode_name(const struct encoding *encoding, const char *text)
{
    bool known = encoding->system->names &&
                 encoding->system->names(encoding->kind->pmu, text, !encoding->kind->absent,
                                         &encoding->code->attr, encoding->why) == 0;
    if (!known && looks_like_tracepoint(text))
        explain_tracepoint(encoding, text);
    return known ? 1 : -1;
}

/* Cuts :u or :k off, or the letter behind PMU/terms/; which of them it was. */
static char cut_modifier(char *text)
{
    size_t length = strlen(text);
    char last = length > 2 ? text[length - 1] : '\0',
         before = last ? text[length - 2] : '\0';
    bool device = before == '/' && strchr(text, '/') != text + length - 2;
    if ((last != 'u' && last != 'k') || (before != ':' && !device))
        return '\0';
    text[length - (device ? 1 : 2)] = '\0';
    return last;
}

int pmu_encode(const struct pmu_system *system, const struct pmu_kind *kind,
               const char *text, struct pmu_code *code, char why[PMU_WHY])
{
    static int (*const forms[])(const struct encoding *, const char *) = {
        encode_kernel,     encode_device,     encode_fields, encode_raw,
        encode_breakpoint, encode_tracepoint, encode_name};
    char name[256];
    *code = (struct pmu_code){.attr = {.size = sizeof code->attr}};
    const struct encoding encoding = {system, kind, code, why};
    snprintf(why, PMU_WHY, "no such event");
    if (snprintf(name, sizeof name, "%s", text) >= (int)sizeof name || !*name)
        return -1;
    char modifier = cut_modifier(name);
    int status = 0;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0] && status == 0; i++)
        status = forms[i](&encoding, name);
    code->attr.exclude_kernel = modifier == 'u';
    code->attr.exclude_user = modifier == 'k';
    return status == 1 ? 0 : -1;
}
