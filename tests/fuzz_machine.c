/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A libFuzzer target for the parser of machine files. Any text is either refused, with a
 * clean message and the caller's machine untouched, or it is a machine that passes the
 * check, is written, and is read back the same. */
#include "core/utf8.h"
#include "machine/text.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <strata/error.h>
#include <strata/machine.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void refused(const struct strata_machine *machine, const struct strata_error *error)
{
    char clean[sizeof error->text];
    struct strata_machine before;
    memset(&before, 0x5a, sizeof before);
    require(memcmp(machine, &before, sizeof before) == 0);
    require(error->status == STRATA_BAD_INPUT);
    require(strncmp(error->text, "fuzz:", 5) == 0);
    require(strcmp(utf8_clean(error->text, clean, sizeof clean), error->text) == 0);
}

static void taken(const struct strata_machine *machine)
{
    struct strata_machine back;
    struct strata_error error;
    char *text = NULL;
    size_t size = 0;
    memset(&back, 0xa5, sizeof back);
    require(strata_machine_check(machine, &error) == STRATA_OK);
    require(machine_text(machine, "a comment", &text, &size, &error) == STRATA_OK);
    require(strlen(text) == size);
    require(strata_machine_parse("fuzz", text, &back, &error) == STRATA_OK);
    require(memcmp(machine, &back, sizeof back) == 0);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strata_machine machine;
    struct strata_error error = {0, ""};
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    memset(&machine, 0x5a, sizeof machine);
    if (strata_machine_parse("fuzz", text, &machine, &error) == STRATA_OK)
        taken(&machine);
    else
        refused(&machine, &error);
    free(text);
    return 0;
}
