/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A libFuzzer target for what strata serve reads and writes by itself: addresses, names of
 * hosts, numbers in a query, and labels. Any text is refused or read back as itself, and
 * any label comes back from the text that is made of it. */
#include "core/utf8.h"
#include "serve/address.h"
#include "serve/exposition.h"
#include "serve/http.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void try_address(const char *text)
{
    struct address address, again;
    struct strata_error error = {0, ""};
    char once[ADDRESS_TEXT], twice[ADDRESS_TEXT];
    address_is_local_host(text);
    if (address_parse(text, &address, &error) != STRATA_OK) {
        require(error.status == STRATA_BAD_INPUT);
        require(strncmp(error.text, "--listen ", 9) == 0);
        return;
    }
    address_format(&address, once);
    require(address_parse(once, &again, NULL) == STRATA_OK);
    require(strcmp(address_format(&again, twice), once) == 0);
    require(again.loopback == address.loopback);
    require(address_is_local_host(once));
}

static void try_number(const char *text)
{
    char plain[32];
    uint64_t number = http_number(text);
    snprintf(plain, sizeof plain, "%" PRIu64, number);
    const char *digits = text + strspn(text, "0");
    require(number == 0 || strcmp(digits, plain) == 0);
}

/* Takes a label's value out of a line `a{b="VALUE"} 1`, as a reader would. */
static void unescape(const char *at, char *value)
{
    for (; *at != '"'; at++) {
        require(*at && *at != '\n');
        if (*at == '\\')
            require(*++at == '\\' || *at == '"');
        *value++ = *at;
    }
    *value = '\0';
    require(strcmp(at, "\"} 1\n") == 0);
}

static void try_label(const char *text)
{
    char clean[1024], *line = NULL, *value;
    size_t size;
    struct exposition out = {.file = open_memstream(&line, &size), .family = "a"};
    if (!out.file)
        return;
    expose_label(&out, "b", text);
    expose_count(&out, 1);
    fclose(out.file);
    value = malloc(size + 1);
    if (line && value && *text) {
        require(strncmp(line, "a{b=\"", 5) == 0);
        unescape(line + 5, value);
        require(strcmp(value, utf8_clean(text, clean, sizeof clean)) == 0);
    }
    free(value);
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    try_address(text);
    try_number(text);
    try_label(text);
    free(text);
    return 0;
}
