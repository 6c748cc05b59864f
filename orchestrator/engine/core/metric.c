/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/metric.h"

#include <string.h>

#include "base/clock.h"
#include "orchestrator/engine/core/transaction.h"

/* A job keeps a bounded number of points; what is beyond that still counts for
 * its objectives (job/job.h). */

void engine_keep_metric(struct engine *engine, struct job *job,
                        const struct metric_point *point)
{
    struct metric_new row = {.job = job->id,
                             .attempt = job->attempt,
                             .name = point->name,
                             .step = point->step,
                             .value = point->value};
    struct err err;

    if (!job_add_metric(job, engine->experiment, point->name, point->value) ||
        !engine_begin(engine))
        return;
    row.time_ms = clock_wall_ms();
    if (store_add_metric(engine->store, &row, &err) != 0)
        engine_break(engine, &err);
}

void engine_reach(const struct engine *engine, struct job *job,
                  const char *name, int64_t step)
{
    const struct schedule *schedule = &engine->experiment->schedule;

    if (schedule->is_on && step > job->reached &&
        strcmp(name,
               engine->experiment->objectives[schedule->objective].metric) == 0)
        job->reached = step;
}
