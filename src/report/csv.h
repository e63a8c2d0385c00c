/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text in a CSV file, by RFC 4180. */
#ifndef REPORT_CSV_H
#define REPORT_CSV_H

#include <stdio.h>

/* A field; in quotes where its text needs them. */
void csv_text(FILE *out, const char *text);

#endif
