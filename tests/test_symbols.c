/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The variables of ELF files: known ones of small programs that are compiled here, all of
 * them against `nm`, and files that are no programs or are broken. */
#include "attrib/candidates.h"
#include "attrib/debug_file.h"
#include "attrib/symbols.h"
#include "core/file.h"
#include "core/rng.h"

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "test_tree.h"

static int make_folder(void **state)
{
    char *folder = strdup("/tmp/strata-symbols-XXXXXX");
    *state = folder && mkdtemp(folder) ? folder : NULL;
    return *state ? 0 : -1;
}

static int remove_folder(void **state)
{
    int status = tree_remove(*state);
    free(*state);
    return status;
}

/* Runs a command with the folder as $0; its exit status. */
__attribute__((format(printf, 2, 3))) static int shell(void **state, const char *format,
                                                       ...)
{
    char command[1024], line[1400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    snprintf(line, sizeof line, "D=%s; %s", (const char *)*state, command);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void needs(void **state, const char *tool)
{
    if (shell(state, "command -v %s >/dev/null 2>&1", tool) == 0)
        return;
    print_message("skip: %s is not installed\n", tool);
    skip();
}

static const char *in_folder(void **state, const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", (const char *)*state, name);
    return path;
}

/* What holds for every file: in order, no overlaps, no empty ones. */
static void assert_sound(const struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->n; i++) {
        const struct variable *v = &symbols->variables[i];
        assert_true(v->size > 0 && v->address > 0);
        assert_true(v->name && v->name[0]);
        if (i)
            assert_true(v[-1].address + v[-1].size <= v->address);
    }
}

static struct symbols read_it(void **state, const char *name)
{
    char path[256];
    struct symbols symbols;
    struct strata_error error = {0};
    assert_int_equal(symbols_read(in_folder(state, name, path), &symbols, &error),
                     STRATA_OK);
    assert_sound(&symbols);
    return symbols;
}

static const struct variable *find(const struct symbols *symbols, const char *name)
{
    for (size_t i = 0; i < symbols->n; i++)
        if (strcmp(symbols->variables[i].name, name) == 0)
            return &symbols->variables[i];
    return NULL;
}

struct expected {
    const char *name;
    uint64_t size;
};

static void assert_has(const struct symbols *symbols, const struct expected *expected,
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct variable *v = find(symbols, expected[i].name);
        if (!v)
            print_message("missing: %s\n", expected[i].name);
        assert_non_null(v);
        assert_int_equal(v->size, expected[i].size);
    }
}

/* Every variable that nm knows is covered, byte by byte, from its address on. Returns how
 * many there were. */
static size_t assert_covers_nm(void **state, const char *name, const char *flags)
{
    char path[256], line[4096], type;
    unsigned long long address, size;
    size_t n = 0;
    struct symbols symbols = read_it(state, name);
    assert_int_equal(
        shell(state, "nm %s -S $D/%s | grep -v ' per_thread' >$D/nm", flags, name), 0);
    FILE *file = fopen(in_folder(state, "nm", path), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%llx %llx %c", &address, &size, &type) != 3 ||
            !strchr("bBdDrRuVv", type))
            continue;
        uint64_t at = address;
        for (size_t i = 0; i < symbols.n; i++)
            if (symbols.variables[i].address <= at &&
                symbols.variables[i].address + symbols.variables[i].size > at)
                at = symbols.variables[i].address + symbols.variables[i].size;
        if (at < address + size)
            print_message("not covered: %s", line);
        assert_true(at >= address + size);
        n++;
    }
    fclose(file);
    symbols_release(&symbols);
    return n;
}

/* C */

static const struct expected c_variables[] = {
    {"numbers", 400},      {"table", 64},          {"hidden", 20},
    {"flexible", 16},      {"text", 12},           {"first::cache", 36},
    {"second::cache", 44}, {"second::within", 52}, {"inlined::hits", 28},
    {"unused", 132},
};
enum { C_VARIABLES = sizeof c_variables / sizeof c_variables[0] };

static const char *const c_flags[] = {"-O2 -g -pie -fPIE", "-O2 -g -no-pie -fno-pie",
                                      "-O0 -g -gdwarf-4", "-O2 -g -fdata-sections -gz",
                                      "-O1 -g -shared -fPIC -Wl,-z,now"};

static void test_c(void **state)
{
    for (size_t i = 0; i < sizeof c_flags / sizeof c_flags[0]; i++) {
        assert_int_equal(
            shell(state, "gcc %s tests/programs/variables.c -o $D/c", c_flags[i]), 0);
        struct symbols symbols = read_it(state, "c");
        assert_has(&symbols, c_variables, C_VARIABLES);
        assert_null(find(&symbols, "same")); /* debug information knows numbers only */
        assert_null(find(&symbols, "per_thread"));
        symbols_release(&symbols);
        assert_true(assert_covers_nm(state, "c", "") > C_VARIABLES);
    }
}

/* What the linker removes is not there. */
static void test_removed(void **state)
{
    assert_int_equal(shell(state, "gcc -O2 -g -fdata-sections -Wl,--gc-sections "
                                  "tests/programs/variables.c -o $D/c"),
                     0);
    struct symbols symbols = read_it(state, "c");
    assert_has(&symbols, c_variables, C_VARIABLES - 1);
    assert_null(find(&symbols, "unused"));
    symbols_release(&symbols);
}

/* clang numbers addresses, and has no name for a function that is inlined everywhere. */
static void test_clang(void **state)
{
    needs(state, "clang");
    assert_int_equal(shell(state, "clang -O2 -g tests/programs/variables.c -o $D/c"), 0);
    struct symbols symbols = read_it(state, "c");
    assert_has(&symbols, c_variables, 5);
    assert_true(find(&symbols, "inlined::hits") || find(&symbols, "inlined.hits"));
    symbols_release(&symbols);
}

/* Without debug information: the names of the symbols, at the same places. */
static void test_plain_symbols(void **state)
{
    assert_int_equal(shell(state, "gcc -O2 -g tests/programs/variables.c -o $D/c && "
                                  "strip -g $D/c -o $D/plain"),
                     0);
    struct symbols full = read_it(state, "c"), plain = read_it(state, "plain");
    assert_true(full.n == plain.n && full.n > C_VARIABLES);
    for (size_t i = 0; i < full.n; i++) {
        assert_int_equal(full.variables[i].address, plain.variables[i].address);
        assert_int_equal(full.variables[i].size, plain.variables[i].size);
    }
    assert_non_null(find(&plain, "same")); /* shorter than numbers */
    assert_null(find(&plain, "numbers"));
    assert_null(find(&plain, "first::cache"));
    symbols_release(&full);
    symbols_release(&plain);
}

static void test_stripped(void **state)
{
    assert_int_equal(shell(state, "gcc -O2 -s tests/programs/variables.c -o $D/c && "
                                  "gcc -O2 -s -shared -fPIC tests/programs/variables.c "
                                  "-o $D/c.so"),
                     0);
    struct symbols program = read_it(state, "c"), library = read_it(state, "c.so");
    assert_null(find(&program, "numbers"));
    assert_non_null(find(&library, "same"));
    assert_non_null(find(&library, "table"));
    assert_null(find(&library, "hidden")); /* not for others, so not in .dynsym */
    symbols_release(&program);
    symbols_release(&library);
    assert_true(assert_covers_nm(state, "c.so", "-D") >= 5);
}

/* Debug files */

static void test_debug_link(void **state)
{
    static const char *const flags[] = {"-Wl,--build-id", "-Wl,--build-id=none"};
    static const char *const folders[] = {"", ".debug/"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(
            shell(state,
                  "rm -rf $D/* $D/.debug; mkdir $D/.debug; cd $D && gcc %s -O2 -g "
                  "$OLDPWD/tests/programs/variables.c -o c && "
                  "objcopy --only-keep-debug c %sc.debug && strip c && "
                  "objcopy --add-gnu-debuglink=%sc.debug c",
                  flags[i / 2], folders[i % 2], folders[i % 2]),
            0);
        struct symbols symbols = read_it(state, "c");
        assert_has(&symbols, c_variables, C_VARIABLES);
        symbols_release(&symbols);
        /* that of another program is not taken */
        assert_int_equal(shell(state,
                               "cd $D && gcc %s -O1 -g $OLDPWD/tests/programs/variables.c "
                               "-o d && objcopy --only-keep-debug d %sc.debug",
                               flags[i / 2], folders[i % 2]),
                         0);
        symbols = read_it(state, "c");
        assert_null(find(&symbols, "first::cache"));
        symbols_release(&symbols);
    }
}

static void test_build_id(void **state)
{
    char path[256], folder[256];
    assert_int_equal(
        shell(state,
              "cd $D && gcc -Wl,--build-id=0x0123456789abcdef -O2 -g "
              "$OLDPWD/tests/programs/variables.c -o c && mkdir -p debug/.build-id/01 "
              "&& objcopy --only-keep-debug c debug/.build-id/01/23456789abcdef.debug"),
        0);
    struct elf_file file = elf_file_open(in_folder(state, "c", path));
    assert_non_null(file.elf);
    in_folder(state, "debug", folder);
    struct elf_file debug = debug_file_open(path, file.elf, folder);
    assert_non_null(debug.elf);
    elf_file_close(&debug);
    assert_int_equal(shell(state,
                           "cp $D/debug/.build-id/01/* $D/good; gcc -Wl,--build-id -g "
                           "tests/programs/variables.c -o "
                           "$D/debug/.build-id/01/23456789abcdef.debug"),
                     0);
    debug = debug_file_open(path, file.elf, folder);
    assert_null(debug.elf);
    elf_file_close(&file);
}

/* C++ */

static void test_cplusplus(void **state)
{
    static const struct expected variables[] = {
        {"geo::Point::made", 4},
        {"geo::Point::grid", 128},
        {"geo::Point::next::serial", 12},
        {"geo::Point::moved::moves", 24},
        {"geo::(anonymous namespace)::hidden", 20},
        {"Pool<int>::slots", 32},
        {"Pool<char>::slots", 8},
        {"shape", 8},
        {"vtable for Shape", 40},
    };
    enum { N = sizeof variables / sizeof variables[0] };
    needs(state, "g++");
    assert_int_equal(shell(state, "g++ -O1 -g tests/programs/variables.cc -o $D/cc"), 0);
    struct symbols symbols = read_it(state, "cc");
    assert_has(&symbols, variables, N);
    symbols_release(&symbols);
    assert_true(assert_covers_nm(state, "cc", "") > N);
    assert_int_equal(shell(state, "strip -g $D/cc"), 0);
    symbols = read_it(state, "cc");
    assert_non_null(find(&symbols, "geo::Point::grid"));
    assert_non_null(find(&symbols, "geo::Point::moved()::moves"));
    symbols_release(&symbols);
}

/* Fortran */

static void test_fortran(void **state)
{
    static const struct expected variables[] = {
        {"mesh::points", 400}, {"mesh::count", 4}, {"step::local", 32},
        {"/blk/a", 40},        {"/blk/b", 4},      {"/blk/n", 4},
        {"/blk/rest", 200},    {"//c", 16},        {"//d", 4},
    };
    needs(state, "gfortran");
    assert_int_equal(shell(state, "gfortran -J $D -g tests/programs/variables.f90 -o $D/f"),
                     0);
    struct symbols symbols = read_it(state, "f");
    assert_has(&symbols, variables, sizeof variables / sizeof variables[0]);
    assert_null(find(&symbols, "blk_"));
    symbols_release(&symbols);
    assert_true(assert_covers_nm(state, "f", "") > 5);
}

/* Files that are no programs, and broken ones */

static void refused(const char *path, const char *why)
{
    struct symbols symbols;
    struct strata_error error = {0};
    assert_int_equal(symbols_read(path, &symbols, &error), STRATA_BAD_INPUT);
    assert_true(symbols.n == 0 && !symbols.variables);
    if (!strstr(error.text, why))
        print_message("%s\n", error.text);
    assert_non_null(strstr(error.text, why));
}

static void test_refused(void **state)
{
    char path[256];
    refused("/no/such/file", "No such file");
    refused(*state, "not an ELF file");
    refused("tests/programs/variables.c", "not an ELF file");
    refused("/dev/null", "not an ELF file");
    assert_int_equal(shell(state, "gcc -g -c tests/programs/variables.c -o $D/c.o"), 0);
    refused(in_folder(state, "c.o", path), "neither a program nor a shared library");
}

static void put(const char *path, const char *bytes, size_t size)
{
    struct strata_error error = {0};
    assert_int_equal(write_file(path, bytes, size, &error), STRATA_OK);
}

/* Any answer is right, as long as it is sound. */
static void read_broken(const char *path)
{
    struct symbols symbols;
    struct strata_error error = {0};
    if (symbols_read(path, &symbols, &error) == STRATA_OK)
        assert_sound(&symbols);
    else
        assert_true(error.text[0] && !symbols.variables);
    symbols_release(&symbols);
}

static void test_broken(void **state)
{
    enum { CUTS = 40, FLIPS = 300 };
    char path[256], *bytes;
    size_t size;
    struct strata_error error = {0};
    struct rng rng = {.state = 3};
    assert_int_equal(shell(state, "gcc -O2 -g tests/programs/variables.c -o $D/c"), 0);
    assert_int_equal(read_file(in_folder(state, "c", path), 0, &bytes, &size, &error), 0);
    in_folder(state, "broken", path);
    for (size_t i = 0; i < CUTS; i++) {
        put(path, bytes, size * i / CUTS);
        read_broken(path);
    }
    for (int i = 0; i < FLIPS; i++) {
        char *copy = malloc(size);
        assert_non_null(copy);
        memcpy(copy, bytes, size);
        /* a few bytes anywhere, or in the section headers at the end */
        for (int k = 0; k < 8; k++)
            copy[i % 2 ? size - 1 - rng_below(&rng, 2500) : rng_below(&rng, size)] =
                (char)rng_next(&rng);
        put(path, copy, size);
        read_broken(path);
        free(copy);
    }
    free(bytes);
}

/* Overlaps */

static void resolves(const struct candidate *items, size_t n, const char *wanted)
{
    struct candidates candidates = {0};
    struct symbols symbols;
    struct strata_error error = {0};
    char *text = NULL;
    size_t size;
    for (size_t i = 0; i < n; i++)
        candidate_add(&candidates, items[i]);
    common_block_add(&candidates, (struct common_block){"blk_", "/blk/"});
    assert_int_equal(candidates_resolve(&candidates, &symbols, &error), STRATA_OK);
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    symbols_write_map(&symbols, file);
    fclose(file);
    assert_string_equal(text, wanted);
    free(text);
    symbols_release(&symbols);
}

#define RESOLVES(wanted, ...)                                                              \
    do {                                                                                   \
        const struct candidate items[] = {__VA_ARGS__};                                    \
        resolves(items, sizeof items / sizeof items[0], wanted);                           \
    } while (0)

static void test_overlaps(void **state)
{
    (void)state;
    /* in any order; adjacent ones stay two */
    RESOLVES("10 10 a\n20 10 b\n", {0x20, 16, "b", RANK_LOCAL},
             {0x10, 16, "a", RANK_GLOBAL});
    /* the best of an address: by rank, then length, then alphabet; the largest size */
    RESOLVES("10 20 strong\n", {0x10, 16, "weak", RANK_WEAK},
             {0x10, 8, "strong", RANK_GLOBAL}, {0x10, 32, "local", RANK_LOCAL});
    RESOLVES("10 10 f::x\n", {0x10, 16, "x.0", RANK_LOCAL}, {0x10, 0, "f::x", RANK_DEBUG});
    RESOLVES("10 10 ab\n", {0x10, 16, "abc", RANK_WEAK}, {0x10, 16, "ac", RANK_WEAK},
             {0x10, 16, "ab", RANK_WEAK});
    /* within, over the end, and nested twice */
    RESOLVES("10 8 out\n18 4 in\n1c 4 out\n", {0x10, 16, "out", RANK_GLOBAL},
             {0x18, 4, "in", RANK_LOCAL});
    RESOLVES("10 8 a\n18 10 b\n", {0x10, 16, "a", RANK_GLOBAL},
             {0x18, 16, "b", RANK_LOCAL});
    RESOLVES("10 4 a\n14 4 b\n18 4 c\n1c 4 b\n20 10 a\n", {0x10, 32, "a", RANK_GLOBAL},
             {0x14, 12, "b", RANK_LOCAL}, {0x18, 4, "c", RANK_LOCAL});
    /* the same end for all */
    RESOLVES("10 8 a\n18 8 b\n", {0x10, 16, "a", RANK_GLOBAL}, {0x18, 8, "b", RANK_LOCAL});
    /* a common block: what its members leave */
    RESOLVES("10 8 /blk/x\n18 4 /blk/y\n1c 14 /blk/\n", {0x10, 32, "blk_", RANK_GLOBAL},
             {0x10, 8, "/blk/x", RANK_MEMBER}, {0x18, 4, "/blk/y", RANK_MEMBER});
    /* without a size there is no variable */
    RESOLVES("", {0x10, 0, "a", RANK_DEBUG});
}

static void test_escapes(void **state)
{
    (void)state;
    RESOLVES("ff 1 a\\x0ab\\x5c\\x1b[0m \xc3\xa9\n",
             {0xff, 1, "a\nb\\\033[0m \xc3\xa9", RANK_GLOBAL});
}

/* More names than one block of text holds, in an order that is not theirs. */
static void test_many(void **state)
{
    (void)state;
    enum { N = 20000 };
    struct candidates candidates = {0};
    struct symbols symbols;
    struct strata_error error = {0};
    for (uint64_t i = 0; i < N; i++) {
        char name[64];
        uint64_t k = i * 7919 % N; /* a permutation: 7919 is prime */
        snprintf(name, sizeof name, "variable_with_a_long_name_%llu",
                 (unsigned long long)k);
        candidate_add(&candidates, (struct candidate){8 + 8 * k, 8, name, RANK_LOCAL});
    }
    assert_int_equal(candidates_resolve(&candidates, &symbols, &error), STRATA_OK);
    assert_int_equal(symbols.n, N);
    assert_sound(&symbols);
    assert_string_equal(symbols.variables[N - 1].name, "variable_with_a_long_name_19999");
    symbols_release(&symbols);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_c),
        IN_FOLDER(test_removed),
        IN_FOLDER(test_clang),
        IN_FOLDER(test_plain_symbols),
        IN_FOLDER(test_stripped),
        IN_FOLDER(test_debug_link),
        IN_FOLDER(test_build_id),
        IN_FOLDER(test_cplusplus),
        IN_FOLDER(test_fortran),
        IN_FOLDER(test_refused),
        IN_FOLDER(test_broken),
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
