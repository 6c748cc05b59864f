/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/job/launch.h"
#include "orchestrator/job/watch.h"
#include "store/store.h"

struct trial *trial_create(const struct experiment *experiment,
                           const struct task *task, int64_t number)
{
    struct trial *trial = mem_zero(sizeof(*trial));
    size_t objectives = experiment->objective_count;
    size_t outcomes = experiment->outcome_count;

    trial->number = number;
    trial->step = -1;
    trial->state = JOB_READY;
    trial->task = task;
    trial->resources = task->resources;
    trial->point =
        mem_array(space_count(experiment->space), sizeof(*trial->point));
    trial->retries_used =
        mem_array(task->retry_count + 1, sizeof(*trial->retries_used));
    trial->said = mem_array(objectives, sizeof(*trial->said));
    trial->last = mem_array(objectives, sizeof(*trial->last));
    trial->best = mem_array(objectives, sizeof(*trial->best));
    for (size_t i = 0; i < objectives; i++)
        trial->last[i] = trial->best[i] = NAN;
    trial->outcomes = mem_array(outcomes, sizeof(*trial->outcomes));
    trial->outcomes_said = mem_array(outcomes, sizeof(*trial->outcomes_said));
    for (size_t i = 0; i < outcomes; i++)
        trial->outcomes[i] = NAN;
    return trial;
}

void trial_destroy(struct trial *trial)
{
    if (trial == NULL)
        return;
    launch_destroy(trial->launch);
    watch_destroy(trial->watch);
    for (size_t i = 0; i < trial->curve_count; i++)
        free(trial->curves[i].name);
    free(trial->curves);
    for (char **node = trial->avoid; node != NULL && *node != NULL; node++)
        free(*node);
    free(trial->avoid);
    json_decref(trial->rounds);
    json_decref(trial->outputs);
    free(trial->cache_key);
    free(trial->unshared);
    free(trial->point);
    free(trial->retries_used);
    free(trial->said);
    free(trial->last);
    free(trial->best);
    free(trial->outcomes);
    free(trial->outcomes_said);
    free(trial);
}

static void follow_objectives(struct trial *trial,
                              const struct experiment *experiment,
                              const char *name, double value)
{
    for (size_t i = 0; i < experiment->objective_count; i++) {
        const struct objective *objective = &experiment->objectives[i];
        double best = trial->best[i];

        if (strcmp(objective->metric, name) != 0)
            continue;
        trial->said[i] = true;
        trial->last[i] = value;
        if (isfinite(value) &&
            (isnan(best) ||
             (objective->maximize ? value > best : value < best)))
            trial->best[i] = value;
    }
}

static void follow_outcomes(struct trial *trial,
                            const struct experiment *experiment,
                            const char *name, double value)
{
    for (size_t i = 0; i < experiment->outcome_count; i++) {
        if (strcmp(experiment->outcomes[i].metric, name) != 0)
            continue;
        trial->outcomes_said[i] = true;
        trial->outcomes[i] = value;
    }
}

static struct trial_curve *find_curve(struct trial *trial, const char *name)
{
    struct trial_curve *curve;

    for (size_t i = 0; i < trial->curve_count; i++) {
        if (strcmp(trial->curves[i].name, name) == 0)
            return &trial->curves[i];
    }
    if (trial->curve_count == TRIAL_MAX_CURVES)
        return NULL;
    trial->curves = mem_resize(trial->curves, trial->curve_count + 1,
                               sizeof(*trial->curves));
    curve = &trial->curves[trial->curve_count++];
    *curve = (struct trial_curve){.name = mem_copy_string(name)};
    return curve;
}

bool trial_add_metric(struct trial *trial, const struct experiment *experiment,
                      const char *name, double value)
{
    struct trial_curve *curve;

    follow_objectives(trial, experiment, name, value);
    follow_outcomes(trial, experiment, name, value);
    curve = find_curve(trial, name);
    if (curve == NULL)
        return false;
    curve->last = value;
    return curve->points++ < TRIAL_MAX_POINTS;
}

double *trial_objectives(const struct trial *trial,
                         const struct experiment *experiment)
{
    double *values = mem_array(experiment->objective_count, sizeof(*values));

    for (size_t i = 0; i < experiment->objective_count; i++)
        values[i] = experiment->objectives[i].value == OBJECTIVE_BEST
                        ? trial->best[i]
                        : trial->last[i];
    return values;
}

bool trial_has_objectives(const struct trial *trial,
                          const struct experiment *experiment)
{
    for (size_t i = 0; i < experiment->objective_count; i++) {
        if (!trial->said[i])
            return false;
    }
    return true;
}

const char *trial_missing_metric(const struct trial *trial,
                                 const struct experiment *experiment)
{
    for (size_t i = 0; i < experiment->objective_count; i++) {
        if (!trial->said[i])
            return experiment->objectives[i].metric;
    }
    for (size_t i = 0; i < experiment->outcome_count; i++) {
        if (!trial->outcomes_said[i])
            return experiment->outcomes[i].metric;
    }
    return NULL;
}

void trial_avoid(struct trial *trial, const char *node)
{
    size_t count = 0;

    for (; trial->avoid != NULL && trial->avoid[count] != NULL; count++) {
        if (strcmp(trial->avoid[count], node) == 0)
            return;
    }
    trial->avoid = mem_resize(trial->avoid, count + 2, sizeof(*trial->avoid));
    trial->avoid[count] = mem_copy_string(node);
    trial->avoid[count + 1] = NULL;
}

bool trial_had_no_chance(const struct attempt_exit *end)
{
    return end->is_shortage &&
           (end->cause == CAUSE_LAUNCH_ERROR || end->cause == CAUSE_EXIT ||
            end->cause == CAUSE_NO_METRIC || end->cause == CAUSE_NO_OUTPUT);
}

/* However it took the signal. */
static bool was_told_to_end(const struct attempt_exit *end)
{
    return end->cause == CAUSE_CANCELLED || end->cause == CAUSE_EXIT ||
           end->cause == CAUSE_SIGNAL;
}

enum job_event trial_judge_end(const struct attempt_exit *end,
                               enum trial_wish wish)
{
    if (wish == WISH_GIVE_UP)
        return EVENT_STOPPED;
    if (end->cause == CAUSE_OK || (wish == WISH_PAUSE && was_told_to_end(end)))
        return EVENT_SUCCEEDED;
    if (trial_had_no_chance(end) && wish == WISH_NONE)
        return EVENT_INTERRUPTED;
    if (wish == WISH_STOP)
        return EVENT_STOPPED;
    if (end->cause == CAUSE_CANCELLED || wish == WISH_INTERRUPT)
        return EVENT_INTERRUPTED;
    return EVENT_FAILED;
}
