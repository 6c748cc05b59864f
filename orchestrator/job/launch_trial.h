/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_LAUNCH_TRIAL_H
#define SMTUNE_ORCHESTRATOR_JOB_LAUNCH_TRIAL_H

#include "orchestrator/job/job.h"
#include "orchestrator/job/launch.h"

/* A trial's next attempt, with its setting: as launch_create(): NULL
 * where the trial cannot start so. */
struct launch *launch_trial(const struct launch_site *site,
                            const struct experiment *experiment,
                            const struct job *job, struct err *err);

#endif
