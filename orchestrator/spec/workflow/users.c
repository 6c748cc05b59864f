/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who may use what a step made, as far as the file shows it. */
#include "orchestrator/spec/workflow/workflow.h"

void workflow_mark_users(const struct workflow *workflow, size_t step,
                         bool *users)
{
    size_t count;
    const size_t *behind = graph_needed_by(workflow->graph, step, &count);

    for (size_t i = 0; i < count; i++) {
        bool is_new = !users[behind[i]];

        users[behind[i]] = true;
        if (is_new && workflow->steps[behind[i]].kind == STEP_JOIN)
            workflow_mark_users(workflow, behind[i], users);
    }
    for (size_t i = 0; i < workflow->step_count; i++) {
        const struct flow_step *flow = &workflow->flow_steps[i];

        for (size_t k = 0; k < flow->read_count; k++)
            users[i] |= flow->reads[k] == step;
    }
}
