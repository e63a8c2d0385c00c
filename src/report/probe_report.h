/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the probe found, shown: a table, the reasons, a picture in the terminal, JSON, a C
 * header, a plot, and a comparison with what others claim. Formatting only, no computation.
 *
 * All of them take any strata_probed: values that are not known (or not finite), no
 * series, empty series, names with any bytes in them. Numbers are printed in the
 * process's LC_NUMERIC locale, which strata leaves as "C"; whether a terminal gets
 * UTF-8 or ASCII follows LC_CTYPE. */
#ifndef REPORT_PROBE_REPORT_H
#define REPORT_PROBE_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <strata/error.h>
#include <strata/probe.h>

struct claims;

/* Answers below this confidence are marked with a question mark. */
#define PROBE_SURE 0.95

/* To a stream. Lines are folded at `width` columns (40 to 200; 80 is meant). Write
 * errors stay in the stream, for the caller's ferror() or fclose(). */
void probe_table(FILE *out, const struct strata_probed *probed, bool colour, int width);
/* Why values are not known or not sure, and remarks: in full, and as one line with their
 * number, which is not printed if there are none. */
void probe_why(FILE *out, const struct strata_probed *probed, int width);
void probe_why_line(FILE *out, const struct strata_probed *probed, int width);

void probe_compare(FILE *out, const struct strata_probed *probed,
                   const struct claims *claims, bool colour, int width);

/* The curve of series "cache", with a bar at each latency, in width x height characters (at
 * least 40 x 8, at most 200 x 60). Prints nothing if there are no two points to draw. */
void probe_picture(FILE *out, const struct strata_probed *probed, bool colour, int width,
                   int height);

/* Dump flags that show a measured double as people expect it: 1.1, not 1.1000000000000001.
 */
#define PROBE_JSON_FLAGS (JSON_INDENT(2) | JSON_REAL_PRECISION(10))

/* Schema strata.machine/1, docs/format/probe-json.md. The caller owns the reference;
 * NULL: out of memory. */
json_t *probe_json(const struct strata_probed *probed);

/* The "claims" of --compare: an array with a row for each who was asked. */
json_t *claims_json(const struct claims *claims);

/* How a machine was measured and which of its parameters are assumed, for the top of a
 * machine file. The caller frees it; NULL: out of memory. */
char *probe_comment(const struct strata_probed *probed);

/* What counts and the clock found, where they differ and where they agree: one sentence
 * each. */
void probe_verdicts(FILE *out, const struct strata_probed *counted,
                    const struct strata_probed *timed, int width);
json_t *verdicts_json(const struct strata_probed *counted,
                      const struct strata_probed *timed); /* an array of strings */

/* To a file, which appears whole or not at all. */
int probe_header(const struct strata_probed *probed, const char *path,
                 struct strata_error *error);
int probe_plot(const struct strata_probed *probed, const char *path,
               struct strata_error *error); /* .svg or .png */

#endif
