/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/containers.h"

#include "orchestrator/spec/experiment/container.h"
#include "orchestrator/spec/workflow/workflow.h"

/* The image of a step may be made by one before it. */
int engine_check_containers(const struct engine *engine, struct err *err)
{
    const struct workflow *workflow = engine->run->workflow;
    const struct experiment *experiment = engine->experiment;

    if (workflow == NULL)
        return container_check(&experiment->task, &experiment->executor, false,
                               err);
    for (size_t i = 0; i < workflow->step_count; i++) {
        const struct step *step = &workflow->steps[i];

        if (container_check(&step->task, workflow_executor(workflow, step),
                            true, err) != 0)
            return err_prefix(err, "step '%s'", step->name);
    }
    return 0;
}
