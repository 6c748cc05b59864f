/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_CURVE_LIST_H
#define SMTUNE_CLI_SHOW_RUN_CURVE_LIST_H

#include "base/err.h"
#include "cli/show/run/run_view.h"
#include "cli/term/output.h"

/* All that the run's trials or jobs reported, a row for each value: the id of
 * the trial, the metric, the step, the value, the time and, with a schedule,
 * the step in units of its resource. By trial, metric and step. 0, or -1. */
int curve_list_print(const struct cli *cli, const struct run_view *view,
                     struct err *err);

/* A step, whole where it is. */
struct value curve_step(double step);

#endif
