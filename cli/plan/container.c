/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plan/container.h"

#include <string.h>

#include "orchestrator/spec/experiment/container.h"

/* Whether this machine would run it. */
static bool is_here(const struct executor_options *executor)
{
    return strcmp(executor->name, "slurm") != 0;
}

void plan_container_print(const struct job_spec *task,
                          const struct executor_options *executor,
                          struct buf *out)
{
    const struct container_spec *container = &task->container;
    struct container_program program;
    struct err err;

    if (container->image == NULL)
        return;
    buf_add_string(out, template_source(container->image));
    if (!is_here(executor))
        buf_printf(out, ", run by %s on the node",
                   container->runtime != NULL
                       ? container->runtime
                       : "the first of apptainer, singularity, podman and "
                         "docker");
    else if (container_look(task, true, &program, &err) == 0)
        buf_printf(out, ", run by %s (%s)", program.runtime->name,
                   program.path);
    else
        buf_printf(out, " (%s)", err.text);
}

json_t *plan_container_json(const struct job_spec *task,
                            const struct executor_options *executor)
{
    const struct container_spec *container = &task->container;
    const char *name = container->runtime, *path = NULL;
    struct container_program program;

    if (container->image == NULL)
        return json_null();
    if (is_here(executor) && container_look(task, true, &program, NULL) == 0) {
        name = program.runtime->name;
        path = program.path;
    }
    return json_pack("{s:o, s:o, s:o}", "image",
                     json_from_text(template_source(container->image)),
                     "runtime", json_from_text(name), "program",
                     json_from_text(path));
}

json_t *plan_conda_json(const struct job_spec *task)
{
    return task->conda != NULL ? json_from_text(template_source(task->conda))
                               : json_null();
}
