/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long it takes to write a large profile and to look at it: 300,000 cells (or as many
 * as the first argument says) of 3,000 objects and 20,000 instructions, spread at random.
 */
#include "profile/profile.h"
#include "../tests/test_raw_fixture.h"
#include "core/rng.h"
#include "views/view.h"

#include <time.h>
#include <unistd.h>

enum { OBJECTS = 3000, SITES = 20000, FUNCTIONS = 2000, FILES = 300 };

struct times {
    double wall, processor; /* seconds */
};

static double seconds(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static struct times now(void)
{
    return (struct times){seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

static void print_since(const char *what, struct times start)
{
    struct times end = now();
    printf("  %-10s %6.3f s, %6.3f s of processor time\n", what, end.wall - start.wall,
           end.processor - start.processor);
}

static void build(struct raw_builder *builder, uint32_t cells)
{
    static uint32_t buckets[OBJECTS], sites[SITES];
    struct rng rng = {1};
    char name[64], file[64];
    raw_begin(builder, RAW_EXACT);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        snprintf(name, sizeof name, "allocate_%u-caller_%u-main", i, i % 100);
        buckets[i] = raw_put_bucket(builder, RAW_HEAP, name, NULL, "a.c:1", 10, 64);
    }
    for (uint32_t i = 0; i < SITES; i++) {
        snprintf(name, sizeof name, "module::function_%u", i % FUNCTIONS);
        snprintf(file, sizeof file, "/src/project/file_%u.cc", i % FUNCTIONS % FILES);
        sites[i] = raw_put_site(builder, "/opt/program", i * 4, name, file, i / 3 + 1);
    }
    for (uint32_t i = 0; i < cells; i++)
        raw_put_cell(builder, buckets[rng_below(&rng, OBJECTS)],
                     sites[rng_below(&rng, SITES)], RAW_EXACT, 1 + rng_below(&rng, 1000),
                     rng_below(&rng, 100000), 0, 0);
}

static int show(const struct profile *profile, const char *name)
{
    struct view_query query = {.view = name, .pid = -1, .top = 20};
    struct view view;
    struct strata_error error;
    struct times start = now();
    if (view_make(profile, &query, &view, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    print_since(name, start);
    view_release(&view);
    return 0;
}

static int read_back(const char *path)
{
    static const char *const views[] = {"totals", "objects", "functions", "lines", "sizes"};
    struct profile *profile;
    struct strata_error error;
    struct times start = now();
    int bad = profile_open(path, &profile, &error);
    if (bad) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    print_since("open", start);
    for (size_t i = 0; i < sizeof views / sizeof *views && !bad; i++)
        bad = show(profile, views[i]);
    profile_close(profile);
    return bad;
}

int main(int argc, char **argv)
{
    char raw[64], path[64];
    const char *raws[] = {raw};
    const struct profile_provenance provenance = {.program = "bench", .seconds = -1};
    struct raw_builder builder;
    struct profile_summary summary;
    struct strata_error error = {0};
    unsigned long cells = argc > 1 ? strtoul(argv[1], NULL, 10) : 300000;
    snprintf(raw, sizeof raw, "/tmp/strata-bench-%ld.raw", (long)getpid());
    snprintf(path, sizeof path, "/tmp/strata-bench-%ld.strata", (long)getpid());
    build(&builder, (uint32_t)cells);
    raw_save(&builder, raw);
    raw_discard(&builder);
    struct times start = now();
    int bad = profile_write(path, &provenance, raws, 1, &summary, &error);
    if (bad) {
        fprintf(stderr, "%s\n", error.text);
    } else {
        printf("%zu cells, %.1f MB\n", summary.cells, (double)summary.bytes / 1e6);
        print_since("write", start);
    }
    bad = bad || read_back(path);
    unlink(raw);
    unlink(path);
    return bad;
}
