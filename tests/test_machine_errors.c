/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is wrong with a machine file: every kind of fault gets a message with the file
 * and line, the status for bad input, and leaves the caller's machine as it was. */
#include "core/utf8.h"
#include "machine/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <strata/error.h>
#include <strata/machine.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const base[] = {
    /*  1 */ "[machine]",
    /*  2 */ "name = Test machine",
    /*  3 */ "page = 4K",
    /*  4 */ "huge = 2M",
    /*  5 */ "frequency = 2400M",
    /*  6 */ "[cache L1d]",
    /*  7 */ "level = 1",
    /*  8 */ "kind = data",
    /*  9 */ "size = 32K",
    /* 10 */ "line = 64",
    /* 11 */ "ways = 8",
    /* 12 */ "latency = 4",
    /* 13 */ "[cache L2]",
    /* 14 */ "level = 2",
    /* 15 */ "kind = unified",
    /* 16 */ "size = 256K",
    /* 17 */ "line = 64",
    /* 18 */ "ways = 8",
    /* 19 */ "latency = 10",
    /* 20 */ "[tlb L1d]",
    /* 21 */ "level = 1",
    /* 22 */ "kind = data",
    /* 23 */ "entries = 64",
    /* 24 */ "ways = 4",
    /* 25 */ "[tlb L2]",
    /* 26 */ "level = 2",
    /* 27 */ "kind = unified",
    /* 28 */ "entries = 512",
    /* 29 */ "ways = 4",
    /* 30 */ "latency = 7",
    /* 31 */ "[walk]",
    /* 32 */ "latency = 30",
    /* 33 */ "[memory]",
    /* 34 */ "latency = 200",
    /* 35 */ "[prefetch L2]",
    /* 36 */ "kind = adjacent",
    /* 37 */ "[branch]",
    /* 38 */ "entries = 4096",
    /* 39 */ "[noise]",
    /* 40 */ "jitter = 0.02",
};

enum { LINES = sizeof base / sizeof *base, TEXT_SIZE = 16384 };

/* The base file with another text for one of its lines (0: unchanged). */
static void compose(char text[TEXT_SIZE], int line, const char *instead)
{
    size_t used = 0;
    for (int i = 0; i < LINES; i++) {
        used += (size_t)snprintf(text + used, TEXT_SIZE - used, "%s\n",
                                 i + 1 == line ? instead : base[i]);
        assert_true(used < TEXT_SIZE);
    }
}

/* Parses what must be refused, and returns its message. */
static const char *refused(const char *text, struct strata_error *error)
{
    struct strata_machine machine, before;
    memset(&machine, 0x5a, sizeof machine);
    memset(&before, 0x5a, sizeof before);
    *error = (struct strata_error){0, ""};
    int status = strata_machine_parse("x.machine", text, &machine, error);
    if (status != STRATA_BAD_INPUT)
        fail_msg("status %d, not 2, for\n%s", status, text);
    assert_int_equal(error->status, STRATA_BAD_INPUT);
    assert_memory_equal(&machine, &before, sizeof machine);
    /* one line of clean text: it goes to terminals and into JSON */
    char clean[sizeof error->text];
    assert_string_equal(utf8_clean(error->text, clean, sizeof clean), error->text);
    /* no error object is needed either */
    assert_int_equal(strata_machine_parse("x", text, &machine, NULL), STRATA_BAD_INPUT);
    return error->text;
}

static void expect_message(const char *message, int line, const char *fragment)
{
    char where[32];
    if (line)
        snprintf(where, sizeof where, "x.machine:%d: ", line);
    else
        snprintf(where, sizeof where, "x.machine: ");
    if (strncmp(message, where, strlen(where)) != 0 || !strstr(message, fragment))
        fail_msg("wanted \"%s...%s\", got \"%s\"", where, fragment, message);
}

struct fault {
    int line;            /* of the base, to be replaced */
    const char *instead; /* may hold several lines */
    int reported;        /* the line in the message, 0: none */
    const char *fragment;
};

static void expect_faults(const struct fault *faults, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[TEXT_SIZE];
        struct strata_error error;
        compose(text, faults[i].line, faults[i].instead);
        expect_message(refused(text, &error), faults[i].reported, faults[i].fragment);
    }
}

#define EXPECT_FAULTS(faults) expect_faults(faults, sizeof(faults) / sizeof *(faults))

static void test_base_is_right(void **state)
{
    (void)state;
    char text[TEXT_SIZE];
    struct strata_machine machine;
    struct strata_error error = {0, ""};
    compose(text, 0, NULL);
    assert_int_equal(strata_machine_parse("x.machine", text, &machine, &error), STRATA_OK);
    assert_string_equal(machine.name, "Test machine");
    assert_int_equal(machine.huge, 2 << 20);
    assert_int_equal(machine.frequency, 2400000000);
    assert_int_equal(machine.mapping, STRATA_MAP_RANDOM);
    assert_int_equal(machine.caches[0].index, STRATA_VIRTUAL);
    assert_int_equal(machine.caches[1].index, STRATA_PHYSICAL);
    assert_int_equal(machine.caches[1].types, STRATA_INT | STRATA_FLOAT);
    assert_int_equal(machine.tlbs[0].latency, 0);
    assert_int_equal(machine.tlbs[1].page, 4096);
    assert_int_equal(machine.prefetchers[0].level, 2);
    assert_int_equal(machine.prefetchers[0].degree, 1);
    assert_int_equal(machine.branch.history, 12);
    assert_true(machine.noise.jitter == 0.02);
}

static void test_unknown(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {8, "kind = data\ncolour = red", 9, "colour: no such key in [cache]"},
        {2, "name = x\nspeed = 3G", 3, "it may have name, page, huge, frequency, mapping"},
        {8, "Kind = data", 8, "Kind: no such key"},
        {31, "[walks]", 31, "[walks]: no such section"},
        {6, "[Cache L1d]", 6, "[Cache L1d]: no such section"},
        {6, "[]", 6, "no such section"},
        {8, "\x1b[31m = data", 8, " [31m: no such key"},
        {8, "kin\xff = data", 8, "kin?: no such key"},
        {8, "kind = \xff", 8, "kind = ?: write data"},
        {1, "page = 4K\n[machine]", 1, "stands before any section"},
    };
    EXPECT_FAULTS(faults);
}

static void test_missing(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {2, "", 1, "[machine] has no name; add a line such as `name = My Machine`"},
        {3, "", 1, "has no page"},
        {5, "", 1, "has no frequency"},
        {7, "", 6, "[cache L1d] has no level"},
        {8, "", 6, "has no kind"},
        {9, "", 6, "has no size"},
        {10, "", 6, "has no line"},
        {11, "", 6, "has no ways"},
        {12, "", 6, "has no latency"},
        {21, "", 20, "[tlb L1d] has no level"},
        {23, "", 20, "has no entries"},
        {30, "", 25, "[tlb L2] has no latency; beyond level 1"},
        {32, "", 31, "[walk] has no latency"},
        {34, "", 33, "[memory] has no latency"},
        {36, "", 35, "[prefetch L2] has no kind"},
        {31, "[memory]", 33, "already in line 31"},
    };
    EXPECT_FAULTS(faults);
}

/* Leaves lines out of the base. */
static const char *without(char text[TEXT_SIZE], int first, int last)
{
    text[0] = '\0';
    for (int i = 0; i < LINES; i++)
        if (i + 1 < first || i + 1 > last)
            strcat(strcat(text, base[i]), "\n");
    return text;
}

static void test_missing_sections(void **state)
{
    (void)state;
    struct strata_error error;
    char text[TEXT_SIZE];
    expect_message(refused(without(text, 1, 5), &error), 0, "no [machine] section");
    expect_message(refused(without(text, 6, 19), &error), 0, "no [cache NAME] section");
    expect_message(refused(without(text, 31, 32), &error), 0, "no [walk] section; it says");
    expect_message(refused(without(text, 33, 34), &error), 0, "no [memory] section");
    expect_message(refused(without(text, 1, LINES), &error), 0, "no [machine] section");
}

/* TLBs and the walk may both be missing: then translation costs nothing. */
static void test_no_tlbs(void **state)
{
    (void)state;
    struct strata_machine machine;
    struct strata_error error = {0, ""};
    char text[TEXT_SIZE];
    without(text, 20, 32);
    assert_int_equal(strata_machine_parse("x.machine", text, &machine, &error), STRATA_OK);
    assert_int_equal(machine.ntlbs, 0);
    assert_int_equal(machine.walk_latency, 0);
}

/* A machine without huge pages has no walk for them. */
static void test_walk_for_no_pages(void **state)
{
    (void)state;
    struct strata_machine machine;
    struct strata_error error = {0, ""};
    char text[TEXT_SIZE];
    compose(text, 32, "latency = 30\nhuge_latency = 20");
    assert_int_equal(strata_machine_parse("x.machine", text, &machine, &error), STRATA_OK);
    assert_int_equal(machine.walk_huge_latency, 20);
    machine.huge = 0;
    assert_int_equal(strata_machine_check(&machine, &error), STRATA_BAD_INPUT);
    assert_non_null(strstr(error.text, "huge_latency = 20: [machine] has no huge pages"));
}

static void test_wrong_units(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {9, "size = 32KB", 9, "size = 32KB: not a size; write bytes, as 64"},
        {9, "size = 32k", 9, "not a size"},
        {9, "size = -32K", 9, "not a size"},
        {9, "size = 0x8000", 9, "not a size"},
        {9, "size = 0.3K", 9, "not a size"},
        {9, "size = 99999999999T", 9, "not a size"},
        {9, "size = none", 9, "not a size"},
        {9, "size =", 9, "not a size"},
        {10, "line = 8G", 10, "not a size"},
        {5, "frequency = 2.4 GHz", 5, "not a frequency; write Hz, as 2400M or 2.4G"},
        {12, "latency = 4K", 12, "not a whole number"},
        {12, "latency = 4.5", 12, "not a whole number"},
        {12, "latency = 4 cycles", 12, "not a whole number"},
        {12, "latency = 1.1ns", 12, "not a whole number"},
        {12, "latency = 5000000000", 12, "not a whole number, or too large"},
        {11, "ways = all", 11, "not a whole number; write one, or `full`"},
        {40, "jitter = 2%", 40, "not a number; write one as 0.02"},
        {40, "jitter = 0,02", 40, "not a number"},
        {40, "jitter = nan", 40, "not a number"},
        {40, "jitter = -0.1", 40, "not a number"},
        {40, "jitter = 1e", 40, "not a number"},
        {8, "kind = both", 8, "write data, instruction or unified"},
        {12, "latency = 4\npolicy = mru", 13, "write lru, plru, fifo or random"},
        {12, "latency = 4\nindex = both", 13, "write virtual or physical"},
        {12, "latency = 4\ntypes = short", 13, "write int or float, or `int float`"},
        {12, "latency = 4\ntypes = int int", 13, "write int or float"},
        {12, "latency = 4\ntypes =", 13, "write int or float"},
        {12, "latency = 4\ninclusion = some", 13, "write none, inclusive or exclusive"},
        {4, "huge = 2M\nmapping = hashed", 5, "write random, contiguous or coloured"},
        {36, "kind = magic", 36,
         "write none, next-line, adjacent, stride, stream or streamer"},
    };
    EXPECT_FAULTS(faults);
}

static void test_impossible_values(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {3, "page = 256", 3, "page = 256: must be from 512 to 1G"},
        {3, "page = 5000", 3, "must be a power of two, as 4K"},
        {4, "huge = 3M", 4, "must be a power of two above the page of 4K"},
        {4, "huge = 4K", 4, "must be a power of two above the page of 4K"},
        {5, "frequency = 0", 5, "must be from 1 to 1000G"},
        {7, "level = 0", 7, "must be from 1 to 8"},
        {7, "level = 9", 7, "must be from 1 to 8"},
        {9, "size = 0", 9, "must be from 4 to 8G"},
        {9, "size = 1T", 9, "must be from 4 to 8G"},
        {10, "line = 0", 10, "must be from 4 to 4K"},
        {10, "line = 48", 10, "must be a power of two"},
        {10, "line = 8K", 10, "must be from 4 to 4K"},
        {11, "ways = 0", 11, "must be from 1 to"},
        {12, "latency = 0", 12, "must be from 1 to 1000000"},
        {12, "latency = 4\noccupied = 1", 13, "must be below 1: something has to be left"},
        {12, "latency = 4\noccupied = 1e400", 13, "must be from 0 to 1"},
        {23, "entries = 0", 23, "must be from 1 to 16777216"},
        {36, "kind = stream\ndegree = 65", 37, "must be from 1 to 64"},
        {38, "entries = 1000", 38, "must be a power of two"},
        {38, "history = 25", 38, "must be from 0 to 24"},
        {40, "jitter = 1.5", 40, "must be from 0 to 1"},
        {40, "spikes = 2", 40, "must be from 0 to 1"},
    };
    EXPECT_FAULTS(faults);
}

static void test_contradictions(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {11, "ways = 7", 11,
         "ways = 7: a 32K cache with 64-byte lines has 512 lines, not a multiple of 7"},
        {11, "ways = 1024", 11, "not a multiple of 1024"},
        {9, "size = 32800", 9, "not a multiple of its 64-byte line"},
        {24, "ways = 5", 24, "64 entries are not a multiple of 5"},
        {16, "size = 32K", 16, "must be above the 32K of L1d, unless with inclusion"},
        {16, "size = 16K", 16, "must be above the 32K of L1d"},
        {19, "latency = 4", 19, "must be above the 4 cycles of L1d"},
        {17, "line = 32", 17, "must not be below the 64 bytes of L1d"},
        {17, "line = 128\ninclusion = exclusive", 18, "takes lines that L1d gives up"},
        {12, "latency = 4\ninclusion = exclusive", 13, "there is no nearer level"},
        {14, "level = 3", 14, "there is no data or unified cache of level 2"},
        {14, "level = 1", 14, "another cache serves data accesses at this level"},
        {7, "level = 2", 7, "there is no data or unified cache of level 1"},
        {26, "level = 3", 26, "there is no data or unified tlb of level 2"},
        {26, "level = 1", 26, "another tlb serves data accesses at this level"},
        {24, "ways = 4\nlatency = 9", 31, "must not be below the 9 cycles of L1d"},
        {32, "latency = 6", 32, "a walk cannot cost less than a hit in [tlb L2], 7"},
        {31,
         "[tlb H]\nlevel = 1\nkind = data\npage = 2M\nentries = 8\nways = 8\n"
         "latency = 9\n[walk]\nhuge_latency = 8",
         39, "a walk cannot cost less than a hit in [tlb H], 9"},
        {36, "kind = adjacent\npages = 4", 37, "a streamer follows at least one page"},
        {36, "kind = streamer\npages = 0", 37, "a streamer follows at least one page"},
        {34, "latency = 10", 34, "must be above the 10 cycles of L2"},
        {24, "ways = 4\npage = 64K", 25, "must be the machine's page of 4K, or what"},
        {18, "ways = 128\npolicy = plru", 19, "can have 64 ways at most, not 128"},
        {29, "ways = 128\npolicy = plru", 30, "can have 64 ways at most, not 128"},
        {35, "[prefetch L3]", 35, "there is no [cache L3]"},
        {8, "kind = instruction", 14, "there is no data or unified cache of level 1"},
    };
    EXPECT_FAULTS(faults);
}

static void test_prefetcher_of_instructions(void **state)
{
    (void)state;
    char text[TEXT_SIZE];
    struct strata_error error;
    compose(text, 35,
            "[cache L1i]\nlevel = 1\nkind = instruction\nsize = 32K\nline = 64\nways = 8\n"
            "latency = 4\n[prefetch L1i]");
    expect_message(refused(text, &error), 42, "an instruction cache has no prefetcher");
}

static void test_duplicates(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {35, "[machine]\nname = second", 35, "[machine] is already in line 1"},
        {13, "[cache L1d]", 13, "[cache L1d] is already in line 6"},
        {25, "[tlb L1d]", 25, "[tlb L1d] is already in line 20"},
        {37, "[prefetch L2]", 37, "[prefetch L2] is already in line 35"},
        {39, "[branch]", 39, "[branch] is already in line 37"},
        {12, "latency = 4\nsize = 64K", 13, "size is already in line 9"},
    };
    EXPECT_FAULTS(faults);
}

static void test_section_names(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {6, "[cache]", 6, "a name of 1 to 15 characters is wanted, as [cache L2]"},
        {6, "[cache sixteen_letters_]", 6, "a name of 1 to 15 characters"},
        {6, "[cache L1 d]", 6, "a name such as L1d or L2-2M is wanted"},
        {6, "[cache L/1]", 6, "a name such as L1d"},
        {6, "[cache \xc3\xa4]", 6, "a name such as L1d"},
        {31, "[walk fast]", 31, "[walk] has no name; write [walk]"},
        {6, "[cache L1d", 6, "a section ends with ']'"},
        {6, "[", 6, "a section ends with ']'"},
    };
    EXPECT_FAULTS(faults);
}

static void test_machine_names(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {2, "name =", 2, "the machine needs a name"},
        {2, "name = C#4", 2, "a name has no '#' or ';' in it"},
        {2, "name = \x01", 2, "not printable UTF-8"},
        {2, "name = caf\xe9", 2, "not printable UTF-8"},
        {2, "name = \xc0\xaf", 2, "not printable UTF-8"},
        {2, "name = \xed\xa0\x80", 2, "not printable UTF-8"},
        {2, "name = \xc2\x85", 2, "not printable UTF-8"},
        {2, "name = 5678901234567890123456789012345678901234567890123456789012345678901", 2,
         "longer than the 63 bytes"},
    };
    EXPECT_FAULTS(faults);
}

/* One section more than there is room for. */
static void expect_too_many(const char *format, int most, const char *fragment)
{
    char text[TEXT_SIZE] = "[machine]\nname = x\n";
    struct strata_error error;
    for (int i = 0; i <= most; i++) {
        char section[32];
        snprintf(section, sizeof section, format, i);
        strcat(text, section);
    }
    expect_message(refused(text, &error), 3 + most, fragment);
}

static void test_too_many(void **state)
{
    (void)state;
    expect_too_many("[cache L%d]\n", STRATA_MAX_CACHES, "more than 8 [cache] sections");
    expect_too_many("[tlb L%d]\n", STRATA_MAX_TLBS, "more than 16 [tlb] sections");
    expect_too_many("[prefetch L%d]\n", STRATA_MAX_PREFETCHERS,
                    "more than 8 [prefetch] sections");
}

/* The first fault of a file is the one that is reported. */
static void test_first_fault(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {9, "size = x\nfoo", 9, "not a size"},
        {9, "foo\nsize = x", 9, "neither a [section] nor `key = value`"},
        {9, "foo\n[bad", 9, "neither a [section]"},
        {9, "[bad\nfoo", 9, "a section ends with"},
    };
    EXPECT_FAULTS(faults);
}

static void test_long_lines(void **state)
{
    (void)state;
    char text[TEXT_SIZE], line[4096];
    struct strata_error error;
    struct strata_machine machine;
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\0';
    compose(text, 9, line);
    expect_message(refused(text, &error), 9, "4095 characters without the comment");
    memcpy(line, "[cache ", 7);
    compose(text, 6, line);
    expect_message(refused(text, &error), 6, "4095 characters");
    memcpy(line, "size = ", 7);
    compose(text, 9, line);
    expect_message(refused(text, &error), 9, "4095 characters");
    /* comments may be as long as they like */
    memcpy(line, "# ", 2);
    compose(text, 40, line);
    assert_int_equal(strata_machine_parse("x.machine", text, &machine, &error), STRATA_OK);
}

/* Cut off anywhere, a file is refused, or what is left is a whole machine: behind the
 * last section that is needed, some cuts cannot be told from a shorter file. */
static void test_truncated(void **state)
{
    (void)state;
    char text[TEXT_SIZE], cut[TEXT_SIZE];
    compose(text, 0, NULL);
    size_t needed = (size_t)(strstr(text, "latency = 200") - text);
    for (size_t size = 0; size < strlen(text); size++) {
        struct strata_machine machine;
        struct strata_error error = {0, ""};
        memcpy(cut, text, size);
        cut[size] = '\0';
        int status = strata_machine_parse("x.machine", cut, &machine, &error);
        if (status)
            assert_int_equal(strncmp(refused(cut, &error), "x.machine:", 10), 0);
        else if (size <= needed)
            fail_msg("taken for whole after %zu bytes", size);
        else
            assert_int_equal(strata_machine_check(&machine, &error), STRATA_OK);
    }
}

/* Files, not texts. */

struct folder {
    char name[32], path[64];
};

static int make_folder(void **state)
{
    static struct folder folder;
    snprintf(folder.name, sizeof folder.name, "/tmp/strata-errors-XXXXXX");
    assert_non_null(mkdtemp(folder.name));
    snprintf(folder.path, sizeof folder.path, "%s/x.machine", folder.name);
    *state = &folder;
    return 0;
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    unlink(folder->path);
    return rmdir(folder->name);
}

static void save(const struct folder *folder, const char *bytes, size_t size)
{
    FILE *file = fopen(folder->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void expect_file(const char *path, int wanted, const char *fragment)
{
    struct strata_machine machine, before;
    struct strata_error error = {0, ""};
    memset(&machine, 0x5a, sizeof machine);
    memset(&before, 0x5a, sizeof before);
    int status = strata_machine_read(path, &machine, &error);
    if (status != wanted || strncmp(error.text, path, strlen(path)) != 0 ||
        !strstr(error.text, fragment))
        fail_msg("wanted %d, \"%s...%s\"; got %d, \"%s\"", wanted, path, fragment, status,
                 error.text);
    assert_int_equal(error.status, wanted);
    assert_memory_equal(&machine, &before, sizeof machine);
}

static void test_nul_bytes(void **state)
{
    struct folder *folder = *state;
    char text[TEXT_SIZE];
    compose(text, 0, NULL);
    size_t size = strlen(text);
    for (size_t at = 0; at < size; at += 7) {
        char kept = text[at], where[64];
        int line = 1;
        for (size_t i = 0; i < at; i++)
            line += text[i] == '\n';
        text[at] = '\0';
        save(folder, text, size);
        text[at] = kept;
        snprintf(where, sizeof where, ":%d: a NUL byte: this is not a text file", line);
        expect_file(folder->path, STRATA_BAD_INPUT, where);
    }
}

static void test_binary_junk(void **state)
{
    struct folder *folder = *state;
    uint32_t x = 1;
    for (int round = 0; round < 200; round++) {
        char junk[512];
        for (size_t i = 0; i < sizeof junk; i++) {
            x = x * 1664525 + 1013904223;
            junk[i] = (char)(x >> 24);
        }
        save(folder, junk, sizeof junk);
        expect_file(folder->path, STRATA_BAD_INPUT, ":");
    }
}

static void test_empty_file(void **state)
{
    struct folder *folder = *state;
    save(folder, "", 0);
    expect_file(folder->path, STRATA_BAD_INPUT, "no [machine] section");
    save(folder, "\xef\xbb\xbf", 3);
    expect_file(folder->path, STRATA_BAD_INPUT, "no [machine] section");
    save(folder, "# nothing\n\n; here\n", 18);
    expect_file(folder->path, STRATA_BAD_INPUT, "no [machine] section");
}

static void test_large_file(void **state)
{
    struct folder *folder = *state;
    save(folder, "", 0);
    assert_int_equal(truncate(folder->path, (1 << 20) + 1), 0);
    expect_file(folder->path, STRATA_BAD_INPUT, "larger than 1M");
    expect_file("/dev/zero", STRATA_BAD_INPUT, "larger than 1M");
}

static void test_no_file(void **state)
{
    struct folder *folder = *state;
    expect_file("/nonexistent/x.machine", STRATA_BAD_INPUT, "No such file");
    expect_file("", STRATA_BAD_INPUT, "cannot open");
    expect_file(folder->name, STRATA_BAD_INPUT, "is a directory, not a file");
}

static void test_unreadable_file(void **state)
{
    struct folder *folder = *state;
    bool root = geteuid() == 0;
    char text[TEXT_SIZE];
    compose(text, 0, NULL);
    save(folder, text, strlen(text));
    assert_int_equal(chmod(folder->name, 0755), 0);
    assert_int_equal(chmod(folder->path, 0), 0);
    if (root && seteuid(65534) != 0) /* permissions do not stop root */
        skip();
    expect_file(folder->path, STRATA_BAD_INPUT, "Permission denied");
    if (root)
        assert_int_equal(seteuid(0), 0);
}

/* Faults that only a machine built in memory can have. */

static struct strata_machine valid(void)
{
    char text[TEXT_SIZE];
    struct strata_machine machine;
    compose(text, 0, NULL);
    assert_int_equal(strata_machine_parse("x", text, &machine, NULL), STRATA_OK);
    return machine;
}

static void assert_refused(const struct strata_machine *machine, const char *fragment)
{
    struct strata_error error = {0, ""};
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(strata_machine_check(machine, &error), STRATA_BAD_INPUT);
    if (!strstr(error.text, fragment))
        fail_msg("wanted \"%s\", got \"%s\"", fragment, error.text);
    /* and it cannot be written */
    assert_int_equal(machine_text(machine, NULL, &text, &size, &error), STRATA_BAD_INPUT);
    assert_null(text);
}

static void test_check_in_memory(void **state)
{
    (void)state;
    struct strata_machine m = valid();
    m.ncaches = 9;
    assert_refused(&m, "9 [cache] sections are more than the 8 possible");
    m = valid(), m.ncaches = 0;
    assert_refused(&m, "a machine needs a [cache NAME] section");
    m = valid(), m.ntlbs = UINT32_MAX;
    assert_refused(&m, "[tlb] sections are more than the 16 possible");
    m = valid(), memset(m.name, 'x', sizeof m.name);
    assert_refused(&m, "the name has no end");
    m = valid(), m.name[0] = ' ';
    assert_refused(&m, "no space around it");
    m = valid(), memset(m.caches[1].name, 'x', sizeof m.caches[1].name);
    assert_refused(&m, "a name such as L1d");
    m = valid(), m.caches[1].kind = 3;
    assert_refused(&m, "[cache L2] kind = 3: there is no such kind");
    m = valid(), m.caches[1].types = 0;
    assert_refused(&m, "there is no such types");
    m = valid(), m.caches[1].occupied = -0.5;
    assert_refused(&m, "occupied = -0.5: must be from 0 to 1");
    m = valid(), m.noise.jitter = NAN;
    assert_refused(&m, "must be from 0 to 1");
    m = valid(), m.branch.present = 2;
    assert_refused(&m, "present must be 0 or 1");
    m = valid(), m.branch.present = 0;
    assert_refused(&m, "[branch] has values, but is not present");
    m = valid(), m.prefetchers[0].level = 1;
    assert_refused(&m, "the prefetcher's level is 1, but its cache's is 2");
}

static void test_check_order(void **state)
{
    (void)state;
    struct strata_machine m = valid(), sorted = m;
    m.caches[0] = sorted.caches[1];
    m.caches[1] = sorted.caches[0];
    assert_refused(&m, "[cache] records must be sorted by level");
    m = sorted;
    m.tlbs[0] = sorted.tlbs[1];
    m.tlbs[1] = sorted.tlbs[0];
    assert_refused(&m, "[tlb] records must be sorted by page size, then level");
}

/* Files may have their sections in any order. */
static void test_any_order(void **state)
{
    (void)state;
    static const int starts[] = {39, 35, 33, 31, 25, 20, 13, 6, 1, LINES + 1};
    char text[TEXT_SIZE] = "";
    struct strata_machine machine, wanted = valid();
    struct strata_error error = {0, ""};
    for (int s = 0; s < 9; s++) {
        int end = s ? starts[s - 1] : LINES + 1;
        for (int i = starts[s]; i < end; i++)
            strcat(strcat(text, base[i - 1]), "\r\n");
    }
    assert_int_equal(strata_machine_parse("x", text, &machine, &error), STRATA_OK);
    assert_memory_equal(&machine, &wanted, sizeof machine);
}

int main(void)
{
#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_is_right),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_missing_sections),
        cmocka_unit_test(test_no_tlbs),
        cmocka_unit_test(test_walk_for_no_pages),
        cmocka_unit_test(test_wrong_units),
        cmocka_unit_test(test_impossible_values),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_prefetcher_of_instructions),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_section_names),
        cmocka_unit_test(test_machine_names),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_first_fault),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_truncated),
        WITH_FOLDER(test_nul_bytes),
        WITH_FOLDER(test_binary_junk),
        WITH_FOLDER(test_empty_file),
        WITH_FOLDER(test_large_file),
        WITH_FOLDER(test_no_file),
        WITH_FOLDER(test_unreadable_file),
        cmocka_unit_test(test_check_in_memory),
        cmocka_unit_test(test_check_order),
        cmocka_unit_test(test_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
