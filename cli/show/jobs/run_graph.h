/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_RUN_GRAPH_H
#define SMTUNE_CLI_SHOW_JOBS_RUN_GRAPH_H

#include "base/err.h"

struct cli;
struct run_view;
struct step_list;
struct workflow_drawing;

/* Draws the graph of a workflow's run to stdout, with the states of its steps
 * as they are now, in one of draw_format_names. ERR_USAGE where the run is an
 * experiment's; ERR_FAILED where its file no longer passes. */
int run_graph_draw(const struct cli *cli, const struct run_view *view,
                   const char *format, struct err *err);

/* Gives the nodes of a workflow's drawing the states of a run's steps. */
void run_graph_set_states(struct workflow_drawing *drawing,
                          const struct step_list *list);

#endif
