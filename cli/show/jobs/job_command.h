/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_JOB_COMMAND_H
#define SMTUNE_CLI_SHOW_JOBS_JOB_COMMAND_H

#include "cli/show/jobs/run_steps.h"
#include "cli/show/run/run_view.h"
#include "store/store.h"

/* The command that a job of a workflow was started with, as a shell takes it;
 * the caller's. NULL: it was not started, has no command, or what it was made
 * of can no longer be had. */
char *job_command(const struct run_view *view, const struct run_steps *steps,
                  const struct trial_row *job);

#endif
