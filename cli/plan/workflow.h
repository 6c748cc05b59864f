/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_PLAN_WORKFLOW_H
#define SMTUNE_CLI_PLAN_WORKFLOW_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

struct cli;
struct workflow;

/*
 * What a run of the workflow would do, to stdout: how many steps and jobs, its
 * pools and limits, the graph, and what the first `shown` steps (0: some) do,
 * in the order in which they could start one after another. For programs all of
 * it. 0, or -1.
 */
int plan_workflow_print(const struct cli *cli, const struct workflow *workflow,
                        int64_t shown, struct err *err);

/* Nothing but the graph, in one of draw_format_names, to stdout. */
void plan_workflow_draw(const struct cli *cli, const struct workflow *workflow,
                        const char *format);

/* All of it as JSON; order[step_count] is that of the steps. A new reference.
 */
json_t *plan_workflow_json(const struct workflow *workflow,
                           const size_t *order);

#endif
