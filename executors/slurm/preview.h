/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_PREVIEW_H
#define SMTUNE_EXECUTORS_SLURM_PREVIEW_H

#include "base/buf.h"
#include "executors/executor.h"
#include "executors/slurm/talk/transport.h"

/* What is submitted, for people. */

/* The batch script, the words of sbatch in a comment behind its first line. */
void slurm_print_submission(const struct slurm_submission *submission,
                            struct buf *out);
/* The same as the file `sbatch` (0600) in the folder of a wave or a pilot, and
 * beside an attempt that is in it. For people: what fails is left out. */
void slurm_keep_submission(const char *folder,
                           const struct slurm_submission *submission);
void slurm_link_submission(const char *folder, const char *directory);
/* executor_preview(): the job of one attempt. */
int slurm_preview(const struct executor_options *options,
                  const struct attempt_spec *spec, const char *folder,
                  struct buf *out, struct err *err);

#endif
