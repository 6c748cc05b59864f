/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/metrics/near.h"
#include "orchestrator/engine/core/metric.h"
#include "orchestrator/engine/core/take_up.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/source/feedback.h"
#include "orchestrator/engine/source/recover_search.h"
#include "orchestrator/engine/source/suggest.h"
#include "orchestrator/job/launch_trial.h"
#include "orchestrator/job/metric_files.h"
#include "orchestrator/search/search.h"

/*
 * A run without a schedule: each trial has one setting and runs to its end. The
 * next trial is what the strategy suggests (suggest.c), and the strategy learns
 * of each end (feedback.c). Most slots have nothing to do; those of a search
 * with a schedule (schedule.c) are partly the same.
 */

/* ---- a session begins ---- */

int search_open(struct engine *engine, struct err *err)
{
    struct run *run = engine->run;

    engine->strategy =
        search_create_of_run(run->experiment, run->store, run->id, err);
    if (engine->strategy == NULL)
        return -1;
    engine->convergence = search_create_convergence(run->experiment);
    engine->looks_ahead = !strategy_learns(engine->strategy);
    return 0;
}

struct job *search_take_up(struct taking_up *taking_up,
                           const struct trial_row *row, enum job_state state)
{
    if (search_point(taking_up->engine->experiment->space, row,
                     taking_up->point, taking_up->err) != 0)
        return NULL;
    return taking_up_trial(taking_up, row, state);
}

static int search_locate(UNUSED const struct engine *engine,
                         UNUSED struct job *job, UNUSED struct err *err)
{
    return 0;
}

void search_taken_up(UNUSED struct engine *engine)
{
}

/* ---- jobs begin ---- */

/* Where nothing is to be had now, nothing will be: folders are better removed
 * while the last trials run than after them. */
static bool search_next(struct engine *engine)
{
    if (engine_suggest(engine, NULL, NULL) != NULL)
        return true;
    workspaces_remove_spare(engine->workspaces);
    return false;
}

static bool search_begin_attempt(UNUSED struct engine *engine,
                                 UNUSED struct job *job)
{
    return true;
}

struct launch *search_launch(struct engine *engine, struct job *job,
                             struct err *err)
{
    struct launch *launch =
        launch_trial(&engine->site, engine->experiment, job, err);
    int64_t trials = engine->experiment->budget.trials;

    /* Of a trial with a schedule, more attempts may follow. */
    if (launch != NULL)
        launch_set_more(launch, trials > 0 && engine->scheduler == NULL
                                    ? trials - engine->tally.suggested
                                    : -1);
    return launch;
}

/* ---- jobs end ---- */

static void search_look(UNUSED struct engine *engine, UNUSED struct job *job)
{
}

enum { NAMES_SHOWN_BYTES = 80 };

/* The names that were found, as many as there is room for. */
static void add_names(const struct job *job, struct buf *text)
{
    size_t before = text->length;

    for (size_t i = 0; i < job->curve_count; i++) {
        if (text->length - before > NAMES_SHOWN_BYTES) {
            buf_add_string(text, ", ...");
            break;
        }
        buf_printf(text, "%s%s", i == 0 ? " (found: " : ", ",
                   job->curves[i].name);
    }
    if (job->curve_count > 0)
        buf_add_char(text, ')');
}

/* The line that nearly has the metric, and how the file can find it. False:
 * none does. */
static bool add_near(const struct job *job, const char *metric,
                     struct buf *text)
{
    struct buf log = BUF_INIT;
    struct metric_near near;
    struct err err;
    bool is_found =
        metric_files_read_log_end(job->metric_files, METRIC_NEAR_BYTES, &log,
                                  &err) == 0 &&
        metric_near_find(metric, buf_text(&log), log.length, &near);

    if (is_found) {
        buf_add_string(text, ": ");
        metric_near_print(&near, metric, text);
    }
    buf_clear(&log);
    return is_found;
}

/* It ended well, but without a metric of the file: perhaps under another
 * name. */
static void tell_missing_metric(struct job *job, const char *metric)
{
    struct attempt_exit *end = &job->end;
    struct buf text = BUF_INIT;

    end->cause = CAUSE_NO_METRIC;
    buf_printf(&text, "no value of '%s' in its output", metric);
    if (!add_near(job, metric, &text))
        add_names(job, &text);
    snprintf(end->text, sizeof(end->text), "%.*s", (int)sizeof(end->text) - 1,
             buf_text(&text));
    buf_clear(&text);
}

/* Nothing succeeds without a value, whoever ended it. What a person told to end
 * fails by it no more than by its exit status. */
int search_judge(struct engine *engine, struct job *job, UNUSED struct err *err)
{
    const char *missing = job_missing_metric(job, engine->experiment);

    if ((job->end.cause == CAUSE_OK || job->wish == WISH_PAUSE) &&
        missing != NULL) {
        tell_missing_metric(job, missing);
        if (job->wish == WISH_PAUSE)
            job->wish = WISH_NONE;
    }
    return 1;
}

static enum job_event search_end_attempt(struct engine *engine,
                                         UNUSED struct job *job,
                                         enum job_event event,
                                         struct attempt_end *end)
{
    engine_end_attempt(engine, end);
    return event;
}

void search_ended(struct engine *engine, UNUSED struct job *job,
                  const struct feedback_item *item)
{
    feedback_give(engine, item, NULL);
}

/* ---- what people ask for ---- */

static int search_may_enqueue(UNUSED const struct engine *engine,
                              UNUSED struct err *err)
{
    return 0;
}

int search_find_reopened(UNUSED struct engine *engine,
                         UNUSED const struct reopen_request *wanted,
                         struct reopen_steps *steps, struct err *err)
{
    return steps->found_count > 0
               ? 0
               : err_set(err, ERR_USAGE, "nothing has failed");
}

void search_reopened(UNUSED struct engine *engine,
                     UNUSED const struct reopen_steps *steps)
{
}

void search_describe(struct engine *engine, struct engine_status *status)
{
    status->method = strategy_method(engine->strategy);
    status->method_reason = strategy_reason(engine->strategy);
    status->steps = NULL;
}

static bool search_is_idle(UNUSED const struct engine *engine,
                           UNUSED int64_t *about, UNUSED struct buf *out)
{
    return false;
}

void search_committed(UNUSED struct engine *engine)
{
}

/* ---- the run ends ---- */

void search_recall(UNUSED struct engine *engine)
{
}

static bool search_close(UNUSED struct engine *engine)
{
    return false;
}

void search_explain(struct engine *engine, enum budget_verdict verdict,
                    const char *reason)
{
    struct engine_result *result = engine->result;
    int64_t trials = engine->experiment->budget.trials;

    if (result->verdict != BUDGET_GO_ON)
        return;
    result->verdict = verdict;
    if (engine->wind_up.is_exhausted) {
        result->verdict = BUDGET_TRIALS;
        reason = BUDGET_ALL_TRIED;
    }
    snprintf(result->reason, sizeof(result->reason), "%s", reason);
    if (trials > 0 && budget_verdict_find(reason) == BUDGET_TRIALS)
        snprintf(result->reason, sizeof(result->reason),
                 "%s (%" PRId64 " of %" PRId64 ")", reason,
                 tally_ended(&engine->tally), trials);
}

void search_judge_run(struct engine_result *result, const struct tally *tally)
{
    char reason[sizeof(result->reason)];

    if (budget_verdict_is_failure(result->verdict)) {
        result->state = RUN_FAILED;
    } else if (tally->succeeded == 0) {
        result->state = RUN_FAILED;
        memcpy(reason, result->reason, sizeof(reason));
        snprintf(result->reason, sizeof(result->reason), BUDGET_IN_VAIN "%.*s",
                 (int)(sizeof(reason) - sizeof(BUDGET_IN_VAIN)), reason);
    }
}

static void search_conclude(struct engine *engine)
{
    search_explain(engine, BUDGET_TRIALS, budget_verdict_text(BUDGET_TRIALS));
    search_judge_run(engine->result, &engine->tally);
}

const struct source source_search = {
    .is_search = true,
    .open = search_open,
    .read = recover_search,
    .take_up = search_take_up,
    .locate = search_locate,
    .taken_up = search_taken_up,
    .next = search_next,
    .begin_attempt = search_begin_attempt,
    .launch = search_launch,
    .follow = engine_keep_metric,
    .look = search_look,
    .judge = search_judge,
    .end_attempt = search_end_attempt,
    .ended = search_ended,
    .may_enqueue = search_may_enqueue,
    .find_reopened = search_find_reopened,
    .reopened = search_reopened,
    .describe = search_describe,
    .is_idle = search_is_idle,
    .recall = search_recall,
    .committed = search_committed,
    .close = search_close,
    .conclude = search_conclude,
};
