/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A message must not reach another receiver than the one that it was made for.
 * The address is the identity of a receiver. If an address is not in the edited
 * file, and the entry in its place is new, that entry is the corrected address:
 * waiting messages go there.
 */
#include "orchestrator/run/edit_notify.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "store/store.h"

enum { NOWHERE = -1 };

static bool have_same_address(const struct receiver *a,
                              const struct receiver *b)
{
    return strcmp(a->url, b->url) == 0;
}

/* Of several with one address, the n-th is the n-th. */
static int64_t find_same(const struct experiment *now, size_t i,
                         const struct experiment *edited)
{
    const struct receiver *receiver = &now->receivers[i];
    size_t before = 0;

    for (size_t j = 0; j < i; j++)
        before += have_same_address(&now->receivers[j], receiver);
    for (size_t j = 0; j < edited->receiver_count; j++)
        if (have_same_address(&edited->receivers[j], receiver) && before-- == 0)
            return (int64_t)j;
    return NOWHERE;
}

static bool is_new(const struct edit_receivers *receivers, size_t place)
{
    for (size_t i = 0; i < receivers->count; i++)
        if (receivers->same[i] == (int64_t)place)
            return false;
    return true;
}

void edit_receivers_find(const struct experiment *now,
                         const struct experiment *edited,
                         struct edit_receivers *receivers)
{
    size_t count = now->receiver_count;

    *receivers = (struct edit_receivers){
        .same = mem_array(count, sizeof(int64_t)),
        .heirs = mem_array(count, sizeof(int64_t)),
        .count = count,
    };
    for (size_t i = 0; i < count; i++)
        receivers->same[i] = find_same(now, i, edited);
    for (size_t i = 0; i < count; i++) {
        bool is_corrected = i < edited->receiver_count &&
                            receivers->same[i] == NOWHERE &&
                            is_new(receivers, i);

        receivers->heirs[i] = is_corrected ? (int64_t)i : receivers->same[i];
    }
}

void edit_receivers_clear(struct edit_receivers *receivers)
{
    free(receivers->same);
    free(receivers->heirs);
    *receivers = (struct edit_receivers){.same = NULL};
}

/* ---- the record ---- */

struct moving {
    const struct edit_receivers *receivers;
    struct notification_address *moves; /* [count] */
    size_t count, capacity;
    int64_t now_ms;
};

static int on_row(void *user, const struct notification_row *row)
{
    struct moving *moving = user;
    const struct edit_receivers *receivers = moving->receivers;
    bool is_over = row->delivered_ms > 0 || row->given_up_ms > 0;
    int64_t to;

    if (row->receiver < 0 || (size_t)row->receiver >= receivers->count)
        return 0;
    to = (is_over ? receivers->same : receivers->heirs)[row->receiver];
    if (to == row->receiver)
        return 0;
    moving->moves = mem_grow(moving->moves, moving->count, &moving->capacity,
                             sizeof(*moving->moves));
    moving->moves[moving->count++] = (struct notification_address){
        .id = row->id,
        .receiver = to,
        .given_up_ms = is_over || to != NOWHERE ? 0 : moving->now_ms,
    };
    return 0;
}

int edit_receivers_record(const struct edit_receivers *receivers,
                          struct store *store, int64_t run, struct err *err)
{
    struct moving moving = {.receivers = receivers, .now_ms = clock_wall_ms()};
    int result = store_each_notification(store, run, on_row, &moving, err);

    for (size_t i = 0; i < moving.count && result == 0; i++)
        result = store_address_notification(store, &moving.moves[i], err);
    free(moving.moves);
    return result;
}
