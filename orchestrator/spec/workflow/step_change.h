/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_WORKFLOW_STEP_CHANGE_H
#define SMTUNE_ORCHESTRATOR_SPEC_WORKFLOW_STEP_CHANGE_H

#include <stdbool.h>

#include "base/conf/conf.h"
#include "base/err.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "orchestrator/spec/workflow/workflow.h"

/*
 * Which steps of a workflow are no longer what they were: changed[step_count]
 * is set for each whose text differs from that of the earlier file, with what
 * --set made of it, or which names a parameter that has another value; all of
 * them where the file's defaults differ. What they need is not looked at. 0, or
 * -1 where one of the files cannot be read any more.
 */
int step_change_find(const struct workflow *workflow,
                     const struct experiment_source *now,
                     const struct experiment_source *before, bool *changed,
                     struct err *err);

/* The steps that one needs, by index: [*count], the workflow's. */
const size_t *step_needs(const struct workflow *workflow, size_t step,
                         size_t *count);

/* What a file has of the step of that name, in a list, a group or a map; NULL:
 * nothing. */
const struct conf_node *step_find_node(const struct conf_node *root,
                                       const char *name);

#endif
