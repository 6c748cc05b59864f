/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/deliver.h"

#include <stdlib.h>
#include <uv.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "orchestrator/notify.h"

enum { PATIENCE_MS = 30000, TURN_MS = 100 };

static int add_test(struct notifier *notifier, const struct run *run,
                    struct err *err)
{
    char *text = mem_printf("run '%s': this is a test", run->name);
    char time[32];
    json_t *json;
    int result;

    clock_format_iso(clock_wall_ms(), time, sizeof(time));
    json = json_pack("{s:s, s:o, s:s, s:s}", "event",
                     notify_event_names[NOTIFY_TEST], "text",
                     json_from_text(text), "run", run->name, "time", time);
    result = notifier_add(notifier, NOTIFY_TEST, json, err);
    json_decref(json);
    free(text);
    return result;
}

static void on_turn(uv_timer_t *handle)
{
    (void)handle; /* the turn itself is what was wanted */
}

static int turn(uv_loop_t *loop, struct notifier *notifier, struct store *store,
                struct err *err)
{
    notifier_send(notifier);
    uv_run(loop, UV_RUN_ONCE);
    if (!notifier_has_news(notifier))
        return 0;
    if (store_begin(store, err) != 0 || notifier_record(notifier, err) != 0)
        return -1;
    return store_commit(store, err);
}

static int deliver(uv_loop_t *loop, struct notifier *notifier, struct run *run,
                   bool test, struct err *err)
{
    int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    int result = store_begin(run->store, err);

    if (result == 0 && test)
        result = add_test(notifier, run, err);
    if (result == 0)
        result = store_commit(run->store, err);
    while (result == 0 && notifier_waiting(notifier) > 0 &&
           clock_monotonic_ms() < end_ms)
        result = turn(loop, notifier, run->store, err);
    if (result != 0)
        store_rollback(run->store);
    return result;
}

int deliver_run(struct run *run, bool test, struct err *err)
{
    struct notifier *notifier;
    uv_timer_t turns;
    uv_loop_t loop;
    int result = -1;

    uv_loop_init(&loop);
    uv_timer_init(&loop, &turns);
    uv_timer_start(&turns, on_turn, TURN_MS, TURN_MS);
    notifier =
        notifier_create(&loop, run->store, run->id, run->experiment, err);
    if (notifier != NULL)
        result = deliver(&loop, notifier, run, test, err);
    notifier_destroy(notifier);
    uv_close((uv_handle_t *)&turns, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return result;
}
