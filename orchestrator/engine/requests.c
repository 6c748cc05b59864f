/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/requests.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/engine/cancel_jobs.h"
#include "orchestrator/engine/control.h"
#include "orchestrator/engine/core/pause.h"
#include "orchestrator/engine/core/source.h"
#include "orchestrator/engine/core/take_up.h"
#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/edit.h"
#include "orchestrator/engine/ending.h"
#include "orchestrator/engine/report.h"
#include "orchestrator/engine/source/temps.h"
#include "orchestrator/engine/status_json.h"
#include "orchestrator/engine/submit.h"
#include "orchestrator/engine/turn.h"
#include "orchestrator/run/budget_change.h"
#include "orchestrator/run/cancel_jobs.h"
#include "orchestrator/run/control_once.h"
#include "orchestrator/run/enqueue.h"

/*
 * What can be asked of a live engine. What a request changes is durable when
 * its reply is sent.
 */

static json_t *ok(void)
{
    json_t *reply = json_object();

    json_object_set_new(reply, "ok", json_true());
    return reply;
}

static bool flag(const json_t *request, const char *key)
{
    return json_is_true(json_object_get(request, key));
}

/* The engine has broken meanwhile, or why it can do nothing of the kind. */
static json_t *refuse(const struct engine *engine)
{
    struct err err;

    if (engine->transaction.is_broken)
        return control_error(&engine->transaction.broken);
    err_set(&err, ERR_BUSY, "%s",
            engine->wind_up.phase == PHASE_WAITING ? engine->shortage.text
                                                   : "the run is ending");
    return control_error(&err);
}

static json_t *on_status(struct engine *engine, const json_t *request,
                         struct control_client *client)
{
    struct engine_status status;
    json_t *reply;

    (void)request, (void)client;
    engine_status_fill(engine, &status);
    reply = status_json_from_status(&status);
    json_object_set_new(reply, "ok", json_true());
    return reply;
}

static json_t *on_subscribe(struct engine *engine, const json_t *request,
                            struct control_client *client)
{
    control_subscribe(client);
    return on_status(engine, request, client);
}

static json_t *on_stop(struct engine *engine, const json_t *request,
                       struct control_client *client)
{
    (void)client;
    if (flag(request, "drain"))
        engine_interrupt(engine, SIGINT);
    else
        engine_terminate(engine, SIGTERM);
    return ok();
}

/* ---- pausing ---- */

/* A jump of the clock until now is not one of the time that begins here. */
static bool record_pause(struct engine *engine, bool is_paused)
{
    struct err err;
    int64_t now_ms;

    LOG(engine->log, LOG_ENGINE, LOG_INFO, 0, "%s",
        is_paused ? "paused" : "resumed");
    if (!engine_begin(engine))
        return false;
    if (engine_note_clock(engine, &now_ms, &err) == 0 &&
        store_set_run_paused(engine->store, engine->run->id, is_paused, now_ms,
                             &err) == 0)
        return true;
    engine_break(engine, &err);
    return false;
}

bool engine_pause(struct engine *engine, bool at_once)
{
    int64_t since_ms = engine->paused_since_ms;

    if (!engine_is_paused(engine)) {
        if (!record_pause(engine, true))
            return false;
        engine->paused_since_ms = clock_monotonic_ms();
    }
    if (!engine_commit_now(engine)) {
        engine->paused_since_ms = since_ms;
        return false;
    }
    engine_cancel_live(engine, WISH_INTERRUPT, CANCEL_TERM, at_once);
    return true;
}

static bool resume(struct engine *engine)
{
    if (!record_pause(engine, false) || !engine_commit_now(engine))
        return false;
    engine->clocks.paused_ms = engine_paused_ms(engine);
    engine->paused_since_ms = 0;
    engine_submit(engine);
    return true;
}

static json_t *on_pause(struct engine *engine, const json_t *request,
                        struct control_client *client)
{
    (void)client;
    if (engine->wind_up.phase != PHASE_RUNNING ||
        !engine_pause(engine, flag(request, "now")))
        return refuse(engine);
    return ok();
}

/* NULL where it was done. The commit checks the budget, so memory has the new
 * one by then. A commit that fails leaves it in doubt: then the record is read
 * again. */
static json_t *change_budget(struct engine *engine,
                             const struct budget_change *change)
{
    struct run *run = engine->run;
    const struct budget before = run->experiment->budget;
    struct err err = {0};

    if (!engine->source->is_search && change->trials != 0)
        err_set(&err, ERR_USAGE, "the budget of a workflow has no trials");
    else
        budget_change_check(change, engine->tally.suggested,
                            engine_elapsed_ms(engine), false, &err);
    if (err.kind != ERR_NONE)
        return control_error(&err);
    if (!engine_begin(engine))
        return refuse(engine);
    if (store_set_run_budget(engine->store, run->id, change->trials,
                             change->time_ms, clock_wall_ms(), &err) != 0) {
        engine_break(engine, &err);
        return refuse(engine);
    }
    budget_change_apply(change, &run->experiment->budget);
    if (engine_commit_now(engine))
        return NULL;
    run->experiment->budget = before;
    return refuse(engine);
}

static int64_t integer(const json_t *request, const char *key)
{
    return json_integer_value(json_object_get(request, key));
}

static json_t *on_resume(struct engine *engine, const json_t *request,
                         struct control_client *client)
{
    const struct budget_change change = {
        .trials = integer(request, "trials"),
        .time_ms = integer(request, "time_ms"),
    };
    bool is_change = budget_change_is_any(&change);
    bool was_paused = engine_is_paused(engine);
    json_t *reply = NULL;

    (void)client;
    if (engine->wind_up.phase != PHASE_RUNNING ||
        (is_change && engine->wind_up.is_beyond_budget))
        return refuse(engine);
    if (is_change)
        reply = change_budget(engine, &change);
    if (reply != NULL)
        return reply;
    if (was_paused && !resume(engine))
        return refuse(engine);
    reply = ok();
    json_object_set_new(reply, "was_paused", json_boolean(was_paused));
    return reply;
}

/* ---- retry ---- */

static int reopen_one(struct engine *engine, const struct reopening *reopening,
                      struct err *err)
{
    if (reopen_job(engine->store, reopening->job, err) != 0 ||
        engine_take_up(engine, reopening->number, JOB_READY, err) == NULL)
        return -1;
    return engine_tally_reopened(engine, reopening, err);
}

/* Commits what was done with its answer, which it takes over; else says why
 * not. */
static json_t *commit(struct engine *engine, const json_t *request,
                      json_t *answer)
{
    struct err err;

    if (!engine->transaction.is_broken &&
        control_record_answer(engine->store, engine->run->id, request, answer,
                              &err) != 0)
        engine_break(engine, &err);
    if (!engine->transaction.is_broken && engine_commit_now(engine))
        return answer;
    json_decref(answer);
    return refuse(engine);
}

/* In the open transaction. False when the engine broke. */
static bool reopen_all(struct engine *engine, const struct reopen_steps *steps)
{
    struct err err;

    if (!engine_begin(engine))
        return false;
    for (size_t i = 0; i < steps->found_count; i++) {
        if (reopen_one(engine, &steps->found[i], &err) != 0) {
            engine_break(engine, &err);
            return false;
        }
    }
    engine->source->reopened(engine, steps);
    return !engine->transaction.is_broken;
}

static int read_numbers(const json_t *list, int64_t *numbers, struct err *err)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *number = json_array_get(list, i);

        if (json_typeof(number) != JSON_INTEGER)
            return err_set(err, ERR_USAGE,
                           "type mismatch: 'trials' must be a list of numbers");
        numbers[i] = json_integer_value(number);
    }
    return 0;
}

static int find(struct engine *engine, const struct reopen_request *wanted,
                struct reopen_steps *steps, struct err *err)
{
    if (reopen_find(engine->store, engine->run->id, wanted, &steps->found,
                    &steps->found_count, err) != 0)
        return -1;
    return engine->source->find_reopened(engine, wanted, steps, err);
}

/* What a request does with the numbers of its trials; its answer. */
typedef json_t *numbers_fn(struct engine *engine, const json_t *request,
                           const int64_t *numbers, size_t count);

/* Does it once what has just ended is over and done with. */
static json_t *act_on_trials(struct engine *engine, const json_t *request,
                             numbers_fn *act)
{
    const json_t *list = json_object_get(request, "trials");
    size_t count = json_array_size(list);
    int64_t *numbers = mem_array(count, sizeof(*numbers));
    struct err err;
    json_t *reply;

    if (engine->wind_up.phase == PHASE_RUNNING)
        engine_commit_now(engine);
    if (engine->transaction.is_broken || engine->wind_up.phase != PHASE_RUNNING)
        reply = refuse(engine);
    else if (read_numbers(list, numbers, &err) != 0)
        reply = control_error(&err);
    else
        reply = act(engine, request, numbers, count);
    free(numbers);
    return reply;
}

static json_t *retry(struct engine *engine, const json_t *request,
                     const int64_t *numbers, size_t count)
{
    const struct reopen_request wanted = {
        .numbers = numbers,
        .count = count,
        .all_failed = flag(request, "failed"),
        .even_succeeded = flag(request, "force"),
    };
    struct reopen_steps steps = {0};
    struct err err;
    json_t *reply;

    if (find(engine, &wanted, &steps, &err) != 0) {
        reply = control_error(&err);
    } else if (reopen_all(engine, &steps)) {
        reply = ok();
        json_object_set_new(reply, "count",
                            json_integer((json_int_t)steps.found_count));
        reply = commit(engine, request, reply);
    } else {
        reply = refuse(engine);
    }
    free(steps.found);
    reopen_steps_clear(&steps);
    return reply;
}

static json_t *on_retry(struct engine *engine, const json_t *request,
                        struct control_client *client)
{
    (void)client;
    return act_on_trials(engine, request, retry);
}

/* ---- one job's end ---- */

static json_t *cancel(struct engine *engine, const json_t *request,
                      const int64_t *numbers, size_t count)
{
    struct err err;
    json_t *reply;

    if (!engine_begin(engine))
        return refuse(engine);
    if (cancel_jobs(engine->store, engine->run->id, numbers, count, &err) !=
        0) {
        if (err.kind == ERR_USAGE)
            return control_error(&err);
        engine_break(engine, &err);
        return refuse(engine);
    }
    reply = commit(engine, request, ok());
    for (size_t i = 0; i < count && !engine->transaction.is_broken; i++)
        engine_cancel_job(engine, numbers[i]);
    return reply;
}

static json_t *on_cancel(struct engine *engine, const json_t *request,
                         struct control_client *client)
{
    (void)client;
    return act_on_trials(engine, request, cancel);
}

/* ---- enqueue ---- */

static json_t *enqueue(struct engine *engine, const json_t *request)
{
    const struct enqueue enqueue = {
        .store = engine->store,
        .run = engine->run->id,
        .experiment = engine->experiment,
        .strategy = engine->strategy,
        .trials = engine->tally.suggested,
    };
    size_t waiting = strategy_wish_count(engine->strategy);
    struct err err;
    json_t *reply;
    int64_t index;

    if (enqueue_add(&enqueue, json_object_get(request, "params"), &index,
                    &err) != 0) {
        if (strategy_wish_count(engine->strategy) == waiting)
            return control_error(&err);
        engine_break(engine, &err);
    }
    reply = ok();
    json_object_set_new(reply, "enqueued", json_integer(index));
    reply = commit(engine, request, reply);
    if (!engine->transaction.is_broken) {
        engine->wind_up.is_exhausted = false;
        engine->wind_up.reused_in_row = 0;
    }
    return reply;
}

static json_t *on_enqueue(struct engine *engine, const json_t *request,
                          struct control_client *client)
{
    struct err err;

    (void)client;
    if (engine->wind_up.phase != PHASE_RUNNING ||
        engine->wind_up.is_beyond_budget)
        return refuse(engine);
    if (engine->source->may_enqueue(engine, &err) != 0)
        return control_error(&err);
    return enqueue(engine, request);
}

/* ---- edit ---- */

static json_t *on_edit(struct engine *engine, const json_t *request,
                       struct control_client *client)
{
    struct run_edit_again again;
    struct err err;
    json_t *reply;

    (void)client;
    /* what has just ended has to be over and done with first */
    if (engine->wind_up.phase == PHASE_RUNNING)
        engine_commit_now(engine);
    if (engine->transaction.is_broken ||
        engine->wind_up.phase != PHASE_RUNNING ||
        engine->wind_up.is_beyond_budget)
        return refuse(engine);
    if (engine_check_removals(engine, &err) != 0 ||
        engine_edit(engine, request, &again, &err) != 0)
        return control_error(&err);
    reply = ok();
    json_object_set_new(reply, "again", json_integer(again.jobs));
    json_object_set_new(reply, "steps", json_integer(again.steps));
    reply = commit(engine, request, reply);
    engine_follow_edit(engine);
    return reply;
}

/* ---- all ---- */

static const struct {
    const char *op;
    json_t *(*answer)(struct engine *engine, const json_t *request,
                      struct control_client *client);
} requests[] = {
    {"status", on_status},   {"subscribe", on_subscribe}, {"stop", on_stop},
    {"pause", on_pause},     {"resume", on_resume},       {"retry", on_retry},
    {"enqueue", on_enqueue}, {"cancel", on_cancel},       {"edit", on_edit},
};

static json_t *unknown(const char *op)
{
    const char *names[ARRAY_LEN(requests)];
    struct err err;

    for (size_t i = 0; i < ARRAY_LEN(requests); i++)
        names[i] = requests[i].op;
    text_unknown("op", op, names, ARRAY_LEN(requests), ERR_USAGE, &err);
    return control_error(&err);
}

static json_t *on_request(void *user, const json_t *request,
                          struct control_client *client)
{
    const char *op = json_string_value(json_object_get(request, "op"));
    struct err err;

    if (control_check_id(request, &err) != 0)
        return control_error(&err);
    if (op == NULL)
        op = "";
    LOG(((struct engine *)user)->log, LOG_ENGINE, LOG_DEBUG, 0, "request op=%s",
        op);
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        if (strcmp(requests[i].op, op) == 0)
            return requests[i].answer(user, request, client);
    }
    return unknown(op);
}

void engine_open_control(struct engine *engine, const char *run_directory,
                         const struct engine_events *events)
{
    struct control_events answers = {
        .request = on_request, .user = engine, .patience_ms = 10000};
    struct err err;

    engine->control =
        control_open(&engine->loop, run_directory, &answers, &err);
    if (engine->control == NULL)
        events->warn(events->user, err.text);
}

void engine_close_control(struct engine *engine)
{
    if (!engine->transaction.is_broken &&
        control_has_subscribers(engine->control))
        control_publish(engine->control,
                        status_json_from_result(engine->result));
    control_close(engine->control);
    engine->control = NULL;
}
