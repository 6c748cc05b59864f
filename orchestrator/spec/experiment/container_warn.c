/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/container_warn.h"

#include "orchestrator/spec/experiment/container.h"

void container_warn(const struct job_spec *spec, const struct conf_node *node,
                    const struct executor_options *executor, bool may_come,
                    struct diags *warnings)
{
    struct err err;

    if (node != NULL && container_check(spec, executor, may_come, &err) != 0)
        diags_add(warnings, node->place,
                  "on this machine no command can start; 'smtune doctor' lists "
                  "what is there",
                  "%s", err.text);
}
