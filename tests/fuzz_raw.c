/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A libFuzzer target for the reader of raw files. A raw file holds a machine and numbers
 * as this computer stores them, which random bytes seldom are. So an input that begins
 * with 'e' is a list of edits (two bytes of offset, one of value) of a file that is
 * right, ended by its length; any other is a file as it stands. What is taken is walked
 * through as the writer of profiles does; what is refused must have a reason. */
#include "profile/raw_read.h"
#include "test_raw_fixture.h"

#include <strata/error.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

/* Touches all that the reader vouches for. */
static uint64_t walk(const struct raw_file *raw)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < raw->lists[RAW_STRING].n; i++)
        for (uint32_t j = 0; j < raw_string_at(raw, i)->length; j++)
            sum += (uint8_t)raw_string_at(raw, i)->text[j];
    for (uint32_t i = 0; i < raw->lists[RAW_SITE].n; i++)
        if (raw_site_at(raw, i)->function != RAW_NONE)
            sum += raw_string_at(raw, raw_site_at(raw, i)->function)->length;
    for (uint32_t i = 0; i < raw->lists[RAW_BUCKET].n; i++)
        sum += raw_string_at(raw, raw_bucket_at(raw, i)->name)->length;
    for (uint32_t i = 0; i < raw->lists[RAW_CELL].n; i++) {
        const struct raw_cell *cell = raw_cell_at(raw, i);
        sum += raw_bucket_at(raw, cell->bucket)->kind + raw_site_at(raw, cell->site)->line;
        for (uint32_t j = 0; j < raw->cache_levels + raw->tlb_levels; j++)
            require(cell->misses[j] <= RAW_MOST);
    }
    return sum;
}

static void try(const void *bytes, size_t size)
{
    struct strata_error error = {0};
    struct raw_file raw;
    int status = raw_parse("fuzz", bytes, size, &raw, &error);
    if (status) {
        require(error.status == status && status == STRATA_BAD_INPUT);
        require(strncmp(error.text, "fuzz: ", 6) == 0);
        return;
    }
    volatile uint64_t sum = walk(&raw);
    (void)sum;
    require(!raw.incomplete == !*raw.why);
    raw_release(&raw);
}

static void try_edits(const uint8_t *data, size_t size)
{
    struct raw_builder builder;
    sample_parent(&builder, RAW_EXACT | RAW_SAMPLED);
    for (; size >= 5; data += 3, size -= 3) {
        size_t at = (size_t)data[0] | (size_t)data[1] << 8;
        builder.bytes[at % builder.size] = (char)data[2];
    }
    size_t cut = size >= 2 ? (size_t)data[0] | (size_t)data[1] << 8 : 0;
    size_t left = builder.size - cut % builder.size;
    char *exact = malloc(left); /* so that a read behind the end is seen */
    require(exact != NULL);
    memcpy(exact, builder.bytes, left);
    try(exact, left);
    free(exact);
    raw_discard(&builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size && data[0] == 'e') {
        try_edits(data + 1, size - 1);
        return 0;
    }
    void *copy = malloc(size ? size : 1);
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    try(copy, size);
    free(copy);
    return 0;
}
