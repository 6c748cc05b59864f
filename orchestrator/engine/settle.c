/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/settle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/engine/core/announce.h"
#include "orchestrator/engine/core/chain.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/shortage.h"
#include "orchestrator/engine/core/source.h"
#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/report.h"
#include "orchestrator/job/checkpoint_hash.h"
#include "orchestrator/job/retry.h"
#include "orchestrator/job/watch.h"

/*
 * An attempt's end is one change of its job's state: over, waiting for a retry,
 * ready for its next link, or paused. What decides is in pure functions
 * (job/retry.h, job/links.h, job/trial.h), which replay asks, too. A settled
 * job is reported and moved on after the commit.
 */

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
        engine->wind_up.launch_errors++;
        memcpy(engine->wind_up.launch_error, end->text,
               sizeof(engine->wind_up.launch_error));
    } else if (!end->is_displaced) {
        engine->wind_up.launch_errors = 0;
    }
    if (end->started_ms == 0 || duration_ms < 0)
        return;
    if (isnan(engine->clocks.mean_attempt_ms))
        engine->clocks.mean_attempt_ms = duration_ms;
    engine->clocks.mean_attempt_ms +=
        0.1 * (duration_ms - engine->clocks.mean_attempt_ms);
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
        .checkpoint = checkpoint,
        .node = end->node[0] != '\0' ? end->node : NULL,
        .is_displaced = end->is_displaced,
    };
    TAILQ_INSERT_TAIL(&engine->queues.settled, trial, link);
    event = engine->source->end_attempt(engine, trial, event, &row);
    if (engine->transaction.is_broken)
        return;
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

void engine_settle(struct engine *engine, struct trial *trial,
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
    engine_settle(engine, trial, &(struct buf)BUF_INIT);
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

void engine_release_settled(struct engine *engine)
{
    struct trial *trial;

    while ((trial = TAILQ_FIRST(&engine->queues.settled)) != NULL) {
        TAILQ_REMOVE(&engine->queues.settled, trial, link);
        if (trial->state != JOB_READY)
            engine_report_trial(engine, trial);
        forget_attempt(trial);
        if (trial->state == JOB_WAITING)
            engine_wait(engine, trial);
        else if (trial->state == JOB_READY)
            TAILQ_INSERT_TAIL(&engine->queues.ready, trial, link);
        else
            trial_destroy(trial);
    }
}
