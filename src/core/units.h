/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes as people write them: 32K, 1.25M, 4G, 64. K is 1024. */
#ifndef CORE_UNITS_H
#define CORE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Reads a whole number of bytes with an optional K, M, G or T suffix and an optional
 * fraction ("1.25M"), the whole string, no sign. Returns 0, or -1 if it is not one
 * or does not fit. */
int parse_size(const char *text, uint64_t *size);

/* The same with decimal suffixes (K = 1000), for Hz. */
int parse_count(const char *text, uint64_t *count);

enum { SIZE_TEXT = 24 };

/* Writes the shortest exact form that parse_size() reads back: 32K, 1280K, 100. */
const char *format_size(uint64_t size, char text[SIZE_TEXT]);

/* Writes a form for people: at most one fractional digit, so 1.2M for 1.25M. */
const char *format_size_short(double size, char text[SIZE_TEXT]);

/* The same for a size that was measured: no more digits than a sixteenth of an octave
 * supports, so 650K for 647.1K and 768K for itself. Towards 0 (-1), to the nearest (0) or
 * away from 0 (1), so that an interval still holds what it held. */
const char *format_size_measured(double size, int towards, char text[SIZE_TEXT]);

enum { THOUSANDS_TEXT = 28 };

/* Writes a count as people read it: 1,335,667. */
const char *format_thousands(uint64_t count, char text[THOUSANDS_TEXT]);

#endif
