/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reader of raw files: what was written is read, what is cut off gives what was whole,
 * and what contradicts itself is refused with the file's name and the reason. */
#include "profile/raw_read.h"
#include "test_raw_fixture.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void read_sample(struct raw_builder *builder, struct raw_file *raw)
{
    struct strata_error error = {0};
    sample_parent(builder, RAW_EXACT | RAW_SAMPLED);
    assert_int_equal(raw_parse("sample", builder->bytes, builder->size, raw, &error), 0);
}

static void test_sample(void **state)
{
    (void)state;
    struct raw_builder builder;
    struct raw_file raw;
    read_sample(&builder, &raw);
    assert_false(raw.incomplete);
    assert_int_equal(raw.cache_levels, RAW_TEST_CACHES);
    assert_int_equal(raw.tlb_levels, RAW_TEST_TLBS);
    assert_int_equal(raw.lists[RAW_BUCKET].n, SAMPLE_BUCKETS);
    assert_int_equal(raw.lists[RAW_SITE].n, SAMPLE_SITES);
    assert_int_equal(raw.lists[RAW_CELL].n, 2 * SAMPLE_CELLS);
    const struct raw_bucket *bucket = raw_bucket_at(&raw, MEM_INIT);
    const struct raw_string *name = raw_string_at(&raw, bucket->name);
    assert_int_equal(name->length, strlen("mem_init-main"));
    assert_memory_equal(name->text, "mem_init-main", name->length);
    assert_int_equal(raw_site_at(&raw, SMVP_1201)->line, 1201);
    assert_int_equal(raw_cell_at(&raw, 0)->events, 400000);
    assert_int_equal(raw_cell_at(&raw, 1)->collect, RAW_SAMPLED);
    raw_release(&raw);
    raw_discard(&builder);
}

/* Whatever is cut off: an error within the header, else the records that are whole. */
static void test_truncated(void **state)
{
    (void)state;
    struct raw_builder builder;
    struct raw_file raw;
    struct strata_error error;
    sample_parent(&builder, RAW_EXACT);
    size_t records = 0, last = 0;
    for (size_t size = 0; size < builder.size; size += 4) {
        char *copy = malloc(size ? size : 1);
        assert_non_null(copy);
        memcpy(copy, builder.bytes, size);
        int status = raw_parse("cut", copy, size, &raw, &error);
        if (size < sizeof(struct raw_header)) {
            assert_int_equal(status, STRATA_BAD_INPUT);
            assert_memory_equal(error.text, "cut: ", 5);
        } else {
            assert_int_equal(status, STRATA_OK);
            assert_true(raw.incomplete);
            assert_string_equal(raw.why, "the file is cut off");
            records = 0;
            for (int type = RAW_STRING; type <= RAW_CELL; type++)
                records += raw.lists[type].n;
            assert_true(records >= last);
            last = records;
            raw_release(&raw);
        }
        free(copy);
    }
    assert_int_equal(last + 1, builder.counts[RAW_STRING] + builder.counts[RAW_SITE] +
                                   builder.counts[RAW_BUCKET] + builder.counts[RAW_CELL]);
    raw_discard(&builder);
}

/* A file that got its length but not its last pages. */
static void test_zeros(void **state)
{
    (void)state;
    struct raw_builder builder;
    struct raw_file raw;
    struct strata_error error;
    sample_parent(&builder, RAW_EXACT);
    size_t whole = builder.size;
    raw_extend(&builder, 4096);
    assert_int_equal(raw_parse("zeros", builder.bytes, builder.size, &raw, &error), 0);
    assert_false(raw.incomplete); /* behind the end there may be anything */
    raw_release(&raw);
    raw_header_of(&builder)->used = builder.size;
    assert_int_equal(raw_parse("zeros", builder.bytes, builder.size, &raw, &error), 0);
    assert_true(raw.incomplete);
    assert_int_equal(raw.lists[RAW_CELL].n, SAMPLE_CELLS);
    raw_release(&raw);
    raw_header_of(&builder)->used = whole;
    raw_header_of(&builder)->lost = 1;
    assert_int_equal(raw_parse("lost", builder.bytes, builder.size, &raw, &error), 0);
    assert_true(raw.incomplete);
    assert_non_null(strstr(raw.why, "disk was full"));
    raw_release(&raw);
    raw_discard(&builder);
}

/* Ways to damage the last record of the sample, or its header. */

static void *last_cell(struct raw_builder *builder)
{
    size_t size =
        sizeof(struct raw_cell) + (RAW_TEST_CACHES + RAW_TEST_TLBS) * sizeof(uint64_t);
    return builder->bytes + builder->size - size;
}

static void damage_magic(struct raw_builder *b)
{
    raw_header_of(b)->magic[0] = 'S';
}
static void damage_version(struct raw_builder *b)
{
    raw_header_of(b)->version++;
}
static void damage_header_size(struct raw_builder *b)
{
    raw_header_of(b)->size += 8;
}
static void damage_machine(struct raw_builder *b)
{
    raw_header_of(b)->machine.caches[0].ways = 7;
}
static void damage_caches(struct raw_builder *b)
{
    raw_header_of(b)->machine.ncaches = UINT32_MAX;
}
static void damage_collect(struct raw_builder *b)
{
    raw_header_of(b)->collect = 4;
}
static void damage_period(struct raw_builder *b)
{
    raw_header_of(b)->period = 0;
}
static void damage_event(struct raw_builder *b)
{
    raw_header_of(b)->event_level = 3;
}
static void damage_end(struct raw_builder *b)
{
    raw_header_of(b)->end = 99;
}
static void damage_command(struct raw_builder *b)
{
    raw_header_of(b)->command = 12345;
}
static void damage_used(struct raw_builder *b)
{
    raw_header_of(b)->used = 8;
}
static void damage_hits(struct raw_builder *b)
{
    raw_header_of(b)->counts.hits[1] = UINT64_MAX;
}
static void damage_type(struct raw_builder *b)
{
    ((struct raw_record *)last_cell(b))->type = 77;
}
static void damage_small(struct raw_builder *b)
{
    ((struct raw_record *)last_cell(b))->size = 8;
}
static void damage_odd(struct raw_builder *b)
{
    ((struct raw_record *)last_cell(b))->size += 4;
}
static void damage_large(struct raw_builder *b)
{
    ((struct raw_record *)last_cell(b))->size = 0xfffffff8u;
}
static void damage_levels(struct raw_builder *b)
{
    ((struct raw_record *)last_cell(b))->size -= 8;
}
static void damage_bucket(struct raw_builder *b)
{
    ((struct raw_cell *)last_cell(b))->bucket = SAMPLE_BUCKETS;
}
static void damage_site(struct raw_builder *b)
{
    ((struct raw_cell *)last_cell(b))->site = RAW_NONE;
}
static void damage_cell_collect(struct raw_builder *b)
{
    ((struct raw_cell *)last_cell(b))->collect = 3;
}
static void damage_events(struct raw_builder *b)
{
    ((struct raw_cell *)last_cell(b))->events = RAW_MOST + 1;
}
static void damage_misses(struct raw_builder *b)
{
    ((struct raw_cell *)last_cell(b))->misses[3] = UINT64_MAX;
}
static void damage_kind(struct raw_builder *b)
{
    raw_put_bucket(b, RAW_CODE + 1, "x", NULL, NULL, 1, 1);
}
static void damage_bytes(struct raw_builder *b)
{
    raw_put_bucket(b, RAW_HEAP, "x", NULL, NULL, 1, UINT64_MAX);
}
static void damage_name(struct raw_builder *b)
{
    uint32_t id;
    struct raw_bucket *bucket = raw_append(b, RAW_BUCKET, sizeof *bucket, &id);
    bucket->name = RAW_NONE;
}
static void damage_function(struct raw_builder *b)
{
    uint32_t id;
    struct raw_site *site = raw_append(b, RAW_SITE, sizeof *site, &id);
    site->function = 4711;
}
static void damage_length(struct raw_builder *b)
{
    uint32_t id;
    struct raw_string *string = raw_append(b, RAW_STRING, 16, &id);
    string->length = 5;
}
static void damage_nul(struct raw_builder *b)
{
    uint32_t id;
    struct raw_string *string = raw_append(b, RAW_STRING, 16, &id);
    string->length = 4;
    memcpy(string->text, "a\0bc", 4);
}

static const struct {
    void (*damage)(struct raw_builder *builder);
    const char *says;
} damages[] = {
    {damage_magic, "no raw file"},
    {damage_version, "version 2"},
    {damage_header_size, "header"},
    {damage_machine, "machine is impossible"},
    {damage_caches, "machine is impossible"},
    {damage_collect, "neither exactly nor by samples"},
    {damage_period, "sampling period"},
    {damage_event, "sampling period or event"},
    {damage_end, "ended in an unknown way"},
    {damage_command, "name of its program"},
    {damage_used, "end of its records"},
    {damage_hits, "impossible count"},
    {damage_type, "unknown type"},
    {damage_small, "impossible size"},
    {damage_odd, "impossible size"},
    {damage_large, "impossible size"},
    {damage_levels, "another number of levels"},
    {damage_bucket, "not there"},
    {damage_site, "not there"},
    {damage_cell_collect, "neither exact nor sampled"},
    {damage_events, "impossible count"},
    {damage_misses, "impossible count"},
    {damage_kind, "unknown kind"},
    {damage_bytes, "impossible count"},
    {damage_name, "name that is not there"},
    {damage_function, "name that is not there"},
    {damage_length, "longer than the record"},
    {damage_nul, "0 byte"},
};

static void test_damaged(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct raw_builder builder;
        struct raw_file raw;
        struct strata_error error = {0};
        sample_parent(&builder, RAW_EXACT | RAW_SAMPLED);
        damages[i].damage(&builder);
        int status = raw_parse("d.raw", builder.bytes, builder.size, &raw, &error);
        assert_int_equal(status, STRATA_BAD_INPUT);
        assert_int_equal(error.status, STRATA_BAD_INPUT);
        assert_memory_equal(error.text, "d.raw: ", 7);
        if (!strstr(error.text, damages[i].says))
            fail_msg("damage %zu: \"%s\" does not say \"%s\"", i, error.text,
                     damages[i].says);
        raw_discard(&builder);
    }
}

static void test_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/strata-test-raw-XXXXXX", path[64], other[64];
    struct raw_builder builder;
    struct raw_file raw;
    struct raw_header header;
    struct strata_error error;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/1.raw", folder);
    snprintf(other, sizeof other, "%s/fifo", folder);
    assert_int_equal(raw_read(path, &raw, &error), STRATA_BAD_INPUT);
    assert_non_null(strstr(error.text, "1.raw: cannot open: No such file"));
    assert_int_equal(raw_read(folder, &raw, &error), STRATA_BAD_INPUT);
    assert_int_equal(mkfifo(other, 0600), 0);
    assert_int_equal(raw_read(other, &raw, &error), STRATA_BAD_INPUT);
    sample_parent(&builder, RAW_EXACT);
    raw_save(&builder, path);
    /* A collector makes room in large steps: most of the file is a hole. */
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    assert_int_equal(raw_read(path, &raw, &error), STRATA_OK);
    assert_false(raw.incomplete);
    assert_int_equal(raw.lists[RAW_CELL].n, SAMPLE_CELLS);
    assert_int_equal(raw_read_header(path, &header, &error), STRATA_OK);
    assert_memory_equal(&header, raw.header, sizeof header);
    raw_release(&raw);
    assert_int_equal(raw_read_header(other, &header, &error), STRATA_FAILED);
    assert_int_equal(truncate(path, (off_t)builder.size - 8), 0);
    assert_int_equal(raw_read(path, &raw, &error), STRATA_OK);
    assert_true(raw.incomplete);
    assert_int_equal(raw.lists[RAW_CELL].n, SAMPLE_CELLS - 1);
    raw_release(&raw);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(raw_read(path, &raw, &error), STRATA_BAD_INPUT);
    assert_non_null(strstr(error.text, "is empty"));
    raw_discard(&builder);
    unlink(path);
    unlink(other);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample), cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_zeros),  cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
