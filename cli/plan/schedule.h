/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_PLAN_SCHEDULE_H
#define SMTUNE_CLI_PLAN_SCHEDULE_H

#include "base/json.h"

struct experiment;
struct dry_run;

/* What a run's schedule comes to, as a part of `smtune plan`. */

/* Lines to stdout; none without a schedule. */
void plan_schedule_print(const struct experiment *experiment,
                         const struct dry_run *dry_run);

/* The schedule, or null; and its brackets with their rungs, a list. */
json_t *plan_schedule_json(const struct experiment *experiment,
                           const struct dry_run *dry_run);
json_t *plan_brackets_json(const struct dry_run *dry_run);

#endif
