/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Takes the files of the page into the program: the assembler reads them, from the root of
 * the project, so that no other tool is needed. */
#include "serve/page.h"

#define TAKE(name, file)                                                                   \
    __asm__(".section .rodata\n"                                                           \
            ".global " #name "\n" #name ":\n"                                              \
            ".incbin \"src/serve/" file "\"\n"                                             \
            ".byte 0\n"                                                                    \
            ".previous\n")

TAKE(page_html, "page.html");
TAKE(page_css, "page.css");
TAKE(page_js, "page.js");
