/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reports of a probe that become files: the C header, given to the compilers that are
 * there, and the plot, read back as XML and as pixels. */
#include "core/file.h"
#include "report/probe_report.h"
#include "test_report_fixture.h"

#include <cairo.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "test_tree.h"

/* A temporary folder is the state of every test. */
static int make_folder(void **state)
{
    char *folder = strdup("/tmp/strata-report-XXXXXX");
    *state = folder && mkdtemp(folder) ? folder : NULL;
    return *state ? 0 : -1;
}

static int remove_folder(void **state)
{
    int status = tree_remove(*state);
    free(*state);
    return status;
}

static const char *in_folder(void **state, const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", (const char *)*state, name);
    return path;
}

static char *contents(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    struct strata_error error = {0};
    assert_int_equal(read_file(path, 0, &text, &size, &error), STRATA_OK);
    return text;
}

/* Runs a command; 127 if there is none. */
__attribute__((format(printf, 1, 2))) static int shell(const char *format, ...)
{
    char command[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Names that would break out of a comment, a literal or an attribute. */
static const char *const names[] = {
    "AMD EPYC 9R14", "", "*/ \"\\ ?\?/ <b>&' \xff\033[31m\n", "/* // %s %n", "µ – 漢"};

static const char user[] =
    "#include \"measured.h\"\n"
    "#include \"measured.h\"\n" /* twice does no harm */
    "#if STRATA_L1D_EFFECTIVE != 32768 || STRATA_L1D_WAYS != 8 || STRATA_L1D_LINE != 64\n"
    "#error L1\n"
    "#endif\n"
    "#if STRATA_L2_EFFECTIVE_LOW != 786432 || STRATA_L2_EFFECTIVE_HIGH != 917504\n"
    "#error L2\n"
    "#endif\n"
    "#if defined(STRATA_L2_WAYS) || defined(STRATA_L3_SIZE) || defined(STRATA_L3_LINE)\n"
    "#error not known, yet defined\n"
    "#endif\n"
    "#if STRATA_L1DTLB_REACH != 294912 || STRATA_L1DTLB_2M_ENTRIES != 72\n"
    "#error TLB\n"
    "#endif\n"
    "#if STRATA_MEMORY_LATENCY_CYCLES != 390 || STRATA_CACHE_LEVELS != 3\n"
    "#error memory\n"
    "#endif\n"
    "static const char name[] = STRATA_MACHINE_NAME;\n"
    "double f(void);\n"
    "double f(void) { return STRATA_MEMORY_LATENCY_NS + STRATA_CYCLE_NS + name[0]; }\n";

static void header_compiles(void **state)
{
    static const char *const compilers[] = {
        "gcc -std=c89 -pedantic -x c",     "gcc -std=c17 -x c",
        "g++ -std=c++98 -pedantic -x c++", "clang -std=c17 -pedantic -x c",
        "clang++ -std=c++17 -x c++",
    };
    struct strata_probed probed = fixture_probed();
    struct strata_error error = {0};
    char path[256];
    size_t compiled = 0;
    assert_int_equal(
        write_file(in_folder(state, "user.c", path), user, strlen(user), &error), 0);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        snprintf(probed.name, sizeof probed.name, "%s", names[n]);
        in_folder(state, "measured.h", path);
        assert_int_equal(probe_header(&probed, path, &error), STRATA_OK);
        for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
            if (shell("command -v %.*s >/dev/null", (int)strcspn(compilers[i], " "),
                      compilers[i]))
                continue; /* not installed */
            int bad = shell("cd %s && %s -Wall -Wextra -Werror "
                            "-fsyntax-only user.c",
                            (const char *)*state, compilers[i]);
            if (bad)
                fail_msg("%s refuses the header of \"%s\"", compilers[i], names[n]);
            compiled++;
        }
    }
    dataset_release(probed.data);
    if (!compiled)
        skip();
}

static void header_says_why_not(void **state)
{
    struct strata_probed probed = fixture_probed(), empty = {.cpu = -1};
    struct strata_error error = {0};
    char path[256];
    in_folder(state, "measured.h", path);
    assert_int_equal(probe_header(&probed, path, &error), STRATA_OK);
    char *text = contents(path);
    assert_non_null(
        strstr(text, "/* STRATA_L3_LINE is not known: prefetching hides it */"));
    assert_non_null(strstr(text, "measured by strata 0.1.0.\n * Source timing"));
    free(text);
    assert_int_equal(probe_header(&empty, path, &error), STRATA_OK);
    text = contents(path);
    assert_non_null(strstr(text, "#define STRATA_CACHE_LEVELS 0\n"));
    free(text);
    dataset_release(probed.data);
}

/* Words of the picture can be searched and selected; what they say is in the table. */
static void svg_text_is_text(void **state)
{
    static const char *const wanted[] = {
        ">AMD EPYC 9R14</text>",
        ">host test, 2026-11-18, strata 0.1.0: timing on cpu 1",
        ">768K, 14.3 cycles</text>",
        ">L2: 3072</text>",
        ">footprint, bytes</text>",
        ">latency, cycles</text>",
        ">footprint, pages</text>",
        ">Lines a page: ",
        ">Packed, ",
        ">Density: "};
    struct strata_probed probed = fixture_probed();
    struct strata_error error = {0};
    char path[256];
    strcpy(probed.data->host, "test");
    strcpy(probed.data->date, "2026-11-18");
    assert_int_equal(probe_plot(&probed, in_folder(state, "p.svg", path), &error), 0);
    char *text = contents(path);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(text, wanted[i]))
            fail_msg("no %s", wanted[i]);
    assert_null(strstr(text, "<use"));
    free(text);
    dataset_release(probed.data);
}

static void svg_is_well_formed(void **state)
{
    struct strata_probed probed = fixture_probed();
    struct strata_error error = {0};
    char path[256];
    in_folder(state, "p.svg", path);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        snprintf(probed.name, sizeof probed.name, "%s", names[n]);
        assert_int_equal(probe_plot(&probed, path, &error), STRATA_OK);
        char *text = contents(path);
        assert_non_null(strstr(text, "<svg"));
        assert_non_null(strstr(text, "</svg>"));
        assert_non_null(strstr(text, "4 levels found. L1: 32K, 4 cycles."));
        free(text);
        if (shell("command -v xmllint >/dev/null"))
            continue;
        assert_int_equal(shell("xmllint --noout %s", path), 0);
    }
    dataset_release(probed.data);
}

/* How many pixels of an image differ from white, in a part of it given in shares. */
static size_t inked(cairo_surface_t *image, double left, double top, double right,
                    double bottom)
{
    int width = cairo_image_surface_get_width(image);
    int height = cairo_image_surface_get_height(image);
    int stride = cairo_image_surface_get_stride(image);
    const unsigned char *pixels = cairo_image_surface_get_data(image);
    size_t n = 0;
    for (int y = (int)(top * height); y < (int)(bottom * height); y++)
        for (int x = (int)(left * width); x < (int)(right * width); x++) {
            uint32_t pixel;
            memcpy(&pixel, pixels + (size_t)y * (size_t)stride + 4 * (size_t)x, 4);
            n += (pixel & 0xffffff) != 0xffffff;
        }
    return n;
}

static cairo_surface_t *drawn(const struct strata_probed *probed, const char *path)
{
    struct strata_error error = {0};
    assert_int_equal(probe_plot(probed, path, &error), STRATA_OK);
    cairo_surface_t *image = cairo_image_surface_create_from_png(path);
    assert_int_equal(cairo_surface_status(image), CAIRO_STATUS_SUCCESS);
    return image;
}

static void png_shows_all_panels(void **state)
{
    struct strata_probed probed = fixture_probed();
    char path[256];
    cairo_surface_t *image = drawn(&probed, in_folder(state, "p.png", path));
    assert_int_equal(cairo_image_surface_get_width(image), 1920);
    assert_true(inked(image, 0, 0, 0.5, 0.08) > 1000);       /* the title */
    assert_true(inked(image, 0.1, 0.15, 0.8, 0.5) > 1000);   /* the curve */
    assert_true(inked(image, 0.82, 0.15, 0.94, 0.5) > 1000); /* its density */
    assert_true(inked(image, 0.1, 0.68, 0.45, 0.9) > 1000);  /* TLBs of base pages */
    assert_true(inked(image, 0.55, 0.68, 0.94, 0.9) > 1000); /* and of huge ones */
    assert_int_equal(inked(image, 0, 0.99, 1, 1), 0);        /* the lower margin */
    int height = cairo_image_surface_get_height(image);
    cairo_surface_destroy(image);
    /* without TLBs it is lower */
    probed.data->nseries = 1;
    image = drawn(&probed, path);
    assert_true(cairo_image_surface_get_height(image) < height);
    cairo_surface_destroy(image);
    probed.data->nseries = 5;
    dataset_release(probed.data);
}

static void plots_survive_odd_values(void **state)
{
    struct strata_probed empty = {.cpu = -1}, odd = fixture_probed();
    char path[256];
    in_folder(state, "p.png", path);
    cairo_surface_destroy(drawn(&empty, path));
    struct series *cache = odd.data->series[0];
    odd.ncaches = odd.ntlbs = 1000;
    odd.cycle_ns = NAN;
    odd.caches[0].effective = fixture_known(1e300, -1, INFINITY, 1);
    odd.tlbs[0].entries = fixture_known(-1, 0, 0, 1);
    cache->density[3].height = NAN;
    cache->density[4].end = -1;
    cache->steps[0].height = NAN;
    cache->steps[1].end = INFINITY;
    cache->points[2].y[0] = NAN;
    cache->points[3].y[0] = -1;
    cache->points[4].y[0] = INFINITY;
    cairo_surface_destroy(drawn(&odd, path));
    while (cache->npoints > 1) /* one point has no extent */
        free(cache->points[--cache->npoints].y);
    cairo_surface_destroy(drawn(&odd, path));
    dataset_release(odd.data);
}

static void bad_places_are_refused(void **state)
{
    struct strata_probed probed = fixture_probed();
    struct strata_error error = {0};
    char path[256];
    assert_int_equal(probe_plot(&probed, "p.gif", &error), STRATA_BAD_INPUT);
    assert_non_null(strstr(error.text, ".svg or .png"));
    static const char *const missing[] = {"no/p.svg", "no/p.png", "no/p.h"};
    for (size_t i = 0; i < 3; i++) {
        in_folder(state, missing[i], path);
        assert_int_equal(i < 2 ? probe_plot(&probed, path, &error)
                               : probe_header(&probed, path, &error),
                         STRATA_FAILED);
        assert_non_null(strstr(error.text, path));
    }
    dataset_release(probed.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(header_compiles, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(header_says_why_not, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(svg_text_is_text, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(svg_is_well_formed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(png_shows_all_panels, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(plots_survive_odd_values, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(bad_places_are_refused, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
