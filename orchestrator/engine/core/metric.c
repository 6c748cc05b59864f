/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/metric.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/core/warn.h"
#include "orchestrator/job/metric_files.h"

/* A job keeps a bounded number of points; what is beyond that still counts for
 * its objectives (job/job.h, job/curve.h). */

static void record(struct engine *engine, const struct metric_new *row)
{
    struct err err;

    if (engine_begin(engine) && store_add_metric(engine->store, row, &err) != 0)
        engine_break(engine, &err);
}

void engine_keep_metric(struct engine *engine, struct job *job,
                        const struct metric_point *point)
{
    struct metric_new row = {.job = job->id,
                             .attempt = job->attempt,
                             .name = point->name,
                             .step = point->step,
                             .value = point->value};
    struct job_curve *curve =
        job_add_metric(job, engine->experiment, point->name, point->value);
    struct err err;

    if (curve == NULL)
        return;
    row.time_ms = clock_wall_ms();
    if (!curve_take(curve, &row))
        return;
    record(engine, &row);
    if (curve_thins(curve) && engine_begin(engine) &&
        store_thin_metric(engine->store, job->id, curve->name, &err) != 0)
        engine_break(engine, &err);
}

void engine_reserve_metrics(const struct engine *engine, struct job *job)
{
    const struct experiment *experiment = engine->experiment;

    for (size_t i = 0; i < experiment->objective_count; i++)
        metric_files_reserve(job->metric_files,
                             experiment->objectives[i].metric);
    for (size_t i = 0; i < experiment->outcome_count; i++)
        metric_files_reserve(job->metric_files, experiment->outcomes[i].metric);
}

static void tell_of_curve(struct engine *engine, const struct job *job,
                          const struct job_curve *curve)
{
    engine_warn_once(
        engine, &engine->has_told_of_curves,
        "trial %" PRId64 " reported %" PRId64
        " values of '%s': the record keeps %d at most, evenly, with the first, "
        "last, smallest and largest",
        job->number, curve->points, curve->name, CURVE_MAX_POINTS);
}

static void tell_of_names(struct engine *engine, const struct job *job,
                          int64_t left_out)
{
    engine_warn_once(
        engine, &engine->has_told_of_names,
        "trial %" PRId64 " reported more than %d metrics: %" PRId64
        " values of others are not in the record (`trial.metrics` names those "
        "to keep)",
        job->number, JOB_MAX_CURVES, left_out);
}

static void tell_of_several(struct engine *engine, const struct job *job,
                            const struct metric_several *several)
{
    if (several->left_out > 0)
        engine_warn_once(
            engine, &engine->has_told_of_several,
            "trial %" PRId64 ": several processes print '%s': the values of "
            "rank 0 count, %" PRId64 " of rank %" PRId64 " or another do not",
            job->number, several->name, several->left_out, several->other_rank);
    else
        engine_warn_once(
            engine, &engine->has_told_of_several,
            "trial %" PRId64 " reported two values of '%s' at step %g (%g, %g),"
            " as several processes do, and the last one counts: let only rank "
            "0 print it, or begin its lines with [rank N]",
            job->number, several->name, several->step, several->replaced,
            several->value);
}

void engine_finish_metrics(struct engine *engine, struct job *job)
{
    int64_t left_out = job->points_left_out;
    struct metric_several several;

    if (job->metric_files != NULL) {
        left_out += metric_files_left_out(job->metric_files);
        if (metric_files_several(job->metric_files, &several))
            tell_of_several(engine, job, &several);
    }
    for (size_t i = 0; i < job->curve_count; i++) {
        struct job_curve *curve = &job->curves[i];
        const struct metric_new *held;

        while ((held = curve_release(curve)) != NULL)
            record(engine, held);
        if (curve->stride > 1)
            tell_of_curve(engine, job, curve);
    }
    if (left_out > 0)
        tell_of_names(engine, job, left_out);
    job->points_left_out = 0;
}

/* In units of a resource that no number of steps exceeds by much. */
static int64_t units_of(const struct job *job, double step)
{
    double units = floor(step) + job->begins_at_zero;

    return units < (double)job->resource ? (int64_t)units : job->resource;
}

bool engine_see_step(const struct engine *engine, struct job *job,
                     const char *name, double step)
{
    const struct schedule *schedule = &engine->experiment->schedule;

    if (!schedule->is_on ||
        strcmp(name,
               engine->experiment->objectives[schedule->objective].metric) != 0)
        return false;
    if (step == 0.0)
        job->begins_at_zero = true;
    return true;
}

void engine_reach(const struct engine *engine, struct job *job,
                  const char *name, double step)
{
    int64_t units;

    if (!engine_see_step(engine, job, name, step))
        return;
    units = units_of(job, step);
    if (units > job->reached)
        job->reached = units;
}
