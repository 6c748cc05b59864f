/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_LR_SCHEDULE_H
#define SMTUNE_TRAINING_LR_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* How the learning rate changes in the course of a run. */

/* NULL-ended; a schedule is an index into it. */
extern const char *const lr_schedule_names[];

/* Whether its course depends on how many steps there will be. */
bool lr_schedule_has_end(int schedule);

/* What --lr is multiplied by at `step` of `total_steps` (from 0). */
double lr_schedule_factor(int schedule, uint64_t step, uint64_t total_steps);

#endif
