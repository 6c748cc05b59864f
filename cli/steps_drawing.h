/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_STEPS_DRAWING_H
#define SMTUNE_CLI_STEPS_DRAWING_H

#include "base/err.h"
#include "cli/run_steps.h"
#include "cli/run_view.h"

struct cli;

/* The graph of a workflow's run with the states of its steps, to stdout, in one
 * of draw_format_names. ERR_FAILED: its file no longer passes. */
int steps_drawing_print(const struct cli *cli, const struct run_view *view,
                        const struct run_steps *steps, const char *format,
                        struct err *err);

#endif
