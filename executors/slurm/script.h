/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_SCRIPT_H
#define SMTUNE_EXECUTORS_SLURM_SCRIPT_H

#include "executors/executor.h"
#include "executors/slurm/talk/limit.h"
#include "executors/slurm/talk/transport.h"

/*
 * The text of a batch script: the set-up lines, then smtune-shim in the
 * shell's place, so that a signal to the script is one to it. All words but the
 * set-up's are quoted. `arguments` are the shim's own, NULL-ended; those that
 * every job has (heartbeat, silence, health) follow them, the memos of healthy
 * nodes lying in `folder`. The caller frees it; NULL where there is no
 * smtune-shim.
 */
char *slurm_script(const struct slurm_options *options, const char *folder,
                   const char *const *arguments, struct err *err);

/* The time that the attempt's job asks for where this is the limit; 0: none. */
int64_t slurm_job_time_ms(const struct slurm_options *options,
                          const struct attempt_spec *spec,
                          const struct slurm_limit *limit);

/* What the job of one attempt, or of an array of its like, asks for; its names,
 * log and script are the caller's to set. site: NULL where it is not known. */
void slurm_submission_fill(const struct slurm_options *options,
                           const struct slurm_site *site,
                           const struct attempt_spec *spec,
                           struct slurm_submission *submission);

#endif
