/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_PLAN_CONTAINER_H
#define SMTUNE_CLI_PLAN_CONTAINER_H

#include "base/buf.h"
#include "base/json.h"
#include "orchestrator/spec/experiment/job_spec.h"

/* In which container a task's command would run, and which program would run
 * it: of this machine, or on a node. Nothing where it has none. */
void plan_container_print(const struct job_spec *task,
                          const struct executor_options *executor,
                          struct buf *out);

/* {"image", "runtime", "program"}, or null; what a node decides is null. */
json_t *plan_container_json(const struct job_spec *task,
                            const struct executor_options *executor);
/* The environment, as the file has it; or null. */
json_t *plan_conda_json(const struct job_spec *task);

#endif
