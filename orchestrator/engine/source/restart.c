/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/restart.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "orchestrator/engine/core/warn.h"
#include "orchestrator/job/held_points.h"

/*
 * A trial continues at 3 of 9 epochs, and its first line names epoch 1. Either
 * it did not load its checkpoint and trains all 9, or it loaded it and counts
 * the 6 that are left. The line does not show which, so points wait: a step
 * beyond 6 means the former, an end at 6 the latter. The schedule needs no
 * point before the attempt ends. A first step of 2 or 3 means that the
 * checkpoint is older.
 */

enum { POINTS_MAX = 100000 };

/* Steps as units: the first one is 1. */
static double unit_of(const struct job *job, double step)
{
    return step + job->begins_at_zero;
}

static void warn(struct engine *engine, const struct job *job, const char *how)
{
    const char *resource = engine->experiment->schedule.resource;

    engine_warn_once(engine, &engine->has_told_of_restart,
                     "trial %" PRId64 " continues from %" PRId64
                     " %.*s, but its steps begin again %s",
                     job->number, job->paused_at,
                     units_length(resource, job->paused_at), resource, how);
}

/* Its checkpoint is older than what it had used: it uses the rest again. */
static void begin_earlier(struct engine *engine, struct job *job, double unit)
{
    char how[128];

    snprintf(how, sizeof(how),
             "at %g: its checkpoint is older, and it uses the rest again",
             unit);
    warn(engine, job, how);
    job->from = job->reached = (int64_t)ceil(unit) - 1;
}

/* Keeps what waits, `shift` steps further on. */
static void release(struct engine *engine, struct job *job, int64_t shift,
                    restart_keep_fn keep)
{
    struct held_points *held = job->held;

    job->held = NULL;
    warn(engine, job,
         shift == 0 ? "from the start: it does not load its checkpoint, and "
                      "uses its whole resource again"
                    : "from the start: smtune adds those before the "
                      "checkpoint");
    if (shift == 0)
        job->from = job->reached = 0;
    for (size_t i = 0; i < held->count; i++) {
        held->points[i].step += (double)shift;
        keep(engine, job, &held->points[i]);
    }
    held_points_destroy(held);
}

/* The first point of the attempt that names a step. */
static void look_at_first(struct engine *engine, struct job *job, double unit)
{
    if (job->from == 0)
        return;
    if (unit <= 1)
        job->held = held_points_create();
    else if (unit < (double)job->from)
        begin_earlier(engine, job, unit);
}

void restart_follow(struct engine *engine, struct job *job,
                    const struct metric_point *point, bool is_deciding,
                    restart_keep_fn keep)
{
    double unit = unit_of(job, point->step);

    if (is_deciding && !job->has_begun && !point->is_counted)
        look_at_first(engine, job, unit);
    job->has_begun = job->has_begun || is_deciding;
    if (job->held == NULL) {
        keep(engine, job, point);
        return;
    }
    if (is_deciding)
        job->held->last = point->step;
    held_points_add(job->held, point);
    if ((is_deciding && unit > (double)(job->resource - job->from)) ||
        job->held->count == POINTS_MAX)
        release(engine, job, 0, keep);
}

void restart_end(struct engine *engine, struct job *job, restart_keep_fn keep)
{
    double unit;

    if (job->held == NULL)
        return;
    unit = unit_of(job, job->held->last);
    release(engine, job,
            unit == (double)(job->resource - job->from) ? job->from : 0, keep);
}
