/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text from outside (machine names, reasons) made fit for JSON, SVG and a terminal,
 * all of which refuse or misread malformed UTF-8 and control characters. */
#ifndef CORE_UTF8_H
#define CORE_UTF8_H

#include <stddef.h>

/* Copies text into out[size] (size > 0) as well-formed UTF-8 on one line: control
 * characters become spaces, malformed bytes become '?', and a text that is too long is
 * cut between characters. text == NULL is an empty text. Returns out. */
char *utf8_clean(const char *text, char *out, size_t size);

/* Characters in a well-formed text: its width on a terminal, as long as none is wide
 * or combining. */
size_t utf8_length(const char *text);

#endif
