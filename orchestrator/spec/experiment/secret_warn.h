/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_SECRET_WARN_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_SECRET_WARN_H

#include "orchestrator/spec/experiment/job_spec.h"

/* Warns of values in a file that look like secrets (base/secret.h): the record
 * keeps the file. */
void secret_warn(const struct conf_node *root, struct diags *warnings);

/* Warns of an env_file that is missing, or that others can read. */
void env_file_warn(const struct job_spec *task, struct diags *warnings);

#endif
