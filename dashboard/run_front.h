/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_RUN_FRONT_H
#define SMTUNE_DASHBOARD_RUN_FRONT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

/*
 * The Pareto front of a run with several objectives, for the list of runs. It
 * is made of all its trials, so it may be behind: of a run that goes on it is
 * made now and then, and only so much of it at a time (struct front_time). What
 * takes long is made less often.
 */

struct dashboard_source;
struct run_row;
struct store;

struct run_front {
    json_t *json; /* NULL: not made yet */
    int64_t results, made_ms, work_ms;
    bool is_behind;
};

/* What there is for all runs together, of one look at the store. */
struct front_time {
    int64_t now_ms, spent_ms;
};

/* Makes it, if it is time to; -1 on error. */
int run_front_update(struct run_front *front, struct front_time *time,
                     const struct dashboard_source *source, struct store *store,
                     const struct run_row *run, struct err *err);
/* Whether it is behind, and may be made again. */
bool run_front_is_due(const struct run_front *front, int64_t now_ms);
void run_front_clear(struct run_front *front);

#endif
