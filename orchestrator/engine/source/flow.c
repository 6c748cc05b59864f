/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/flow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/units.h"
#include "orchestrator/engine/core/chain.h"
#include "orchestrator/engine/core/metric.h"
#include "orchestrator/engine/core/take_up.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/source/cache.h"
#include "orchestrator/engine/source/flow_idle.h"
#include "orchestrator/engine/source/flow_jobs.h"
#include "orchestrator/engine/source/flow_status.h"
#include "orchestrator/engine/source/flow_steps.h"
#include "orchestrator/engine/source/foresee.h"
#include "orchestrator/engine/source/recover_flow.h"
#include "orchestrator/engine/source/requeue.h"
#include "orchestrator/engine/source/share.h"
#include "orchestrator/engine/source/temps.h"
#include "orchestrator/engine/source/touch.h"
#include "orchestrator/run/reopen_temps.h"
#include "orchestrator/steps/earlier_results.h"
#include "orchestrator/steps/sharing.h"

/*
 * The flow is asked when a slot is free; what it wants is put into the open
 * transaction: changes of steps (flow_steps.c) and new jobs (flow_jobs.c). A
 * job may wait before its attempt, for a result of an equal one (cache.c) and
 * whether that will do (foresee.c), for its share of files (share.c), or, where
 * it was put back, for its step to have room (requeue.c).
 */

static int flow_open(struct engine *engine, struct err *err)
{
    struct run *run = engine->run;

    engine->steps = steps_create(run->workflow, run->name, err);
    if (engine->steps == NULL)
        return -1;
    engine->steps->run = run;
    engine->looks_ahead = true;
    engine->cache = cache_create(&engine->loop, run->store, engine);
    engine->sharing = sharing_create(&engine->loop, engine, engine_on_shared);
    engine->temp_files =
        temp_files_create(&engine->loop, engine, engine_on_temps_removed);
    if (run->workflow->take_over.run == 0)
        return 0;
    engine->earlier_results =
        earlier_results_create(run->store, run->workflow, err);
    return engine->earlier_results != NULL ? 0 : -1;
}

static int flow_locate(UNUSED const struct engine *engine,
                       UNUSED struct job *job, UNUSED struct err *err)
{
    return 0;
}

/* ---- jobs begin ---- */

static bool flow_go_on(struct engine *engine)
{
    const struct flow_next next = flow_next(engine->steps->flow);

    switch (next.kind) {
    case FLOW_BEGIN:
        return flow_begin_step(engine, next.step);
    case FLOW_SKIP:
        return flow_skip_by_rule(engine, next.step, next.because);
    case FLOW_START:
        return flow_start_job(engine, next.step, next.copy);
    case FLOW_END:
        return flow_end_step(engine, next.step, next.state);
    case FLOW_NOTHING:
        return engine_run_held(engine);
    case FLOW_OVER:
        break;
    }
    return false;
}

/* Whether it cannot run, since a temporary output that it may need was missing
 * when its step became a cache hit. It is over then. */
static bool lacks_temps(struct engine *engine, struct job *job)
{
    const struct workflow *workflow = engine->run->workflow;
    struct temp_missing missing;
    char text[sizeof(job->end.text)];
    const char *step;

    if (job->attempt_number > 0 ||
        !temp_results_find_missing(engine->steps->temp_results,
                                   (size_t)job->step, &missing))
        return false;
    step = workflow->steps[missing.step].name;
    TAILQ_REMOVE(&engine->queues.ready, job, link);
    snprintf(text, sizeof(text),
             "a temporary output of step '%s' is missing (smtune retry %s "
             "--force %s makes it again): %s",
             step, engine->run->name, step, missing.path);
    flow_end_at_once(engine, job, EVENT_FAILED, text);
    return true;
}

static bool flow_begin_attempt(struct engine *engine, struct job *job)
{
    return !engine_cache_ask(engine, job) && !engine_touch(engine, job) &&
           !lacks_temps(engine, job) && !engine_share_out(engine, job);
}

/* Copies of its step that have not begun. */
static int64_t count_more(const struct engine *engine, const struct job *job)
{
    struct flow_counts counts;

    flow_count(engine->steps->flow, (size_t)job->step, &counts);
    return counts.copies - counts.started - counts.succeeded - counts.failed -
           counts.refused;
}

/* The next attempt's files are shared out anew. */
static struct launch *flow_launch(struct engine *engine, struct job *job,
                                  struct err *err)
{
    struct launch *launch = NULL;

    if (job->unshared != NULL)
        *err = *job->unshared;
    else
        launch = steps_launch(engine->steps, &engine->site, job, err);
    free(job->unshared);
    job->unshared = NULL;
    job->is_shared = false;
    if (launch != NULL)
        launch_set_more(launch, count_more(engine, job));
    if (launch == NULL || engine_add_reserves(engine, job, launch, err))
        return launch;
    launch_destroy(launch);
    return NULL;
}

/* ---- jobs end ---- */

static void flow_look(UNUSED struct engine *engine, UNUSED struct job *job)
{
}

static int flow_judge(struct engine *engine, struct job *job, struct err *err)
{
    const struct attempt_exit *end = &job->end;

    steps_judge(engine->steps, job);
    if (end->cause == CAUSE_OK && flow_finish_job(engine, job, err) != 0)
        return -1;
    return end->cause != CAUSE_OK || !engine_cache_seal(engine, job);
}

static enum job_event flow_end_attempt(struct engine *engine,
                                       UNUSED struct job *job,
                                       enum job_event event,
                                       struct attempt_end *end)
{
    engine_end_attempt(engine, end);
    return event;
}

static void flow_committed(struct engine *engine)
{
    engine_remove_temps(engine);
    engine_foresee(engine);
}

/* ---- what people ask for ---- */

static int flow_may_enqueue(UNUSED const struct engine *engine, struct err *err)
{
    return err_set(err, ERR_USAGE, "a workflow has no search");
}

static int flow_find_reopened(struct engine *engine,
                              const struct reopen_request *wanted,
                              struct reopen_steps *steps, struct err *err)
{
    if (engine_check_removals(engine, err) != 0 ||
        reopen_steps_find(engine->store, engine->run->id, engine->run->workflow,
                          wanted->all_failed, steps, err) != 0)
        return -1;
    return reopen_temps_check(engine->store, engine->run->id,
                              engine->run->workflow, steps, NULL, err);
}

static void flow_reopened(struct engine *engine,
                          const struct reopen_steps *reopened)
{
    struct steps *steps = engine->steps;
    struct err err;

    if (reopen_steps_record(engine->store, engine->run->id, steps->workflow,
                            reopened, &err) != 0) {
        engine_break(engine, &err);
        return;
    }
    for (size_t i = 0; i < reopened->found_count; i++)
        steps_reopen(steps, (size_t)reopened->found[i].step,
                     reopened->found[i].copy);
    for (size_t i = 0; i < steps->workflow->step_count; i++) {
        if (reopened->fates[i] == STEP_WAITS)
            steps_wait_again(steps, i);
    }
    steps->touch_is_over = true;
    engine_requeue(engine);
    engine_forget_foresight(engine);
}

/* ---- the run's end ---- */

enum { CLOSED_A_TURN = 256 };

/* It may be needed when the run goes on. */
static bool cut_off(struct engine *engine, size_t step)
{
    if (!flow_skip_step(engine, step, STEPS_CUT_OFF))
        return false;
    temps_cut_off(engine->steps->temps, step);
    return true;
}

/* Whether there was one more step to be ended. */
static bool close_next(struct engine *engine)
{
    const struct flow_next next = flow_next(engine->steps->flow);

    switch (next.kind) {
    case FLOW_BEGIN:
        return cut_off(engine, next.step);
    case FLOW_SKIP:
        return flow_skip_by_rule(engine, next.step, next.because);
    case FLOW_START:
        steps_give_up(engine->steps, next.step, next.copy, STEPS_CUT_OFF);
        return true;
    case FLOW_END:
        return flow_end_step(engine, next.step, next.state);
    case FLOW_NOTHING:
    case FLOW_OVER:
        break;
    }
    return false;
}

static bool flow_close(struct engine *engine)
{
    for (int i = 0; i < CLOSED_A_TURN; i++) {
        if (!close_next(engine))
            return engine_close_temps(engine);
    }
    return true;
}

static const struct step *first_failed(const struct engine *engine)
{
    const struct workflow *workflow = engine->run->workflow;

    for (size_t i = 0; i < workflow->step_count; i++) {
        if (flow_state(engine->steps->flow, i) == FLOW_FAILED &&
            !workflow->flow_steps[i].may_fail)
            return &workflow->steps[i];
    }
    return NULL;
}

static int64_t count_missed(const struct engine *engine)
{
    int64_t count = 0;

    for (size_t i = 0; i < engine->run->workflow->step_count; i++)
        count += flow_is_missed(engine->steps->flow, i);
    return count;
}

/* No copy of it failed by itself. */
static bool is_cancelled(const struct engine *engine, const struct step *step)
{
    size_t index = (size_t)(step - engine->run->workflow->steps);
    struct flow_counts counts;

    flow_count(engine->steps->flow, index, &counts);
    return counts.cancelled > 0 && counts.failed == counts.cancelled;
}

static void describe_failure(const struct engine *engine,
                             const struct step *failed, int64_t missed,
                             struct engine_result *result)
{
    struct buf text = BUF_INIT;

    if (failed != NULL)
        buf_printf(&text, "step '%s' %s", failed->name,
                   is_cancelled(engine, failed) ? "was cancelled" : "failed");
    if (missed > 0)
        buf_printf(&text,
                   "%s%" PRId64 " step%s %s skipped because of a failure",
                   failed != NULL ? "; " : "", missed, units_plural(missed),
                   missed == 1 ? "was" : "were");
    snprintf(result->reason, sizeof(result->reason), "%s", buf_text(&text));
    buf_clear(&text);
}

static void flow_conclude(struct engine *engine)
{
    struct engine_result *result = engine->result;
    const struct step *failed = first_failed(engine);
    int64_t missed = count_missed(engine);
    bool is_cut_off =
        result->verdict != BUDGET_GO_ON && !engine->wind_up.is_beyond_budget;

    if (failed == NULL && missed == 0 && !is_cut_off) {
        snprintf(result->reason, sizeof(result->reason),
                 "all steps have finished");
        return;
    }
    result->state = RUN_FAILED;
    if (!is_cut_off)
        describe_failure(engine, failed, missed, result);
}

static void flow_recall(struct engine *engine)
{
    engine_cache_give_up(engine);
    engine_give_up_held(engine);
    engine_end_requeue(engine);
}

/* ---- the row ---- */

static void flow_describe(struct engine *engine, struct engine_status *status)
{
    status->method = status->method_reason = "";
    status->steps = flow_status(engine);
}

const struct source source_flow = {
    .is_search = false,
    .open = flow_open,
    .read = recover_flow,
    .take_up = taking_up_job,
    .locate = flow_locate,
    .taken_up = engine_requeue,
    .next = flow_go_on,
    .begin_attempt = flow_begin_attempt,
    .launch = flow_launch,
    .follow = engine_keep_metric,
    .look = flow_look,
    .judge = flow_judge,
    .end_attempt = flow_end_attempt,
    .ended = flow_job_ended,
    .committed = flow_committed,
    .may_enqueue = flow_may_enqueue,
    .find_reopened = flow_find_reopened,
    .reopened = flow_reopened,
    .describe = flow_describe,
    .is_idle = flow_is_idle,
    .recall = flow_recall,
    .close = flow_close,
    .conclude = flow_conclude,
};
