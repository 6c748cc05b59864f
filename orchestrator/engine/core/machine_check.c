/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/machine_check.h"

#include "orchestrator/spec/experiment/container.h"
#include "orchestrator/spec/experiment/gpus.h"
#include "orchestrator/spec/workflow/workflow.h"

static int check(const struct job_spec *task,
                 const struct executor_options *executor, bool may_come,
                 struct machine_gpus *machine, struct err *err)
{
    if (container_check(task, executor, may_come, err) != 0)
        return -1;
    return gpus_check(task, executor, machine, err);
}

/* The image of a step may be made by one before it. */
int engine_check_machine(const struct engine *engine, struct err *err)
{
    const struct workflow *workflow = engine->run->workflow;
    const struct experiment *experiment = engine->experiment;
    struct machine_gpus machine = {.was_asked = false};

    if (workflow == NULL)
        return check(&experiment->task, &experiment->executor, false, &machine,
                     err);
    for (size_t i = 0; i < workflow->step_count; i++) {
        const struct step *step = &workflow->steps[i];

        if (check(&step->task, workflow_executor(workflow, step), true,
                  &machine, err) != 0)
            return err_prefix(err, "step '%s'", step->name);
    }
    return 0;
}
