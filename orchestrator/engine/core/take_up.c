/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/take_up.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/engine/core/chain.h"
#include "orchestrator/engine/core/metric.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/job/retry.h"
#include "orchestrator/steps/step_records.h"

/*
 * A job comes into memory in two steps. First its row makes it, and it goes to
 * a list. Then its attempts are read in order: each end uses up a retry, scales
 * what the next one has, or is a link of its chain, as it was when it was
 * settled; an attempt without an end is the current one. Of the metrics those
 * count that came after the last attempt that its user had superseded.
 *
 * Whoever calls this holds the job: nobody looks for it in a list.
 */

/* The record knows the wall clock alone, which may have been put anywhere
 * since: nobody waits longer than a rule says. */
static int64_t remaining_ms(const struct job_spec *spec, int64_t due_ms)
{
    int64_t left_ms = due_ms - clock_wall_ms();
    int64_t longest_ms = retry_delay_ms(&retry_default, retry_default.max, 1);

    for (size_t i = 0; i < spec->retry_count; i++) {
        const struct retry_rule *rule = &spec->retries[i];
        int64_t ms = retry_delay_ms(rule, rule->max, 1);

        if (ms > longest_ms)
            longest_ms = ms;
    }
    return left_ms < longest_ms ? left_ms : longest_ms;
}

static void place(struct taking_up *taking_up, struct job *job,
                  const struct trial_row *row)
{
    struct engine *engine = taking_up->engine;

    if (job->state != JOB_WAITING) {
        TAILQ_INSERT_TAIL(&engine->queues.ready, job, link);
        return;
    }
    job->due_ms = clock_monotonic_ms() + remaining_ms(job->spec, row->due_ms);
    engine_wait(engine, job);
}

static void take_up_cancel(struct engine *engine, struct job *job,
                           const struct trial_row *row)
{
    if (row->cancel_asked == 0)
        return;
    job->wish = WISH_CANCEL;
    job->is_ended_by_step = row->cancel_asked == CANCEL_BY_STEP;
    engine->queues.cancel_count++;
}

struct job *taking_up_trial(struct taking_up *taking_up,
                            const struct trial_row *row, enum job_state state)
{
    struct engine *engine = taking_up->engine;
    struct job *job = engine_create_trial(engine, row->number);

    job->id = row->job;
    job->state = state;
    job->is_scheduled = row->resource > 0;
    take_up_cancel(engine, job, row);
    job->resource = row->resource;
    job->parent = row->parent;
    if (engine->experiment->schedule.is_on && !job->is_scheduled)
        job->resource = (int64_t)engine->experiment->schedule.options.max;
    memcpy(job->point, taking_up->point,
           space_count(engine->experiment->space) * sizeof(*job->point));
    place(taking_up, job, row);
    return job;
}

struct job *taking_up_job(struct taking_up *taking_up,
                          const struct trial_row *row, enum job_state state)
{
    struct job *job =
        engine_create_job(taking_up->engine, (size_t)row->step, row->number);

    job->id = row->job;
    job->state = state;
    job->copy = row->copy;
    job->round = row->round;
    take_up_cancel(taking_up->engine, job, row);
    job->cache_key =
        row->cache_key != NULL ? mem_copy_string(row->cache_key) : NULL;
    if (step_text_parse(taking_up->engine->run->workflow, (size_t)row->step,
                        row->rounds, &job->rounds, taking_up->err) != 0) {
        job_destroy(job);
        return NULL;
    }
    place(taking_up, job, row);
    return job;
}

/* ---- attempts and metrics ---- */

static void follow_link(struct job *job, const struct attempt_row *row)
{
    struct attempt_exit exit;
    const struct link_end end = {&exit, job->resources.time_ms,
                                 row->checkpoint};
    char why[LINKS_TEXT_MAX];

    if (links_read_exit(row, &exit) != 0)
        return;
    engine_follow_reserves(job, &exit);
    if (job->link_rule != NULL)
        links_end(&job->links, job->link_rule, &end, why);
}

static void count_free_start(struct job *job, const struct attempt_row *row)
{
    struct attempt_exit exit;

    if (links_read_exit(row, &exit) == 0)
        retry_free_start(&exit, &job->free_starts);
}

/* An attempt of a trial that is not over: counts its retry and scales what the
 * next one has, or, when it has no end yet, makes it the trial's current one.
 */
static int on_attempt(void *user, const struct attempt_row *row)
{
    struct taking_up *taking_up = user;
    struct job *job = taking_up->trial;
    const struct job_spec *spec = job->spec;
    const struct retry_machine machine = {executor_cpus(job->executor),
                                          executor_gpus(job->executor)};
    int64_t index = row->rule - taking_up->engine->run->retry_base;

    job->attempt_number = row->number;
    job->was_cancelled =
        row->cause != NULL &&
        strcmp(row->cause, attempt_cause_names[CAUSE_CANCELLED]) == 0;
    if (row->started_ms > 0 && row->ended_ms > row->started_ms)
        job->ran_ms += row->ended_ms - row->started_ms;
    if (row->cause != NULL && row->number > taking_up->superseded.attempts)
        follow_link(job, row);
    if (row->number <= taking_up->superseded.attempts_succeeded)
        taking_up->last_attempt = row->id;
    taking_up->ended_ms = row->ended_ms;
    if (row->cause != NULL && row->number > taking_up->superseded.attempts)
        count_free_start(job, row);
    if (row->cause == NULL) {
        job->attempt = row->id;
        job->started_ms = row->started_ms;
        job->from = row->resource_from;
        snprintf(job->handle, sizeof(job->handle), "%s",
                 row->handle != NULL ? row->handle : "");
        snprintf(job->node, sizeof(job->node), "%s",
                 row->node != NULL ? row->node : "");
    } else if (row->number > taking_up->superseded.attempts && row->rule >= 0 &&
               index >= 0 && index <= (int64_t)spec->retry_count) {
        const struct retry_rule *rule =
            retry_rule_at(spec->retries, spec->retry_count, (int)index);

        if (job->retries_used[index] >= rule->max)
            return 0;
        job->retries_used[index]++;
        retry_scale(rule, &machine, &job->resources, &taking_up->said);
        if (rule->excludes_node && row->node != NULL)
            job_avoid(job, row->node);
    }
    return 0;
}

static int on_metric(void *user, const struct metric_row *row)
{
    struct taking_up *taking_up = user;

    engine_see_step(taking_up->engine, taking_up->trial, row->name, row->step);
    if (row->attempt == taking_up->trial->attempt)
        engine_reach(taking_up->engine, taking_up->trial, row->name, row->step);
    if (row->attempt > taking_up->last_attempt) {
        struct job_curve *curve =
            job_add_metric(taking_up->trial, taking_up->engine->experiment,
                           row->name, row->value);

        if (curve != NULL)
            curve_count(curve, row->value);
    }
    return 0;
}

/* The due time is by the wall clock. Where that was set back meanwhile, the
 * retry waits no longer than it was to wait when its attempt ended. */
static void bound_wait(struct job *job, int64_t ended_ms)
{
    int64_t left_ms = job->due_ms - clock_monotonic_ms();
    int64_t all_ms = clock_wall_ms() + left_ms - ended_ms;

    if (left_ms > all_ms)
        job->due_ms -= left_ms - all_ms;
}

int taking_up_rest(struct taking_up *taking_up, struct job *job)
{
    struct store *store = taking_up->engine->store;
    int64_t run = taking_up->engine->run->id;

    taking_up->trial = job;
    taking_up->last_attempt = 0;
    taking_up->engine->queues.running_count += job->state == JOB_RUNNING;
    if (store_sum_superseded(store, run, job->number, &taking_up->superseded,
                             taking_up->err) != 0 ||
        store_each_attempt(store, run, job->id, on_attempt, taking_up,
                           taking_up->err) != 0 ||
        taking_up->engine->source->locate(taking_up->engine, job,
                                          taking_up->err) != 0 ||
        store_each_metric(store, job->id, on_metric, taking_up,
                          taking_up->err) != 0)
        return -1;
    job->is_reopened = taking_up->superseded.count > 0;
    job->runs_again = taking_up->superseded.succeeded > 0;
    taking_up->engine->queues.reopened_count += job->is_reopened;
    if (job->state == JOB_WAITING)
        bound_wait(job, taking_up->ended_ms);
    return 0;
}

/* ---- a single one ---- */

static int on_taken_up(void *user, const struct trial_row *row)
{
    struct taking_up *taking_up = user;

    taking_up->trial =
        taking_up->engine->source->take_up(taking_up, row, taking_up->state);
    return taking_up->trial != NULL ? 0 : -1;
}

struct job *engine_take_up(struct engine *engine, int64_t number,
                           enum job_state state, struct err *err)
{
    struct taking_up taking_up = {
        .engine = engine,
        .err = err,
        .state = state,
        .point = mem_array(space_count(engine->experiment->space),
                           sizeof(*taking_up.point)),
    };
    struct trial_query query = {.run = engine->run->id, .number = number};
    int result =
        store_each_trial(engine->store, &query, on_taken_up, &taking_up, err);

    if (result == 0)
        result = taking_up_rest(&taking_up, taking_up.trial);
    buf_clear(&taking_up.said);
    free(taking_up.point);
    return result == 0 ? taking_up.trial : NULL;
}
