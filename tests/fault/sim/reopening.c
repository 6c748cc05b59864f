/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/compiler.h"
#include "orchestrator/reopen.h"
#include "orchestrator/spec.h"
#include "tests/fault/sim/history.h"
#include "tests/fault/sim/record.h"

/* Trials that were over and are put back, between two engines or by one. */

bool history_is_reopened_after(const struct history *history, int64_t trial,
                               size_t end)
{
    for (int i = 0; i < history->reopening_count; i++) {
        if (history->reopenings[i].trial == trial &&
            history->reopenings[i].end_count > end)
            return true;
    }
    return false;
}

bool history_is_reopened_at(const struct history *history, int64_t trial,
                            int64_t attempts)
{
    for (int i = 0; i < history->reopening_count; i++) {
        if (history->reopenings[i].trial == trial &&
            history->reopenings[i].attempts == attempts)
            return true;
    }
    return false;
}

static bool is_over(const struct record_job *job)
{
    static const char *const states[] = {"succeeded", "failed", "stopped"};

    for (size_t i = 0; job != NULL && i < ARRAY_LEN(states); i++) {
        if (strcmp(job->state, states[i]) == 0)
            return true;
    }
    return false;
}

static struct history_reopening *next_of(struct history *history)
{
    return &history->reopenings[history->reopening_count];
}

/* Some trial that there may be, or some job of a workflow. 0: none. */
static int64_t draw_job(const struct history *history)
{
    struct rng *rng = &history->world->rng;
    struct record record;
    int64_t number = 0;

    if (history->scenario.step_count == 0)
        return rng_between(rng, 1, history->budget.trials);
    record_read(&record, false);
    if (record.job_count > 0)
        number = rng_between(rng, 1, (int64_t)record.job_count);
    record_clear(&record);
    return number;
}

int64_t history_reopen_begin(struct history *history)
{
    struct record record;
    int64_t trial, attempts = 0;

    if (history->run == 0 || history->reopening_count == HISTORY_REOPENINGS)
        return 0;
    trial = draw_job(history);
    record_read(&record, false);
    for (size_t i = 0; i < record.attempt_count; i++)
        attempts += record.attempts[i].trial == trial;
    if (!is_over(record_job(&record, trial)))
        trial = 0;
    record_clear(&record);
    *next_of(history) = (struct history_reopening){trial, attempts, 0};
    return trial;
}

void history_reopen_end(struct history *history)
{
    next_of(history)->end_count = history->end_count;
    world_trace("trial %" PRId64 ": is put back", next_of(history)->trial);
    history->reopening_count++;
}

void history_reopen_doubt(struct history *history)
{
    struct record record;
    bool is_done, is_answered;

    record_read(&record, false);
    is_done = !is_over(record_job(&record, next_of(history)->trial));
    is_answered = record.put_backs > history->answered_count;
    record_clear(&record);
    if (is_done != is_answered)
        world_fail("trial %" PRId64 " was%s put back, and the record says else",
                   next_of(history)->trial, is_done ? "" : " not");
    if (!is_done)
        return;
    history_reopen_end(history);
    history->answered_count++;
}

static int put_back(const struct history *history, struct store *store,
                    int64_t trial, struct err *err)
{
    const struct experiment_source source = {
        .text = history->scenario.text,
        .length = strlen(history->scenario.text),
        .path = "",
    };
    const struct reopen_request request = {
        .numbers = &trial, .count = 1, .even_succeeded = true};
    struct diags *diags = diags_create("the scenario");
    struct spec spec;
    size_t count = 0;
    int status = spec_parse(&spec, &source, diags, err);

    if (status == 0)
        status = reopen_trials(store, history->run, spec.workflow, &request,
                               &count, err);
    spec_clear(&spec);
    diags_destroy(diags);
    return status;
}

bool history_reopen(struct history *history)
{
    int64_t trial = history_reopen_begin(history);
    struct store *store;
    struct err err;
    int status;

    if (trial == 0)
        return false;
    store = store_open(history->directory, STORE_CREATE, &err);
    if (store == NULL)
        world_fail("the store cannot be opened: %s", err.text);
    status = put_back(history, store, trial, &err);
    store_close(store);
    if (status != 0)
        return false;
    history_reopen_end(history);
    return true;
}
