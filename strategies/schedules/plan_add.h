/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_SCHEDULES_PLAN_ADD_H
#define SMTUNE_STRATEGIES_SCHEDULES_PLAN_ADD_H

#include "strategies/schedules/scheduler.h"

/* Adds a rung to a plan, with what its trials use. Those of a bracket come in
 * a row, from rung 0 on. trials may be 0. ERR_FILE: the plan is too large. */
int schedule_plan_add(struct schedule_plan *plan,
                      const struct schedule_rung *rung, struct err *err);

#endif
