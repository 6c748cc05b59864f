/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/job/held_points.h"
#include "orchestrator/job/launch.h"
#include "orchestrator/job/metric_files.h"
#include "store/store.h"

struct job *job_create(const struct experiment *experiment,
                       const struct job_spec *spec, int64_t number)
{
    struct job *job = mem_zero(sizeof(*job));
    size_t objectives = experiment->objective_count;
    size_t outcomes = experiment->outcome_count;

    job->number = number;
    job->step = -1;
    job->state = JOB_READY;
    job->spec = spec;
    job->resources = spec->resources;
    job->point = mem_array(space_count(experiment->space), sizeof(*job->point));
    job->retries_used =
        mem_array(spec->retry_count + 1, sizeof(*job->retries_used));
    job->said = mem_array(objectives, sizeof(*job->said));
    job->last = mem_array(objectives, sizeof(*job->last));
    job->best = mem_array(objectives, sizeof(*job->best));
    for (size_t i = 0; i < objectives; i++)
        job->last[i] = job->best[i] = NAN;
    job->outcomes = mem_array(outcomes, sizeof(*job->outcomes));
    job->outcomes_said = mem_array(outcomes, sizeof(*job->outcomes_said));
    for (size_t i = 0; i < outcomes; i++)
        job->outcomes[i] = NAN;
    return job;
}

void job_destroy(struct job *job)
{
    if (job == NULL)
        return;
    launch_destroy(job->launch);
    metric_files_destroy(job->metric_files);
    held_points_destroy(job->held);
    for (size_t i = 0; i < job->curve_count; i++)
        curve_clear(&job->curves[i]);
    free(job->curves);
    for (char **node = job->avoid; node != NULL && *node != NULL; node++)
        free(*node);
    free(job->avoid);
    json_decref(job->rounds);
    json_decref(job->outputs);
    free(job->cache_key);
    free(job->held_for);
    free(job->cache_note);
    json_decref(job->cache_parts);
    free(job->unshared);
    free(job->point);
    free(job->retries_used);
    free(job->said);
    free(job->last);
    free(job->best);
    free(job->outcomes);
    free(job->outcomes_said);
    free(job);
}

bool job_is_cached(const struct job *job)
{
    return store_is_cache_hit(job->cached_from, job->cache_key);
}

static void follow_objectives(struct job *job,
                              const struct experiment *experiment,
                              const char *name, double value)
{
    for (size_t i = 0; i < experiment->objective_count; i++) {
        const struct objective *objective = &experiment->objectives[i];
        double best = job->best[i];

        if (strcmp(objective->metric, name) != 0)
            continue;
        job->said[i] = true;
        job->last[i] = value;
        if (isfinite(value) &&
            (isnan(best) ||
             (objective->maximize ? value > best : value < best)))
            job->best[i] = value;
    }
}

static void follow_outcomes(struct job *job,
                            const struct experiment *experiment,
                            const char *name, double value)
{
    for (size_t i = 0; i < experiment->outcome_count; i++) {
        if (strcmp(experiment->outcomes[i].metric, name) != 0)
            continue;
        job->outcomes_said[i] = true;
        job->outcomes[i] = value;
    }
}

static bool is_wanted(const struct experiment *experiment, const char *name)
{
    for (size_t i = 0; i < experiment->objective_count; i++)
        if (strcmp(experiment->objectives[i].metric, name) == 0)
            return true;
    for (size_t i = 0; i < experiment->outcome_count; i++)
        if (strcmp(experiment->outcomes[i].metric, name) == 0)
            return true;
    return false;
}

static struct job_curve *find_curve(struct job *job,
                                    const struct experiment *experiment,
                                    const char *name)
{
    uint32_t hash = text_hash(name, strlen(name));

    for (size_t i = 0; i < job->curve_count; i++) {
        if (job->curves[i].hash == hash &&
            strcmp(job->curves[i].name, name) == 0)
            return &job->curves[i];
    }
    if (job->curve_count >= JOB_MAX_CURVES && !is_wanted(experiment, name)) {
        job->points_left_out++;
        return NULL;
    }
    job->curves = mem_grow(job->curves, job->curve_count, &job->curve_capacity,
                           sizeof(*job->curves));
    curve_init(&job->curves[job->curve_count], name);
    return &job->curves[job->curve_count++];
}

struct job_curve *job_add_metric(struct job *job,
                                 const struct experiment *experiment,
                                 const char *name, double value)
{
    follow_objectives(job, experiment, name, value);
    follow_outcomes(job, experiment, name, value);
    return find_curve(job, experiment, name);
}

double *job_objectives(const struct job *job,
                       const struct experiment *experiment)
{
    double *values = mem_array(experiment->objective_count, sizeof(*values));

    for (size_t i = 0; i < experiment->objective_count; i++)
        values[i] = experiment->objectives[i].value == OBJECTIVE_BEST
                        ? job->best[i]
                        : job->last[i];
    return values;
}

bool job_has_objectives(const struct job *job,
                        const struct experiment *experiment)
{
    for (size_t i = 0; i < experiment->objective_count; i++) {
        if (!job->said[i])
            return false;
    }
    return true;
}

const char *job_missing_metric(const struct job *job,
                               const struct experiment *experiment)
{
    for (size_t i = 0; i < experiment->objective_count; i++) {
        if (!job->said[i])
            return experiment->objectives[i].metric;
    }
    for (size_t i = 0; i < experiment->outcome_count; i++) {
        if (!job->outcomes_said[i])
            return experiment->outcomes[i].metric;
    }
    return NULL;
}

void job_avoid(struct job *job, const char *node)
{
    size_t count = 0;

    for (; job->avoid != NULL && job->avoid[count] != NULL; count++) {
        if (strcmp(job->avoid[count], node) == 0)
            return;
    }
    job->avoid = mem_resize(job->avoid, count + 2, sizeof(*job->avoid));
    job->avoid[count] = mem_copy_string(node);
    job->avoid[count + 1] = NULL;
}

bool job_cause_is_no_metric(const char *cause)
{
    return cause != NULL &&
           strcmp(cause, attempt_cause_names[CAUSE_NO_METRIC]) == 0;
}

bool job_had_no_chance(const struct attempt_exit *end)
{
    return end->is_shortage &&
           (end->cause == CAUSE_LAUNCH_ERROR || end->cause == CAUSE_EXIT ||
            end->cause == CAUSE_NO_METRIC || end->cause == CAUSE_NO_OUTPUT ||
            end->cause == CAUSE_SETUP_FAILED);
}

/* However it took the signal. */
static bool was_told_to_end(const struct attempt_exit *end)
{
    return end->cause == CAUSE_CANCELLED || end->cause == CAUSE_EXIT ||
           end->cause == CAUSE_SIGNAL;
}

/* What an engine ends it starts again, an earlier one's orders included; what
 * others end is over. */
static enum job_event judge_cancelled(const struct attempt_exit *end,
                                      enum retry_free free_start)
{
    bool is_beyond = end->is_displaced && free_start == FREE_NONE;

    return end->is_outside || is_beyond ? EVENT_CANCELLED : EVENT_INTERRUPTED;
}

enum job_event job_judge_end(const struct attempt_exit *end, enum job_wish wish,
                             enum retry_free free_start)
{
    if (wish == WISH_GIVE_UP)
        return EVENT_STOPPED;
    if (end->cause == CAUSE_OK || (wish == WISH_PAUSE && was_told_to_end(end)))
        return EVENT_SUCCEEDED;
    if (wish == WISH_CANCEL)
        return EVENT_CANCELLED;
    if (free_start == FREE_SHORTAGE && wish == WISH_NONE)
        return EVENT_INTERRUPTED;
    if (wish == WISH_STOP)
        return EVENT_STOPPED;
    if (wish == WISH_INTERRUPT)
        return EVENT_INTERRUPTED;
    return end->cause == CAUSE_CANCELLED ? judge_cancelled(end, free_start)
                                         : EVENT_FAILED;
}
