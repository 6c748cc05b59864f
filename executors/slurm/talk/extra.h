/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SLURM_TALK_EXTRA_H
#define SMTUNE_EXECUTORS_SLURM_TALK_EXTRA_H

#include <stdbool.h>

#include "executors/executor.h"

/*
 * Further options of sbatch (`extra`), each one word: "--nice=5", "--hold",
 * "-Cfast". Pure.
 */

/* Whether the word is that option, and its value: "" where it has none. letter:
 * the short form, 0: there is none. NULL: it is another option. */
const char *slurm_extra_value(const char *word, const char *name, char letter);

/*
 * The first option that is a trial's own (GPUs, memory, licenses, a node for
 * itself), so that trials which share an allocation would not have what it asks
 * for; NULL: all of them mean the same for an allocation and for each trial in
 * it. Options that are not known count as a trial's own.
 */
const char *slurm_extra_of_trial(const struct slurm_ask *ask);

#endif
