/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_WORKDIR_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_WORKDIR_H

#include "base/err.h"
#include "base/value.h"
#include "orchestrator/spec/experiment/job_spec.h"

/*
 * The folder in which a task's command starts, by the values of the columns
 * that its template knows: *path is absolute and the caller's to free, NULL
 * where the task has no `workdir` (then it is that of the run). -1 with
 * ERR_FILE where a value makes no path.
 */
int workdir_expand(const struct job_spec *spec, const struct value *values,
                   char **path, struct err *err);

#endif
