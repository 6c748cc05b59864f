/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session of a run begins and ends. It goes through the record as an engine
 * does that resumes (engine/source/recover_search.c): trials in the order of
 * their numbers, and between them the results that were known when each was
 * suggested. An attempt without an end was a client's of a session that was
 * killed: it is given back, so another client gets the trial.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "executors/attempt/attempt_file.h"
#include "orchestrator/ask_tell/ask_tell_impl.h"
#include "orchestrator/ask_tell/ask_tell_record.h"
#include "orchestrator/ask_tell/ask_tell_schedule.h"
#include "orchestrator/run/enqueue.h"
#include "orchestrator/search/search.h"
#include "store/store.h"

/* ---- the record ---- */

struct opening {
    struct ask_tell *ask_tell;
    struct feedback *feedback;
    struct err *err;
};

/* A trial had reached something, and its schedule decided. */
static void follow_observation(struct ask_tell *ask_tell,
                               struct ask_tell_trial *trial,
                               const struct feedback_item *item)
{
    free(trial->reached);
    trial->reached = mem_copy_array(
        item->values, ask_tell->experiment->objective_count, sizeof(double));
    trial->last = item->last;
    trial->best = item->best;
    trial->is_given_up = item->decision == DECIDE_STOP;
    if (item->decision != DECIDE_PAUSE)
        return;
    trial->state = JOB_PAUSED;
    trial->paused_at = (uint64_t)item->resource;
    ask_tell->open_count--;
}

static void follow(struct ask_tell *ask_tell, const struct feedback_item *item)
{
    struct ask_tell_trial *trial = &ask_tell->trials[item->number - 1];

    if (item->kind == FEEDBACK_OBSERVATION) {
        follow_observation(ask_tell, trial, item);
    } else if (item->kind == FEEDBACK_PROMOTION) {
        trial->state = JOB_READY;
        trial->resource = (uint64_t)item->resource;
        ask_tell->open_count++;
    } else if (!item->is_superseded) {
        ask_tell->open_count -= trial->state != JOB_PAUSED;
        trial->state = item->state;
        ask_tell_note_best(ask_tell, (size_t)item->number);
    }
}

/* What was told up to that place. */
static void tell_until(struct opening *opening, int64_t place)
{
    struct ask_tell *ask_tell = opening->ask_tell;
    const struct feedback_item *item;

    while ((item = feedback_next(opening->feedback, place)) != NULL) {
        ask_tell->told = item->place;
        feedback_tell(ask_tell->strategy, ask_tell->scheduler,
                      ask_tell->experiment, item, NULL);
        ask_tell_record_count(ask_tell, item);
        follow(ask_tell, item);
    }
}

/* What the record has of its end, which counts once it has been told. */
static void read_end(const struct experiment *experiment,
                     const struct trial_row *row, struct ask_tell_trial *trial)
{
    if (row->told == 0)
        return;
    trial->has_values = row->value_count == experiment->objective_count;
    trial->values =
        trial->has_values
            ? mem_copy_array(row->values, row->value_count, sizeof(double))
            : ask_tell_new_nans(experiment->objective_count);
    if (row->outcome_count > 0)
        trial->outcomes =
            mem_copy_array(row->outcomes, row->outcome_count, sizeof(double));
    trial->violation = row->violation;
}

static void add_trial(struct ask_tell *ask_tell, const struct trial_row *row,
                      struct value *point)
{
    struct ask_tell_trial *trial;

    ask_tell->trials = mem_grow(ask_tell->trials, ask_tell->count,
                                &ask_tell->capacity, sizeof(*ask_tell->trials));
    trial = &ask_tell->trials[ask_tell->count++];
    *trial = (struct ask_tell_trial){
        .point = point,
        .state = JOB_READY,
        .reason = row->reason != NULL ? mem_copy_string(row->reason) : NULL,
        .seen = (uint64_t)row->seen,
        .pending = ask_tell->open_count++,
        .job = row->job,
        .attempt_count = row->attempts.count,
        .is_cancelled = row->cancel_asked != 0,
        .resource = (uint64_t)row->first_resource,
        .parent = (size_t)row->parent,
    };
    read_end(ask_tell->experiment, row, trial);
}

static int on_trial(void *user, const struct trial_row *row)
{
    struct opening *opening = user;
    struct ask_tell *ask_tell = opening->ask_tell;
    struct ask_tell_record *record = ask_tell->record;
    struct value *point =
        mem_array(space_count(ask_tell->experiment->space), sizeof(*point));
    struct assignment assignment;

    if (search_point(ask_tell->experiment->space, row, point, opening->err) !=
            0 ||
        feedback_add(opening->feedback, row, opening->err) != 0) {
        free(point);
        return -1;
    }
    tell_until(opening, row->seen);
    strategy_restore(ask_tell->strategy, (uint64_t)row->number, point,
                     row->cursor);
    if (record->convergence != NULL)
        convergence_ask(record->convergence, (uint64_t)row->number, point);
    if (ask_tell->scheduler != NULL && feedback_assignment(row, &assignment))
        scheduler_assign(ask_tell->scheduler, (uint64_t)row->number,
                         &assignment);
    record->tally.suggested++;
    add_trial(ask_tell, row, point);
    return 0;
}

/* In what it had begun, and nobody ended. */
static int on_attempt(void *user, const struct attempt_row *row)
{
    struct opening *opening = user;
    struct ask_tell_trial *trial =
        &opening->ask_tell->trials[row->job_number - 1];

    if (row->cause != NULL)
        return 0;
    trial->attempt = row->id;
    trial->started_ms = row->started_ms;
    return 0;
}

static int on_enqueued(void *user, const struct enqueued_row *row)
{
    struct opening *opening = user;

    opening->ask_tell->wish_id = (uint64_t)row->index;
    return 0;
}

static int read_trials(struct opening *opening)
{
    struct ask_tell *ask_tell = opening->ask_tell;
    const struct run *run = ask_tell->record->run;
    const struct trial_query query = {.run = run->id, .order = ORDER_NUMBER};
    int result = -1;

    opening->feedback = feedback_create(ask_tell->experiment, run->store,
                                        run->id, opening->err);
    if (opening->feedback != NULL)
        result = store_each_trial(run->store, &query, on_trial, opening,
                                  opening->err);
    if (result == 0)
        tell_until(opening, INT64_MAX);
    feedback_destroy(opening->feedback);
    if (result == 0)
        result = store_each_attempt(run->store, run->id, 0, on_attempt, opening,
                                    opening->err);
    if (result == 0)
        result = store_each_enqueued(run->store, run->id, on_enqueued, opening,
                                     opening->err);
    if (result == 0)
        result = enqueue_load(run->store, run->id, ask_tell->experiment->space,
                              0, ask_tell->strategy, opening->err);
    return result;
}

static void cancel(struct ask_tell *ask_tell, size_t number)
{
    ask_tell->trials[number - 1].values =
        ask_tell_new_nans(ask_tell->experiment->objective_count);
    ask_tell_end_trial(ask_tell, number, JOB_CANCELLED);
}

/* Trials that are open wait for clients, unless their user cancelled them. */
static void give_back_all(struct ask_tell *ask_tell)
{
    for (size_t i = 0; i < ask_tell->count; i++) {
        struct ask_tell_trial *trial = &ask_tell->trials[i];

        if (trial->values != NULL || trial->state == JOB_PAUSED)
            continue;
        if (trial->attempt != 0)
            trial->state = JOB_RUNNING;
        ask_tell_give_back(ask_tell, i + 1);
        if (trial->is_cancelled && trial->state == JOB_READY)
            cancel(ask_tell, i + 1);
    }
}

/* ---- a session begins ---- */

static int record_state(struct ask_tell *ask_tell, enum run_state state,
                        const char *reason, struct err *err)
{
    const struct run *run = ask_tell->record->run;
    int64_t now_ms = clock_wall_ms();
    struct claim here;
    int result = store_begin(run->store, err);

    claim_identify(&here);
    if (result == 0)
        result = store_set_run_engine(run->store, run->id,
                                      state == RUN_RUNNING ? getpid() : 0,
                                      here.boot_id, now_ms, err);
    if (result == 0)
        result = store_set_run_state(
            run->store, run->id, run_state_names[state], reason, now_ms, err);
    return result;
}

static int read_run(struct ask_tell *ask_tell, struct err *err)
{
    struct ask_tell_record *record = ask_tell->record;
    const struct run *run = record->run;
    struct opening opening = {.ask_tell = ask_tell, .err = err};

    tally_init(&record->tally, run->experiment->budget.improvement);
    record->convergence = search_create_convergence(run->experiment);
    record->opened_ms = clock_monotonic_ms();
    if (store_sum_resource(run->store, run->id, &record->tally.resource_used,
                           err) != 0 ||
        record_state(ask_tell, RUN_RUNNING, "", err) != 0 ||
        read_trials(&opening) != 0 ||
        store_earlier_engines_ms(run->store, run->id, &record->earlier_ms,
                                 err) != 0)
        return -1;
    give_back_all(ask_tell);
    return ask_tell_commit(ask_tell, err);
}

struct ask_tell *ask_tell_open(struct run *run, struct err *err)
{
    struct ask_tell *ask_tell = mem_zero(sizeof(*ask_tell));

    if (run->experiment->budget.resource > 0) {
        err_set(err, ERR_USAGE,
                "run '%s': budget.resource is not possible where other "
                "programs run the trials",
                run->name);
        free(ask_tell);
        return NULL;
    }
    ask_tell->experiment = run->experiment;
    ask_tell->record = mem_zero(sizeof(*ask_tell->record));
    ask_tell->record->run = run;
    ask_tell->strategy =
        search_create_of_run(run->experiment, run->store, run->id, err);
    if (ask_tell->strategy != NULL &&
        ask_tell_schedule_open(ask_tell, err) == 0 &&
        read_run(ask_tell, err) == 0)
        return ask_tell;
    store_rollback(run->store);
    ask_tell_destroy(ask_tell);
    return NULL;
}

int ask_tell_commit(struct ask_tell *ask_tell, struct err *err)
{
    struct ask_tell_record *record = ask_tell->record;

    if (record == NULL)
        return 0;
    if (!record->is_broken &&
        store_commit(record->run->store, &record->broken) != 0)
        record->is_broken = true;
    if (!record->is_broken)
        return 0;
    store_rollback(record->run->store);
    *err = record->broken;
    return -1;
}

/* ---- it ends ---- */

/* The run is over, and so is what clients still run, or wait for, or what
 * rests. */
static void stop_all(struct ask_tell *ask_tell)
{
    for (size_t i = 0; i < ask_tell->count; i++) {
        struct ask_tell_trial *trial = &ask_tell->trials[i];

        if (trial->values != NULL)
            continue;
        trial->client = 0;
        if (trial->attempt_count > 0) {
            ask_tell_give_up(ask_tell, i + 1, "the run ended");
            continue;
        }
        cancel(ask_tell, i + 1);
    }
}

static void give_back_running(struct ask_tell *ask_tell)
{
    for (size_t i = 0; i < ask_tell->count; i++) {
        if (ask_tell->trials[i].state == JOB_RUNNING)
            ask_tell_give_back(ask_tell, i + 1);
    }
}

void ask_tell_abandon(struct ask_tell *ask_tell)
{
    struct ask_tell_record *record = ask_tell->record;
    struct err err;

    if (record == NULL)
        return;
    store_rollback(record->run->store);
    if (record_state(ask_tell, RUN_STOPPED, "its last session failed", &err) ==
        0)
        store_commit(record->run->store, &err);
    err_set(&err, ERR_FAILED, "the session was abandoned");
    ask_tell_record_break(ask_tell, &err);
}

int ask_tell_close(struct ask_tell *ask_tell, struct err *err)
{
    struct ask_tell_record *record = ask_tell->record;
    enum run_state state = RUN_STOPPED;
    enum budget_verdict verdict;
    char why[160], reason[192];

    if (record == NULL)
        return 0;
    if (ask_tell_commit(ask_tell, err) != 0)
        return -1;
    snprintf(reason, sizeof(reason), "its clients ended the session");
    if (ask_tell_record_conclude(ask_tell, &verdict, why, sizeof(why))) {
        bool is_in_vain =
            record->tally.succeeded == 0 && !budget_verdict_is_failure(verdict);

        stop_all(ask_tell);
        state = is_in_vain || budget_verdict_is_failure(verdict)
                    ? RUN_FAILED
                    : RUN_SUCCEEDED;
        snprintf(reason, sizeof(reason), "%s%s",
                 is_in_vain ? BUDGET_IN_VAIN : "", why);
    } else {
        give_back_running(ask_tell);
    }
    if (!record->is_broken && record_state(ask_tell, state, reason, err) != 0)
        ask_tell_record_break(ask_tell, err);
    return ask_tell_commit(ask_tell, err);
}
