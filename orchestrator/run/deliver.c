/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/deliver.h"

#include <stdlib.h>
#include <uv.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "orchestrator/run/notify.h"

enum { PATIENCE_MS = 30000 };

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

struct delivery {
    struct notifier *notifier;
    struct store *store;
    struct err *err;
};

static int record_answers(void *user)
{
    const struct delivery *delivery = user;

    if (!notifier_has_news(delivery->notifier))
        return 0;
    if (store_begin(delivery->store, delivery->err) != 0 ||
        notifier_record(delivery->notifier, delivery->err) != 0)
        return -1;
    return store_commit(delivery->store, delivery->err);
}

static int deliver(struct notifier *notifier, struct run *run, bool test,
                   struct err *err)
{
    struct delivery delivery = {notifier, run->store, err};
    int result = store_begin(run->store, err);

    if (result == 0 && test)
        result = add_test(notifier, run, err);
    if (result == 0)
        result = store_commit(run->store, err);
    if (result == 0)
        result =
            notifier_deliver(notifier, PATIENCE_MS, record_answers, &delivery);
    if (result != 0)
        store_rollback(run->store);
    return result;
}

int deliver_run(struct run *run, bool test, struct err *err)
{
    struct notifier *notifier;
    uv_loop_t loop;
    int result = -1;

    uv_loop_init(&loop);
    notifier =
        notifier_create(&loop, run->store, run->id, run->experiment, err);
    if (notifier != NULL)
        result = deliver(notifier, run, test, err);
    notifier_destroy(notifier);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return result;
}
