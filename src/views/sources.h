/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of source lines, for people who read a table of them. */
#ifndef VIEWS_SOURCES_H
#define VIEWS_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

enum { SOURCE_TEXT = 400 };

/* Copies a line (from 1 on) of the file that debug information names, without the space
 * around it. The file is looked for where that says, then, if that is an absolute path,
 * below the current folder with as many of its folders as are there, at least one. False:
 * it is not there, has no such line, or was changed after the profile was written. */
bool source_line(const char *path, uint64_t line, const char *profile,
                 char text[SOURCE_TEXT]);

#endif
