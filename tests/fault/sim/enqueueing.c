/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/enqueueing.h"

#include <inttypes.h>

#include "orchestrator/run/enqueue.h"
#include "orchestrator/run/run.h"
#include "tests/fault/sim/history.h"
#include "tests/fault/sim/record.h"

enum { LARGEST_K = 4 };

int64_t enqueueing_draw(struct history *history)
{
    struct enqueueing *enqueueing = &history->enqueueing;

    enqueueing->was_asked = true;
    enqueueing->asked = rng_between(&history->world->rng, 1, LARGEST_K + 1);
    return enqueueing->asked;
}

/* ---- what comes of it ---- */

/* Whether the setting that was asked for is in the record. */
static bool settle(struct history *history)
{
    struct enqueueing *enqueueing = &history->enqueueing;
    struct record record;
    int64_t before = enqueueing->count;

    record_read(&record, false);
    enqueueing->count = (int64_t)record.enqueued_count;
    if (enqueueing->count < before || enqueueing->count > before + 1)
        world_fail("%" PRId64 " settings were enqueued, and now it is %" PRId64,
                   before, enqueueing->count);
    if (enqueueing->count > before &&
        (record.enqueued[before].k != enqueueing->asked ||
         enqueueing->asked > LARGEST_K))
        world_fail("a setting with k = %" PRId64 " was enqueued, as %" PRId64,
                   enqueueing->asked, record.enqueued[before].k);
    record_clear(&record);
    return enqueueing->count > before;
}

void enqueueing_acknowledge(struct history *history, int64_t place)
{
    if (!settle(history) || history->enqueueing.count != place)
        world_fail("a setting was enqueued as number %" PRId64
                   ", and the record has %" PRId64,
                   place, history->enqueueing.count);
    history->enqueueing.answered_count++;
}

void enqueueing_refuse(struct history *history)
{
    if (settle(history))
        world_fail("setting %" PRId64 " was refused, and is enqueued",
                   history->enqueueing.count);
}

void enqueueing_doubt(struct history *history)
{
    history->enqueueing.answered_count += settle(history);
}

/* ---- without an engine ---- */

static int put(struct history *history, struct store *store, struct err *err)
{
    struct diags *diags = diags_create("the run's file");
    struct run *run = run_open(store, history->run, diags, err);
    json_t *params = json_pack("{sI}", "k", enqueueing_draw(history));
    int64_t place;
    int result = -1;

    if (run != NULL)
        result = enqueue_add_to_run(run, params, &place, err);
    if (result == 0 && place != history->enqueueing.count + 1)
        world_fail("setting %" PRId64 " is said to be number %" PRId64,
                   history->enqueueing.count + 1, place);
    json_decref(params);
    run_close(run);
    diags_destroy(diags);
    return result;
}

void enqueueing_apply(struct history *history)
{
    struct store *store;
    struct err err;
    int result;

    if (history->run == 0 || history->is_over ||
        history->scenario.step_count > 0 ||
        !rng_percent(&history->world->rng, history->scenario.enqueues))
        return;
    store = store_open(history->directory, STORE_CREATE, &err);
    if (store == NULL)
        world_fail("the store cannot be opened: %s", err.text);
    result = put(history, store, &err);
    store_close(store);
    world_trace("a setting, k = %" PRId64 ": %s", history->enqueueing.asked,
                result == 0 ? "is enqueued" : err.text);
    if (settle(history) != (result == 0))
        world_fail("a setting was%s enqueued, and the record says else",
                   result == 0 ? "" : " not");
}

/* ---- checks ---- */

void enqueueing_check(const struct history *history,
                      const struct record *record)
{
    const struct enqueueing *enqueueing = &history->enqueueing;

    if ((int64_t)record->enqueued_count != enqueueing->count ||
        record->enqueued_answers != enqueueing->answered_count)
        world_fail("%" PRId64 " settings were enqueued, %" PRId64
                   " of them by engines, and the record has %zu and %" PRId64,
                   enqueueing->count, enqueueing->answered_count,
                   record->enqueued_count, record->enqueued_answers);
    for (size_t i = 0; i < record->enqueued_count; i++) {
        const struct record_enqueued *setting = &record->enqueued[i];

        if (setting->trial != 0 && setting->k != setting->tried_k)
            world_fail("trial %" PRId64 " tried k = %" PRId64
                       " in place of %" PRId64,
                       setting->trial, setting->tried_k, setting->k);
        for (size_t j = 0; j < i && setting->trial != 0; j++) {
            if (record->enqueued[j].trial == setting->trial)
                world_fail("trial %" PRId64 " tried two settings",
                           setting->trial);
        }
    }
}
