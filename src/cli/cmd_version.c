/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata --version: the version, and what it was built with.
 *
 *     strata 0.1.0
 *       jansson    2.14
 *       inih       55
 *       hwloc      2.9.0
 *       cairo      1.16.0
 *       sqlite     3.40.1
 *       elfutils   0.188
 *       libpfm     4.13
 *       microhttpd 0.9.75
 *       ncurses    6.4.20221231
 *       valgrind   strata's tool for it is there
 *       compiler   gcc 12.2.0
 *       target     x86_64 linux
 *
 * The versions of jansson, cairo, SQLite, libpfm and ncurses are those of the libraries in
 * use; those of hwloc, inih and elfutils are of the headers that strata was compiled with:
 * these do not tell. */
#include "cli/commands.h"
#include "collect/places.h"
#include "core/fail.h"
#include "core/version.h"
#include "pmu/names.h"
#include "serve/http.h"

#include <cairo.h>
#include <curses.h>
#include <elfutils/version.h>
#include <hwloc.h>
#include <jansson.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#if defined(__x86_64__)
#define TARGET "x86_64 linux"
#elif defined(__aarch64__)
#define TARGET "aarch64 linux"
#else
#define TARGET "another processor"
#endif

struct part {
    const char *name, *version;
};

static int print_json(const struct part *parts, size_t n, struct strata_error *error)
{
    json_t *object = json_pack("{s:s}", "strata", build_version);
    int bad = object == NULL;
    for (size_t i = 0; i < n && !bad; i++)
        bad = json_object_set_new(object, parts[i].name, json_string(parts[i].version));
    char *text = bad ? NULL : json_dumps(object, JSON_INDENT(2));
    if (text)
        puts(text);
    json_decref(object);
    if (!text)
        return fail(error, STRATA_FAILED, "out of memory");
    free(text);
    return STRATA_OK;
}

#define TEXT(value)  #value
#define VALUE(macro) TEXT(macro)

/* elfutils counts its versions up: 188 is 0.188. */
#define ELFUTILS_VERSION "0." VALUE(_ELFUTILS_VERSION)

static const char *collector(void)
{
    char folder[PATH_MAX];
    return place_of_collector(folder, NULL) == STRATA_OK
               ? "strata's tool for it is there"
               : "strata's tool for it is not there";
}

int cmd_version(const struct options *options, struct strata_error *error)
{
    char pfm[32];
    const struct part parts[] = {
        {"jansson", jansson_version_str()},
        {"inih", INIH_VERSION},
        {"hwloc", HWLOC_VERSION},
        {"cairo", cairo_version_string()},
        {"sqlite", sqlite3_libversion()},
        {"elfutils", ELFUTILS_VERSION},
        {"libpfm", names_version(pfm)},
        {"microhttpd", http_version()},
        {"ncurses", strpbrk(curses_version(), "0123456789")},
        {"valgrind", collector()},
        {"compiler", COMPILER},
        {"target", TARGET},
    };
    const size_t n = sizeof parts / sizeof parts[0];
    if (option_given(options, "json"))
        return print_json(parts, n, error);
    printf("strata %s\n", build_version);
    for (size_t i = 0; i < n; i++)
        printf("  %-10s %s\n", parts[i].name, parts[i].version);
    return STRATA_OK;
}
