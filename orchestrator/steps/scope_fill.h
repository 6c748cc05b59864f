/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_SCOPE_FILL_H
#define SMTUNE_ORCHESTRATOR_STEPS_SCOPE_FILL_H

#include <stddef.h>
#include <stdint.h>

#include "base/value.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "orchestrator/steps/results.h"

/*
 * The values of what a step's expressions may read
 * (orchestrator/spec/workflow/scope.h), for one job.
 */

/* What the job is itself. */
struct job_site {
    size_t step;
    int64_t copy, copies, round;
    const struct value *axes;   /* [axis_count] */
    const struct value *rounds; /* [repeat.value_count] */
    const char *run_name, *directory, *checkpoint_directory; /* NULL: none */
};

/* values[scope.count], for the step's expressions and templates; axes and
 * rounds that are NULL are null. Text lives as long as the site's and the
 * results'. */
void scope_fill(const struct workflow *workflow, struct results *results,
                const struct job_site *site, struct value *values);
/* values[output_scope.count], for the workflow's own outputs. */
void scope_fill_outputs(const struct workflow *workflow,
                        struct results *results, const char *run_name,
                        struct value *values);

#endif
