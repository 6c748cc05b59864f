/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/run_front.h"

#include "base/clock.h"
#include "dashboard/source.h"
#include "store/store.h"

enum {
    INTERVAL_MS = 10000, /* of one run, while it goes on */
    SHARE = 50,          /* an interval is at least so many times its work */
    LOOK_MAX_MS = 50     /* of all, in one look */
};

int run_front_update(struct run_front *front, struct front_time *time,
                     const struct dashboard_source *source, struct store *store,
                     const struct run_row *run, struct err *err)
{
    int64_t began_ms = clock_monotonic_ms();
    json_t *json;

    if (run->objective_count < 2 || source->front == NULL ||
        (front->json != NULL && front->results == run->succeeded))
        return 0;
    front->is_behind = true;
    if (time->spent_ms >= LOOK_MAX_MS ||
        (front->json != NULL && !run_front_is_due(front, time->now_ms)))
        return 0;
    json = source->front(source->user, store, run->id, err);
    if (json == NULL)
        return -1;
    json_decref(front->json);
    *front = (struct run_front){.json = json,
                                .results = run->succeeded,
                                .made_ms = time->now_ms,
                                .work_ms = clock_monotonic_ms() - began_ms};
    time->spent_ms += front->work_ms;
    return 0;
}

bool run_front_is_due(const struct run_front *front, int64_t now_ms)
{
    int64_t interval_ms = SHARE * front->work_ms;

    if (interval_ms < INTERVAL_MS)
        interval_ms = INTERVAL_MS;
    return front->is_behind &&
           (front->json == NULL || now_ms - front->made_ms >= interval_ms);
}

void run_front_clear(struct run_front *front)
{
    json_decref(front->json);
    *front = (struct run_front){0};
}
