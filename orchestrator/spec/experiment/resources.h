/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_RESOURCES_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_RESOURCES_H

#include "executors/executor.h"
#include "orchestrator/spec/experiment/job_spec.h"

/* The resources of a job (struct resources) as an executor is asked for them.
 */

/* What an attempt of a job with these resources asks its executor for, that is
 * every member that follows from them. The others are 0. `slurm` is borrowed
 * from the resources. */
struct attempt_spec resources_attempt_spec(const struct resources *resources);

#endif
