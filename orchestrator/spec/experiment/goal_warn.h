/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_GOAL_WARN_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_GOAL_WARN_H

#include <stdbool.h>

/* Whether the name of a metric makes it unlikely that this is its goal:
 * `val_accuracy` to be minimised, `test/loss` to be maximised. A name without
 * a word of either kind, or with words of both, says nothing. */
bool goal_is_unlikely(const char *metric, bool maximize);

#endif
