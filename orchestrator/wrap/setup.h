/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_WRAP_SETUP_H
#define SMTUNE_ORCHESTRATOR_WRAP_SETUP_H

#include "orchestrator/spec/experiment/job_spec.h"

/*
 * The words that run the task's `setup`, activate the conda environment (NULL:
 * none) and then run `argv`, in one bash; argv itself where there is neither.
 * It takes argv and its words, each from malloc; the result is the caller's to
 * free in the same way. What fails is written to SETUP_FAILED_FILE in the
 * attempt's folder.
 */
char **setup_words(const struct job_spec *task, const char *conda, char **argv,
                   const char *attempt_directory);

#endif
