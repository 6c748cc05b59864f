/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include <string.h>

#include "orchestrator/reopen.h"
#include "orchestrator/spec.h"
#include "tests/fault/sim/history.h"
#include "tests/fault/sim/record.h"

/* Trials that were over and are put back, between two engines. */

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

static int64_t count_attempts(int64_t trial)
{
    struct record record;
    int64_t count = 0;

    record_read(&record, false);
    for (size_t i = 0; i < record.attempt_count; i++)
        count += record.attempts[i].trial == trial;
    record_clear(&record);
    return count;
}

/* Some trial that there may be, or some job of a workflow, but none that its
 * condition left out: that one would run all the same. 0: none. */
static int64_t draw_job(const struct history *history)
{
    struct rng *rng = &history->world->rng;
    struct record record;
    int64_t number = 0;

    if (history->scenario.step_count == 0)
        return rng_between(rng, 1, history->scenario.trials);
    record_read(&record, false);
    if (record.job_count > 0)
        number = rng_between(rng, 1, (int64_t)record.job_count);
    if (number > 0 &&
        strcmp(record_job(&record, number)->state, "skipped") == 0)
        number = 0;
    record_clear(&record);
    return number;
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
    struct store *store;
    struct err err;
    int64_t trial;
    int status;

    if (history->run == 0 || history->reopening_count == HISTORY_REOPENINGS)
        return false;
    trial = draw_job(history);
    if (trial == 0)
        return false;
    history->reopenings[history->reopening_count] = (struct history_reopening){
        trial, count_attempts(trial), history->end_count};
    store = store_open(history->directory, STORE_CREATE, &err);
    if (store == NULL)
        world_fail("the store cannot be opened: %s", err.text);
    status = put_back(history, store, trial, &err);
    store_close(store);
    if (status != 0)
        return false;
    world_trace("trial %" PRId64 ": is put back", trial);
    history->reopening_count++;
    return true;
}
