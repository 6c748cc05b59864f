/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_CONTAINER_WARN_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_CONTAINER_WARN_H

#include <stdbool.h>

#include "base/conf/conf.h"
#include "orchestrator/spec/experiment/job_spec.h"

/* Warns, at the node of `container` (NULL: there is none), of a container that
 * cannot start on this machine; may_come as for container_look(). Not where
 * lines of `setup` may change that, or where it starts on another machine. */
void container_warn(const struct job_spec *spec, const struct conf_node *node,
                    const struct executor_options *executor, bool may_come,
                    struct diags *warnings);

#endif
