/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plot of a probe by counts. */
#ifndef REPORT_COUNTS_PLOT_H
#define REPORT_COUNTS_PLOT_H

#include "dataset/dataset.h"

#include <stdbool.h>
#include <strata/error.h>
#include <strata/probe.h>

/* Whether the data are those of the kernels that are plotted so. */
bool has_counts(const struct strata_probed *probed);
int counts_plot(const struct strata_probed *probed, const char *path,
                struct strata_error *error); /* .svg or .png */

#endif
