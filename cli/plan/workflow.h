/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_PLAN_WORKFLOW_H
#define SMTUNE_CLI_PLAN_WORKFLOW_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

struct cache_forecast;
struct cli;
struct mask;
struct plan_order;
struct workflow;

/*
 * What a run of the workflow would do, to stdout: how many steps and jobs, its
 * pools and limits, the graph, and what the first steps do, in the order in
 * which they could start one after another, and whether they would be cache
 * hits. For programs all of it. 0, or -1.
 */
int plan_workflow_print(const struct cli *cli, const struct workflow *workflow,
                        const struct plan_order *order, struct err *err);

/* Nothing but the graph, in one of draw_format_names, to stdout. */
void plan_workflow_draw(const struct cli *cli, const struct workflow *workflow,
                        const char *format);

/* All of it as JSON; order[step_count] is that of the steps, forecast NULL
 * where none has a cache, mask NULL where secrets are shown. A new reference.
 */
json_t *plan_workflow_json(const struct workflow *workflow,
                           const struct cache_forecast *forecast,
                           const struct mask *mask, const size_t *order);

#endif
