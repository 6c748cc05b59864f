/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/settle.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/engine/core/announce.h"
#include "orchestrator/engine/core/chain.h"
#include "orchestrator/engine/core/metric.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/shortage.h"
#include "orchestrator/engine/core/source.h"
#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/report.h"
#include "orchestrator/job/checkpoint_hash.h"
#include "orchestrator/job/metric_files.h"
#include "orchestrator/job/retry.h"
#include "orchestrator/steps/checkpoint_torn.h"

/*
 * An attempt's end is one change of its job's state: over, waiting for a retry,
 * ready for its next link, or paused. What decides is in pure functions
 * (job/retry.h, job/links.h, job/job.h), which replay asks, too. A settled
 * job is reported and moved on after the commit.
 */

static void add_text(struct attempt_exit *end, const char *text)
{
    size_t used = strlen(end->text);

    snprintf(end->text + used, sizeof(end->text) - used, "%s%s",
             used > 0 ? "; " : "", text);
}

/* Adds what the next attempt will have to what is said of this one's end. */
static void scale_resources(struct job *job, const struct retry_rule *rule)
{
    const struct retry_machine machine = {executor_cpus(job->executor),
                                          executor_gpus(job->executor)};
    struct buf next = BUF_INIT, text = BUF_INIT;

    retry_scale(rule, &machine, &job->resources, &next);
    if (next.length > 0) {
        buf_printf(&text, "next: %s", buf_text(&next));
        add_text(&job->end, buf_text(&text));
    }
    buf_clear(&next);
    buf_clear(&text);
}

/* Whether a rule gives this end another try, and when. */
static bool schedule_retry(struct engine *engine, struct job *job,
                           const struct buf *log)
{
    const struct job_spec *spec = job->spec;
    const struct retry_evidence evidence = {&job->end, buf_text(log),
                                            log->length};
    int index = retry_match(spec, &evidence);
    const struct retry_rule *rule;

    job->retry_rule = index;
    if (index < 0)
        return false;
    rule = retry_rule_at(spec->retries, spec->retry_count, index);
    if (job->retries_used[index] >= rule->max)
        return false;
    job->wait_ms = retry_wait_ms(rule, engine->experiment->search.seed,
                                 job->number, ++job->retries_used[index]);
    job->due_ms = clock_monotonic_ms() + job->wait_ms;
    scale_resources(job, rule);
    if (rule->excludes_node && job->end.node[0] != '\0')
        job_avoid(job, job->end.node);
    return true;
}

/* What comes of an end that has failed the job, in itself. */
static enum job_event find_another(struct engine *engine, struct job *job,
                                   enum link_verdict verdict, const char *why,
                                   const struct buf *log)
{
    switch (verdict) {
    case LINK_FOLLOWS:
        return EVENT_LINKED;
    case LINK_DENIED:
        add_text(&job->end, why);
        return EVENT_FAILED;
    case LINK_NONE:
        break;
    }
    return schedule_retry(engine, job, log) ? EVENT_RETRY : EVENT_FAILED;
}

/* Why this end is for the retry rules, though others of its kind were not. */
static void note_bound(struct job *job, enum retry_free free_start)
{
    struct buf text = BUF_INIT;

    retry_print_free(&job->end, &job->free_starts, &text);
    if (text.length > 0 && free_start == FREE_NONE) {
        buf_add_string(&text, ": no more starts without a retry");
        add_text(&job->end, buf_text(&text));
    }
    buf_clear(&text);
}

/* The wish that it ends came too late: its attempt had failed by itself before
 * it was told to end, and nothing starts it again. */
static bool has_failed_before(const struct job *job, enum retry_free free_start,
                              enum link_verdict verdict, const struct buf *log)
{
    const struct job_spec *spec = job->spec;
    const struct retry_evidence evidence = {&job->end, buf_text(log),
                                            log->length};
    int index;

    if (job->wish != WISH_CANCEL || job->is_told_to_end ||
        job_judge_end(&job->end, WISH_NONE, free_start) != EVENT_FAILED ||
        verdict == LINK_FOLLOWS)
        return false;
    if (verdict == LINK_DENIED || free_start == FREE_DISPLACED)
        return verdict == LINK_DENIED;
    index = retry_match(spec, &evidence);
    return index < 0 ||
           job->retries_used[index] >=
               retry_rule_at(spec->retries, spec->retry_count, index)->max;
}

/* What is printed of a start that spends no retry. */
static void note_again(struct job *job, enum job_event event)
{
    struct buf text = BUF_INIT;

    if (event == EVENT_LINKED)
        buf_printf(&text, "link %" PRId64 " of %" PRId64, job->links.count,
                   job->link_rule->max);
    else if (event == EVENT_DISPLACED ||
             (event == EVENT_INTERRUPTED && job->wish == WISH_NONE))
        retry_print_free(&job->end, &job->free_starts, &text);
    snprintf(job->again, sizeof(job->again), "%.*s",
             (int)sizeof(job->again) - 1, buf_text(&text));
    buf_clear(&text);
}

/* checkpoint: as struct link_end's. */
static enum job_event decide(struct engine *engine, struct job *job,
                             const char *checkpoint, const struct buf *log)
{
    const struct link_end end = {&job->end, job->resources.time_ms, checkpoint};
    enum retry_free free_start = retry_free_start(&job->end, &job->free_starts);
    enum link_verdict verdict = LINK_NONE;
    char why[LINKS_TEXT_MAX] = "";
    enum job_event event;

    job->retry_rule = -1;
    if (job->link_rule != NULL)
        verdict = links_end(&job->links, job->link_rule, &end, why);
    if (has_failed_before(job, free_start, verdict, log))
        job->wish = WISH_NONE;
    event = job_judge_end(&job->end, job->wish, free_start);
    if (event == EVENT_CANCELLED && job->wish == WISH_NONE)
        return schedule_retry(engine, job, log) ? EVENT_RETRY : EVENT_CANCELLED;
    if (event != EVENT_FAILED)
        return event;
    note_bound(job, free_start);
    return free_start == FREE_DISPLACED && verdict == LINK_NONE
               ? EVENT_DISPLACED
               : find_another(engine, job, verdict, why, log);
}

static void follow_durations(struct engine *engine,
                             const struct attempt_exit *end)
{
    double duration_ms = (double)(end->ended_ms - end->started_ms);

    if (job_had_no_chance(end)) {
        engine_begin_shortage(engine, end->text);
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

static void note_beginning(struct job *job)
{
    struct attempt_exit *end = &job->end;

    if (job->has_lost_checkpoint && end->text[0] == '\0')
        snprintf(end->text, sizeof(end->text),
                 "it started again from the beginning: no checkpoint was "
                 "saved");
}

/* Whether the checkpoint is torn, which is said of the end then. */
static bool note_torn(struct job *job, const char *directory)
{
    const struct resources *resources = &job->resources;
    int ranks = resources->tasks > 1 ? resources->tasks : resources->gpus;
    char *torn = NULL;
    struct buf text = BUF_INIT;

    if (ranks > 1)
        torn = checkpoint_find_torn(directory, ranks, job->end.started_ms);
    if (torn == NULL)
        return false;
    buf_add_string(&text, "torn checkpoint: ");
    text_escape(torn, strlen(torn), &text);
    add_text(&job->end, buf_text(&text));
    buf_clear(&text);
    free(torn);
    return true;
}

/* What a link's end has among its checkpoints, which the next link may have
 * written to meanwhile; the caller frees. */
static char *hash_checkpoint(const struct engine *engine, struct job *job)
{
    char *directory, *hash;

    if (job->link_rule == NULL || job->end.started_ms == 0)
        return NULL;
    if (engine_is_overtaken(engine, job))
        return mem_copy_string(LINKS_UNSEEN);
    directory =
        workspace_checkpoint_directory(engine->run->directory, job->number);
    hash = checkpoint_hash(directory);
    if (hash != NULL &&
        links_is_by_time(
            job->link_rule,
            &(struct link_end){.exit = &job->end,
                               .time_ms = job->resources.time_ms}) &&
        note_torn(job, directory)) {
        free(hash);
        hash = mem_copy_string(LINKS_TORN);
    }
    free(directory);
    return hash;
}

/* The trial, which is in no list, goes to settled. checkpoint: as struct
 * link_end's. log: what retry rules look at, or empty. */
static void settle_as(struct engine *engine, struct job *job,
                      const char *checkpoint, const struct buf *log)
{
    struct attempt_exit *end = &job->end;
    enum job_event event;
    struct attempt_end row;

    follow_durations(engine, end);
    engine_finish_metrics(engine, job);
    note_beginning(job);
    engine_follow_reserves(job, end);
    event = decide(engine, job, checkpoint, log);
    note_again(job, event);
    row = (struct attempt_end){
        .run = engine->run->id,
        .job = job->id,
        .attempt = job->attempt,
        .cause = attempt_cause_names[end->cause],
        .exit_code = end->exit_code,
        .signal = end->signal,
        .started_ms = end->started_ms,
        .ended_ms = end->ended_ms,
        .cpu_ms = end->cpu_ms,
        .max_rss_bytes = end->max_rss_bytes,
        .has_gpu_use = end->has_gpu_use,
        .gpu_ms = end->gpu_ms,
        .gpu_memory_bytes = end->gpu_memory_bytes,
        .text = end->text[0] != '\0' ? end->text : NULL,
        .rule = job->retry_rule < 0
                    ? -1
                    : (int)engine->run->retry_base + job->retry_rule,
        .checkpoint = checkpoint,
        .node = end->node[0] != '\0' ? end->node : NULL,
        .is_displaced = end->is_displaced,
        .is_outside = end->is_outside,
        .is_shortage = job_had_no_chance(end),
    };
    TAILQ_INSERT_TAIL(&engine->queues.settled, job, link);
    event = engine->source->end_attempt(engine, job, event, &row);
    if (engine->transaction.is_broken)
        return;
    if (engine_change_trial(engine, job, event, row.cause) &&
        job_is_final(job->state)) {
        engine_tally_ended(engine, job, false);
        engine_announce_ended(engine, job);
    }
    /* at once, so that the trials of this transaction have its folder */
    if (job_is_final(job->state) || job->state == JOB_PAUSED)
        workspace_release(engine->workspaces, job->number, job->attempt_number);
}

void engine_settle(struct engine *engine, struct job *job,
                   const struct buf *log)
{
    char *checkpoint;

    if (job->link_rule != NULL)
        links_take_exit(job->link_rule, job->resources.time_ms, &job->end);
    checkpoint = hash_checkpoint(engine, job);
    settle_as(engine, job, checkpoint, log);
    free(checkpoint);
}

void engine_settle_unstarted(struct engine *engine, struct job *job,
                             const struct err *why)
{
    job->end = (struct attempt_exit){
        .attempt = job->attempt,
        .cause = why != NULL ? CAUSE_LAUNCH_ERROR : CAUSE_CANCELLED,
        .exit_code = -1,
        .ended_ms = clock_wall_ms(),
        .is_shortage = why != NULL && why->kind == ERR_SHORTAGE,
    };
    if (why != NULL)
        snprintf(job->end.text, sizeof(job->end.text), "%.*s",
                 (int)sizeof(job->end.text) - 1, why->text);
    engine_settle(engine, job, &(struct buf)BUF_INIT);
}

/* Back to where a trial is that has yet to start. */
static void forget_attempt(struct job *job)
{
    metric_files_destroy(job->metric_files);
    job->metric_files = NULL;
    job->attempt = 0;
    job->handle[0] = job->node[0] = '\0';
    job->has_ended = job->is_adopted = job->is_told_to_end = false;
    job->has_lost_checkpoint = false;
    job->overrun_ms = job->first_ms = job->value_count = 0;
    job->has_begun = false;
    job->wish = WISH_NONE;
}

void engine_release_settled(struct engine *engine)
{
    struct job *job;

    while ((job = TAILQ_FIRST(&engine->queues.settled)) != NULL) {
        bool is_cancelled =
            job->wish == WISH_CANCEL &&
            (job->state == JOB_WAITING || job->state == JOB_READY);

        TAILQ_REMOVE(&engine->queues.settled, job, link);
        if (job->state != JOB_READY || job->again[0] != '\0')
            engine_report_trial(engine, job);
        forget_attempt(job);
        if (is_cancelled) { /* since its attempt was settled */
            job->wish = WISH_CANCEL;
            engine->queues.cancel_count++;
        }
        if (job->state == JOB_WAITING)
            engine_wait(engine, job);
        else if (job->state == JOB_READY)
            TAILQ_INSERT_TAIL(&engine->queues.ready, job, link);
        else
            job_destroy(job);
    }
}
