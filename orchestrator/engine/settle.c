/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/engine_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/job/checkpoint_hash.h"
#include "orchestrator/job/retry.h"
#include "orchestrator/job/watch.h"
#include "orchestrator/spec/outcome.h"

/* What a rule may look at: what a trial dies of it says last. */
enum { RETRY_LOG_BYTES = 256 << 10 };

struct reader {
    struct engine *engine;
    struct trial *trial;
};

static void on_metric(void *user, const char *name, int64_t step, double value)
{
    struct reader *reader = user;
    struct engine *engine = reader->engine;
    struct trial *trial = reader->trial;
    struct err err;

    if (!engine_schedule_follow(engine, trial, name, step))
        return;
    if (trial_add_metric(trial, engine->experiment, name, value) &&
        engine_begin(engine) &&
        store_add_metric(engine->store,
                         &(struct metric_new){.job = trial->job,
                                              .attempt = trial->attempt,
                                              .name = name,
                                              .step = step,
                                              .value = value,
                                              .time_ms = clock_wall_ms()},
                         &err) != 0)
        engine_break(engine, &err);
    engine_schedule_decide(engine, trial);
}

static void add_text(struct attempt_exit *end, const char *text)
{
    size_t used = strlen(end->text);

    snprintf(end->text + used, sizeof(end->text) - used, "%s%s",
             used > 0 ? "; " : "", text);
}

/* Adds what the next attempt will have to what is said of this one's end. */
static void scale_resources(struct trial *trial, const struct retry_rule *rule)
{
    const struct retry_machine machine = {executor_cpus(trial->executor),
                                          executor_gpus(trial->executor)};
    struct buf next = BUF_INIT, text = BUF_INIT;

    retry_scale(rule, &machine, &trial->resources, &next);
    if (next.length > 0) {
        buf_printf(&text, "next: %s", buf_text(&next));
        add_text(&trial->end, buf_text(&text));
    }
    buf_clear(&next);
    buf_clear(&text);
}

/* Whether a rule gives this end another try, and when. */
static bool schedule_retry(struct engine *engine, struct trial *trial,
                           const struct buf *log)
{
    const struct task *task = trial->task;
    const struct retry_evidence evidence = {&trial->end, buf_text(log),
                                            log->length};
    int index = retry_match(task, &evidence);
    const struct retry_rule *rule;

    trial->retry_rule = index;
    if (index < 0)
        return false;
    rule = retry_rule_at(task->retries, task->retry_count, index);
    if (trial->retries_used[index] >= rule->max)
        return false;
    trial->wait_ms = retry_wait_ms(rule, engine->experiment->search.seed,
                                   trial->number, ++trial->retries_used[index]);
    trial->due_ms = clock_monotonic_ms() + trial->wait_ms;
    scale_resources(trial, rule);
    if (rule->excludes_node && trial->end.node[0] != '\0')
        trial_avoid(trial, trial->end.node);
    return true;
}

/* What comes of an end that has failed the job, in itself. */
static enum job_event find_another(struct engine *engine, struct trial *trial,
                                   enum link_verdict verdict, const char *why,
                                   const struct buf *log)
{
    switch (verdict) {
    case LINK_FOLLOWS:
        return EVENT_LINKED;
    case LINK_DENIED:
        add_text(&trial->end, why);
        return EVENT_FAILED;
    case LINK_NONE:
        break;
    }
    return schedule_retry(engine, trial, log) ? EVENT_RETRY : EVENT_FAILED;
}

/* checkpoint: as struct link_end's. */
static enum job_event decide(struct engine *engine, struct trial *trial,
                             const char *checkpoint, const struct buf *log)
{
    const struct link_end end = {&trial->end, trial->resources.time_ms,
                                 checkpoint};
    enum job_event event = trial_judge_end(&trial->end, trial->wish);
    enum link_verdict verdict = LINK_NONE;
    char why[LINKS_TEXT_MAX] = "";
    bool is_displaced = retry_is_displaced(&trial->end, &trial->displaced);

    trial->retry_rule = -1;
    if (trial->link_rule != NULL)
        verdict = links_end(&trial->links, trial->link_rule, &end, why);
    if (event != EVENT_FAILED)
        return event;
    return is_displaced && verdict == LINK_NONE
               ? EVENT_DISPLACED
               : find_another(engine, trial, verdict, why, log);
}

static void follow_durations(struct engine *engine,
                             const struct attempt_exit *end)
{
    double duration_ms = (double)(end->ended_ms - end->started_ms);

    if (trial_had_no_chance(end)) {
        engine_hold(engine, end->text);
    } else if (end->cause == CAUSE_LAUNCH_ERROR && !end->is_displaced) {
        engine->launch_errors++;
        memcpy(engine->launch_error, end->text, sizeof(engine->launch_error));
    } else if (!end->is_displaced) {
        engine->launch_errors = 0;
    }
    if (end->started_ms == 0 || duration_ms < 0)
        return;
    if (isnan(engine->mean_attempt_ms))
        engine->mean_attempt_ms = duration_ms;
    engine->mean_attempt_ms += 0.1 * (duration_ms - engine->mean_attempt_ms);
}

static void note_beginning(struct trial *trial)
{
    struct attempt_exit *end = &trial->end;

    if (trial->has_lost_checkpoint && end->text[0] == '\0')
        snprintf(end->text, sizeof(end->text),
                 "it began again from nothing: no checkpoint was left");
}

/* What a link's end has among its checkpoints, which the next link may have
 * written to meanwhile; the caller frees. */
static char *hash_checkpoint(const struct engine *engine,
                             const struct trial *trial)
{
    char *directory, *hash;

    if (trial->link_rule == NULL || trial->end.started_ms == 0)
        return NULL;
    if (engine_is_overtaken(engine, trial))
        return mem_copy_string(LINKS_UNSEEN);
    directory =
        workspace_checkpoint_directory(engine->run->directory, trial->number);
    hash = checkpoint_hash(directory);
    free(directory);
    return hash;
}

/* The trial, which is in no list, goes to settled. checkpoint: as struct
 * link_end's. log: what retry rules look at, or empty. */
static void settle_as(struct engine *engine, struct trial *trial,
                      const char *checkpoint, const struct buf *log)
{
    struct attempt_exit *end = &trial->end;
    enum job_event event;
    struct attempt_end row;
    struct err err;

    follow_durations(engine, end);
    note_beginning(trial);
    engine_follow_reserves(trial, end);
    event = decide(engine, trial, checkpoint, log);
    row = (struct attempt_end){
        .run = engine->run->id,
        .job = trial->job,
        .attempt = trial->attempt,
        .cause = attempt_cause_names[end->cause],
        .exit_code = end->exit_code,
        .signal = end->signal,
        .started_ms = end->started_ms,
        .ended_ms = end->ended_ms,
        .cpu_ms = end->cpu_ms,
        .max_rss_bytes = end->max_rss_bytes,
        .text = end->text[0] != '\0' ? end->text : NULL,
        .rule = trial->retry_rule,
        .resource_used = engine_schedule_used(engine, trial, event),
        .checkpoint = checkpoint,
        .node = end->node[0] != '\0' ? end->node : NULL,
        .is_displaced = end->is_displaced,
    };
    TAILQ_INSERT_TAIL(&engine->settled, trial, link);
    if (!engine_begin(engine))
        return;
    if (store_end_attempt(engine->store, &row, &err) != 0) {
        engine_break(engine, &err);
        return;
    }
    engine->tally.resource_used += row.resource_used;
    event = engine_schedule_end(engine, trial, event);
    if (engine_change_trial(engine, trial, event, row.cause) &&
        job_is_final(trial->state)) {
        engine_account_ended(engine, trial, false);
        engine_announce_ended(engine, trial);
    }
    /* at once, so that the trials of this transaction have its folder */
    if (job_is_final(trial->state) || trial->state == JOB_PAUSED)
        workspace_release(engine->workspaces, trial->number,
                          trial->attempt_number);
}

static void settle(struct engine *engine, struct trial *trial,
                   const struct buf *log)
{
    char *checkpoint = hash_checkpoint(engine, trial);

    settle_as(engine, trial, checkpoint, log);
    free(checkpoint);
}

void engine_settle_unstarted(struct engine *engine, struct trial *trial,
                             const struct err *why)
{
    trial->end = (struct attempt_exit){
        .attempt = trial->attempt,
        .cause = why != NULL ? CAUSE_LAUNCH_ERROR : CAUSE_CANCELLED,
        .exit_code = -1,
        .ended_ms = clock_wall_ms(),
        .is_shortage = why != NULL && why->kind == ERR_SHORTAGE,
    };
    if (why != NULL)
        snprintf(trial->end.text, sizeof(trial->end.text), "%.*s",
                 (int)sizeof(trial->end.text) - 1, why->text);
    settle(engine, trial, &(struct buf)BUF_INIT);
}

/* What a trial said is not known: nothing may be concluded from that. */
static void put_off(struct engine *engine, const struct err *err)
{
    if (err->kind == ERR_SHORTAGE)
        engine_hold(engine, err->text);
    else
        engine_break(engine, err);
}

/* It ended well, but without a metric of the file: perhaps under another
 * name. */
static void tell_missing_metric(struct trial *trial, const char *metric)
{
    struct attempt_exit *end = &trial->end;
    struct buf text = BUF_INIT;

    end->cause = CAUSE_NO_METRIC;
    buf_printf(&text, "it never said '%s'", metric);
    for (size_t i = 0; i < trial->curve_count; i++)
        buf_printf(&text, "%s'%s'", i == 0 ? ", but " : ", ",
                   trial->curves[i].name);
    snprintf(end->text, sizeof(end->text), "%.*s", (int)sizeof(end->text) - 1,
             buf_text(&text));
    buf_clear(&text);
}

/* Whether it ended well, by what it said and made: 1 when that is known, 0
 * where what it made is hashed first, -1 where it cannot be read now. */
static int judge_ended(struct engine *engine, struct trial *trial,
                       struct err *err)
{
    struct reader reader = {engine, trial};
    const struct attempt_exit *end = &trial->end;
    const char *missing;

    watch_finish(trial->watch, on_metric, &reader);
    if (engine->steps != NULL)
        steps_judge(engine->steps, trial);
    missing = trial_missing_metric(trial, engine->experiment);
    if (end->cause == CAUSE_OK && missing != NULL)
        tell_missing_metric(trial, missing);
    if (end->cause == CAUSE_OK && engine->steps != NULL &&
        engine_steps_finish(engine, trial, err) != 0)
        return -1;
    return end->cause != CAUSE_OK || !engine_cache_seal(engine, trial);
}

/* All that the trial said has been read. -1 where what it made, or a retry rule
 * wants to know, cannot be had now. */
static int settle_ended(struct engine *engine, struct trial *trial,
                        struct err *err)
{
    const struct attempt_exit *end = &trial->end;
    struct buf log = BUF_INIT;
    int result = 1;

    if (trial->seal == SEAL_NONE)
        result = judge_ended(engine, trial, err);
    if (result <= 0)
        return result;
    result = 0;
    if (retry_wants_log(trial->task->retries, trial->task->retry_count, end))
        result = watch_read_log_end(trial->watch, RETRY_LOG_BYTES, &log, err);
    if (result == 0) {
        engine_untrack_live(engine, trial);
        settle(engine, trial, &log);
    }
    buf_clear(&log);
    return result;
}

/* Reads on, once the trial has started; settles it when it has ended and all is
 * read. Else it goes to its place among the live ones: first where there is
 * more, last where not. */
static void read_trial(struct engine *engine, struct trial *trial)
{
    struct reader reader = {engine, trial};
    struct err err;
    int more = 0;

    if (trial->state == JOB_RUNNING || trial->has_ended)
        more = watch_read(trial->watch, on_metric, &reader, &err);
    if (trial->has_ended && more == 0 && trial->seal != SEAL_WAITS) {
        more = settle_ended(engine, trial, &err);
        if (more == 0 && trial->seal != SEAL_WAITS)
            return;
    }
    if (more < 0)
        put_off(engine, &err);
    trial->has_more = more > 0;
    TAILQ_REMOVE(&engine->live, trial, link);
    if (trial->has_more)
        TAILQ_INSERT_HEAD(&engine->live, trial, link);
    else
        TAILQ_INSERT_TAIL(&engine->live, trial, link);
}

void engine_settle_sealed(struct engine *engine, struct trial *trial)
{
    read_trial(engine, trial);
}

static bool has_more(const struct engine *engine)
{
    const struct trial *first = TAILQ_FIRST(&engine->live);

    return first != NULL && first->has_more;
}

bool engine_read_on(struct engine *engine)
{
    struct trial *trial, *next;

    for (trial = TAILQ_FIRST(&engine->live); trial != NULL && trial->has_more;
         trial = next) {
        next = TAILQ_NEXT(trial, link);
        read_trial(engine, trial);
    }
    return has_more(engine);
}

bool engine_read_trials(struct engine *engine, int64_t count)
{
    struct trial *trial = TAILQ_FIRST(&engine->live), *next;

    while (trial != NULL && trial->has_more)
        trial = TAILQ_NEXT(trial, link);
    for (; trial != NULL && count > 0; trial = next, count--) {
        next = TAILQ_NEXT(trial, link);
        read_trial(engine, trial);
    }
    return has_more(engine);
}

void engine_on_ended(void *user, const struct attempt_exit *end)
{
    struct engine *engine = user;
    struct trial *trial = engine_find_live(engine, end->attempt);
    const struct attempt_place place = {0, end->node, ""};

    if (trial == NULL || trial->has_ended)
        return;
    engine_log_exit(engine, trial, end);
    if (end->started_ms > 0)
        engine_on_started(engine, end->attempt, &place); /* if not known yet */
    trial->end = *end;
    if (end->started_ms == 0 && trial->state == JOB_RUNNING)
        trial->end.started_ms = trial->started_ms;
    if (end->node[0] == '\0')
        memcpy(trial->end.node, trial->node, sizeof(trial->node));
    trial->has_ended = true;
    read_trial(engine, trial);
    if (trial->has_more)
        engine_keep_reading(engine);
}

/* values[objective_count] are the trial's. */
static struct engine_trial describe(const struct engine *engine,
                                    const struct trial *trial,
                                    const double *values)
{
    const struct experiment *experiment = engine->experiment;
    const struct attempt_exit *end = &trial->end;
    const struct step *step =
        trial->step >= 0 ? &engine->run->workflow->steps[trial->step] : NULL;

    return (struct engine_trial){
        .number = trial->number,
        .step = step != NULL ? step->name : NULL,
        .copy = step != NULL && (step->axis_count > 0 || step->copies > 1)
                    ? trial->copy
                    : -1,
        .round = trial->round,
        .state = job_state_names[trial->state],
        .cause = trial->attempt_number > 0 || trial->step < 0
                     ? attempt_cause_names[end->cause]
                     : NULL,
        .text = end->text,
        .values = values,
        .outcomes = trial->outcomes,
        .point = trial->point,
        .resource = trial->reached > 0 ? trial->reached : trial->paused_at,
        .duration_ms =
            end->started_ms > 0 ? end->ended_ms - end->started_ms : 0,
        .is_best = trial->is_new_best,
        .is_feasible =
            outcome_violation(experiment->outcomes, experiment->outcome_count,
                              trial->outcomes) <= 0.0,
        .will_retry = trial->state == JOB_WAITING,
    };
}

static void report(struct engine *engine, const struct trial *trial)
{
    double *values = trial_objectives(trial, engine->experiment);
    struct engine_trial told = describe(engine, trial, values);

    engine_tell_trial(engine, &told);
    free(values);
}

void engine_report_promoted(struct engine *engine, struct trial *trial)
{
    double *values = trial_objectives(trial, engine->experiment);
    struct engine_trial told = describe(engine, trial, values);

    told.state = job_event_names[EVENT_PROMOTED];
    told.resource = trial->resource;
    engine_tell_trial(engine, &told);
    trial->is_promoted = false;
    free(values);
}

/* Back to where a trial is that has yet to start. */
static void forget_attempt(struct trial *trial)
{
    watch_destroy(trial->watch);
    trial->watch = NULL;
    trial->attempt = 0;
    trial->handle[0] = trial->node[0] = '\0';
    trial->has_ended = trial->is_adopted = false;
    trial->has_lost_checkpoint = false;
    trial->wish = WISH_NONE;
}

void engine_report_settled(struct engine *engine)
{
    struct trial *trial;

    while ((trial = TAILQ_FIRST(&engine->settled)) != NULL) {
        TAILQ_REMOVE(&engine->settled, trial, link);
        if (trial->state != JOB_READY)
            report(engine, trial);
        forget_attempt(trial);
        if (trial->state == JOB_WAITING)
            engine_wait(engine, trial);
        else if (trial->state == JOB_READY)
            TAILQ_INSERT_TAIL(&engine->ready, trial, link);
        else
            trial_destroy(trial);
    }
    if (engine->phase != PHASE_RUNNING)
        engine_end_idle(engine);
}
