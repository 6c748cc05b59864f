/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "orchestrator/reopen.h"
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

bool history_reopen(struct history *history)
{
    int64_t trial =
        rng_between(&history->world->rng, 1, history->scenario.trials);
    const struct reopen_request request = {
        .numbers = &trial, .count = 1, .even_succeeded = true};
    struct store *store;
    struct err err;
    size_t count = 0;
    int status;

    if (history->run == 0 || history->reopening_count == HISTORY_REOPENINGS)
        return false;
    history->reopenings[history->reopening_count] = (struct history_reopening){
        trial, count_attempts(trial), history->end_count};
    store = store_open(history->directory, STORE_CREATE, &err);
    if (store == NULL)
        world_fail("the store cannot be opened: %s", err.text);
    status = reopen_trials(store, history->run, NULL, &request, &count, &err);
    store_close(store);
    if (status != 0)
        return false;
    world_trace("trial %" PRId64 ": is put back", trial);
    history->reopening_count++;
    return true;
}
