/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `strata inspect --plot` draws: panels of curves, and where their points are. */
#ifndef REPORT_INSPECT_PANELS_H
#define REPORT_INSPECT_PANELS_H

#include "report/inspect_report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PANEL_POINTS = 128, PANEL_CURVES = 6, PANELS = 10 };

/* What is along x. */
enum panel_x { PANEL_BYTES, PANEL_PAGES, PANEL_CHANCE, PANEL_KERNELS };

struct panel_curve {
    size_t event; /* or TIME_EVENT */
    enum run_kind kind;
    uint32_t kernel;
    const double *slopes; /* PANEL_KERNELS: by kernel of the branch matrix */
    char name[64];
};

struct panel {
    char title[96];
    const char *x_title, *y_title;
    enum panel_x x;
    size_t n;
    struct panel_curve curves[PANEL_CURVES];
};

struct sheet {
    size_t n;
    struct panel panels[PANELS];
};

/* Panels that have nothing to show are left out. SIZE_MAX: all events. */
void plan_sheet(const struct inspect_report *report, size_t event, struct sheet *sheet);

/* The points of a curve, ascending in x; at most PANEL_POINTS. */
size_t panel_points(const struct inspect_report *report, const struct panel *panel,
                    const struct panel_curve *curve, double *x, double *y);

#endif
