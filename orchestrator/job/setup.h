/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_SETUP_H
#define SMTUNE_ORCHESTRATOR_JOB_SETUP_H

#include "orchestrator/spec/experiment/job_spec.h"

/*
 * The words that run the task's `setup` and then `argv`, in one bash; argv
 * itself where the task has none. It takes argv and its words, each from
 * malloc; the result is the caller's to free in the same way. The line that
 * fails is written to SETUP_FAILED_FILE in the attempt's folder.
 */
char **setup_words(const struct job_spec *task, char **argv,
                   const char *attempt_directory);

#endif
