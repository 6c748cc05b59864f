/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A timer in the loop starts a look, which a worker thread makes; what it comes
 * to is sent in the loop, which then sets the timer again. A look and the loop
 * never have hold of the runs that are followed at the same time.
 */
#include "dashboard/feed.h"

#include <stdbool.h>
#include <stdlib.h>
#include <uv.h>

#include "base/clock.h"
#include "base/mem.h"
#include "dashboard/columns/columns.h"
#include "dashboard/dashboard.h"
#include "dashboard/feed_event.h"
#include "dashboard/run_list.h"
#include "dashboard/stream.h"
#include "store/changes.h"
#include "store/store.h"

enum {
    /* Engines that are gone are seen without a change of the store. */
    LIST_INTERVAL_MS = 1000,
    /* Who begins to listen may have read the list so long ago. */
    LIST_OVERLAP_MS = 10000,
};

struct followed {
    int64_t run;
    int64_t seq;  /* up to which listeners were told; 0: nothing yet */
    bool has_new; /* listeners, who know nothing of that */
};

struct listener {
    int64_t run;
    int64_t last_id; /* with which it came back; 0: it did not */
};

struct message {
    struct listener to; /* last_id 0: all of the run */
    struct blob *event;
};

struct feed {
    struct dashboard *dashboard;
    uv_timer_t timer;
    uv_work_t work;
    bool is_working;
    void (*closed)(void *user); /* NULL: it is not to be closed */
    void *user;
    struct listener *woken; /* [woken_count] who began to listen */
    size_t woken_count, woken_capacity;

    /* Of the look while there is one. */
    struct store *store; /* NULL: not open */
    int64_t data_version;
    struct followed *followed; /* [followed_count] */
    size_t followed_count, followed_capacity;
    struct listener *returned; /* [returned_count] who came back */
    size_t returned_count, returned_capacity;
    struct message *messages; /* [message_count] */
    size_t message_count, message_capacity;
    bool has_new;             /* listeners */
    int64_t listed_ms;        /* when the list was looked at; 0: not yet */
    uint64_t list_version;    /* up to which it was sent */
    uint64_t earlier_version; /* up to which it was LIST_OVERLAP_MS ago */
    uint64_t next_earlier_version;
    int64_t overlap_ms; /* since when that is the next one */
};

/* ---- a look, in a worker thread ---- */

static void add_message(struct feed *feed, struct listener to,
                        struct blob *event)
{
    feed->messages = mem_grow(feed->messages, feed->message_count,
                              &feed->message_capacity, sizeof(*feed->messages));
    feed->messages[feed->message_count++] = (struct message){to, event};
}

static void add_gone(struct feed *feed, int64_t listeners, int64_t run)
{
    add_message(feed, (struct listener){listeners, 0}, feed_event_gone(run));
}

static void tell_list(struct feed *feed)
{
    json_t *gone;
    json_t *rows = run_list_rows(dashboard_runs(feed->dashboard),
                                 &feed->list_version, &gone);

    if (json_array_size(rows) > 0)
        add_message(feed, (struct listener){0}, feed_event_runs(rows));
    for (size_t i = 0; i < json_array_size(gone); i++)
        add_gone(feed, 0, json_integer_value(json_array_get(gone, i)));
    json_decref(rows);
    json_decref(gone);
}

/* Who begins to listen may have read the list a while ago, and is told once
 * more what has changed since. */
static void keep_overlap(struct feed *feed, int64_t now_ms)
{
    if (now_ms - feed->overlap_ms < LIST_OVERLAP_MS)
        return;
    feed->overlap_ms = now_ms;
    feed->earlier_version = feed->next_earlier_version;
    feed->next_earlier_version = feed->list_version;
}

static void begin_list(struct feed *feed)
{
    json_decref(run_list_rows(dashboard_runs(feed->dashboard),
                              &feed->list_version, NULL));
    feed->earlier_version = feed->list_version;
    feed->next_earlier_version = feed->list_version;
}

static void look_at_list(struct feed *feed, bool has_changed)
{
    int64_t now_ms = clock_monotonic_ms();
    bool is_first = feed->listed_ms == 0;

    if (!has_changed && !feed->has_new &&
        now_ms - feed->listed_ms < LIST_INTERVAL_MS)
        return;
    if (is_first)
        begin_list(feed);
    if (run_list_update(dashboard_runs(feed->dashboard), feed->store, NULL) < 0)
        return;
    feed->listed_ms = now_ms;
    if (feed->has_new)
        feed->list_version = feed->earlier_version;
    tell_list(feed);
    keep_overlap(feed, now_ms);
}

/* Whether all since then goes into an event. */
static bool is_short(const struct columns_part *part, int64_t since)
{
    return part->since == since &&
           part->bytes->length <= FEED_COLUMNS_MAX_BYTES;
}

static void tell_changes(struct feed *feed, struct followed *followed)
{
    struct columns_part part = {.run = followed->run, .since = followed->seq};

    if (columns_cache_get(dashboard_columns(feed->dashboard), feed->store,
                          &part, NULL) < 0)
        return;
    add_message(feed, (struct listener){followed->run, 0},
                feed_event_rows(&part, is_short(&part, followed->seq)));
    followed->seq = part.seq;
    blob_release(part.bytes);
}

/* Before all others are told: so that who has it needs not ask. */
static void tell_missed(struct feed *feed, struct listener to)
{
    struct columns_part part = {.run = to.run, .since = to.last_id};

    if (columns_cache_get(dashboard_columns(feed->dashboard), feed->store,
                          &part, NULL) < 0)
        return;
    if (part.seq > to.last_id && is_short(&part, to.last_id))
        add_message(feed, to, feed_event_rows(&part, true));
    blob_release(part.bytes);
}

static void look_at_run(struct feed *feed, struct followed *followed)
{
    struct err err = {0};
    int64_t seq;

    if (store_last_event(feed->store, followed->run, &seq, &err) < 0) {
        if (err.kind == ERR_NOT_FOUND)
            add_gone(feed, followed->run, followed->run);
        return;
    }
    if (followed->seq > 0 && seq > followed->seq) {
        tell_changes(feed, followed);
    } else if (followed->has_new || seq != followed->seq) {
        add_message(feed, (struct listener){followed->run, 0},
                    feed_event_rows(&(struct columns_part){.run = followed->run,
                                                           .since = seq,
                                                           .seq = seq},
                                    false));
        followed->seq = seq;
    }
    followed->has_new = false;
}

static bool has_store(struct feed *feed)
{
    if (feed->store == NULL)
        feed->store =
            store_open(dashboard_store(feed->dashboard), STORE_READ, NULL);
    return feed->store != NULL;
}

/* The run that is most likely looked at first is read before anybody asks. */
static void warm_up(uv_work_t *work)
{
    struct feed *feed = work->data;
    struct columns_part part = {0};

    if (has_store(feed) &&
        store_find_run(feed->store, "last", &part.run, NULL) == 0 &&
        columns_cache_get(dashboard_columns(feed->dashboard), feed->store,
                          &part, NULL) == 0)
        blob_release(part.bytes);
}

static bool has_changed(struct feed *feed)
{
    int64_t version;

    if (store_data_version(feed->store, &version, NULL) < 0 ||
        version == feed->data_version)
        return false;
    feed->data_version = version;
    return true;
}

static void look(uv_work_t *work)
{
    struct feed *feed = work->data;
    bool changed;

    if (!has_store(feed))
        return;
    changed = has_changed(feed);
    look_at_list(feed, changed);
    for (size_t i = 0; i < feed->returned_count; i++)
        tell_missed(feed, feed->returned[i]);
    feed->returned_count = 0;
    for (size_t i = 0; i < feed->followed_count; i++) {
        if (changed || feed->followed[i].has_new)
            look_at_run(feed, &feed->followed[i]);
    }
    feed->has_new = false;
}

/* ---- in the loop ---- */

static void on_timer(uv_timer_t *timer);

static void on_timer_closed(uv_handle_t *handle)
{
    struct feed *feed = handle->data;
    void (*closed)(void *user) = feed->closed;
    void *user = feed->user;

    for (size_t i = 0; i < feed->message_count; i++)
        blob_release(feed->messages[i].event);
    store_close(feed->store);
    free(feed->woken);
    free(feed->returned);
    free(feed->followed);
    free(feed->messages);
    free(feed);
    closed(user);
}

static void end(struct feed *feed)
{
    uv_close((uv_handle_t *)&feed->timer, on_timer_closed);
}

static void send_message(struct feed *feed, const struct message *message)
{
    struct streams *streams = dashboard_streams(feed->dashboard);

    if (message->to.last_id != 0)
        stream_send_missed(streams, message->to.run, message->to.last_id,
                           message->event);
    else
        stream_send(streams, message->to.run, message->event);
}

static void on_looked(uv_work_t *work, int status)
{
    struct feed *feed = work->data;
    const struct streams *streams = dashboard_streams(feed->dashboard);

    (void)status;
    feed->is_working = false;
    if (feed->closed != NULL) {
        end(feed);
        return;
    }
    for (size_t i = 0; i < feed->message_count; i++)
        send_message(feed, &feed->messages[i]);
    feed->message_count = 0;
    uv_timer_start(&feed->timer, on_timer,
                   FEED_INTERVAL_MS + (uint64_t)stream_count(streams, -1), 0);
}

/* Who came meanwhile has waited. */
static void on_warm(uv_work_t *work, int status)
{
    struct feed *feed = work->data;

    on_looked(work, status);
    if (feed->closed == NULL)
        uv_timer_start(&feed->timer, on_timer, 0, 0);
}

static void follow(struct feed *feed, int64_t run)
{
    size_t place = 0;

    feed->has_new = true;
    if (run == 0)
        return;
    while (place < feed->followed_count && feed->followed[place].run != run)
        place++;
    if (place == feed->followed_count) {
        feed->followed =
            mem_grow(feed->followed, feed->followed_count,
                     &feed->followed_capacity, sizeof(*feed->followed));
        feed->followed[feed->followed_count++] = (struct followed){.run = run};
    }
    feed->followed[place].has_new = true;
}

/* Whoever lost the same connection comes back with the same id. */
static void note_return(struct feed *feed, struct listener listener)
{
    for (size_t i = 0; i < feed->returned_count; i++) {
        if (feed->returned[i].run == listener.run &&
            feed->returned[i].last_id == listener.last_id)
            return;
    }
    feed->returned =
        mem_grow(feed->returned, feed->returned_count, &feed->returned_capacity,
                 sizeof(*feed->returned));
    feed->returned[feed->returned_count++] = listener;
}

/* Those that somebody listens to still, and those that somebody began to. */
static void choose_followed(struct feed *feed)
{
    const struct streams *streams = dashboard_streams(feed->dashboard);
    size_t kept = 0;

    for (size_t i = 0; i < feed->followed_count; i++) {
        if (stream_count(streams, feed->followed[i].run) > 0)
            feed->followed[kept++] = feed->followed[i];
    }
    feed->followed_count = kept;
    for (size_t i = 0; i < feed->woken_count; i++) {
        follow(feed, feed->woken[i].run);
        if (feed->woken[i].run != 0 && feed->woken[i].last_id != 0)
            note_return(feed, feed->woken[i]);
    }
    feed->woken_count = 0;
}

static void on_timer(uv_timer_t *timer)
{
    struct feed *feed = timer->data;

    choose_followed(feed);
    if (stream_count(dashboard_streams(feed->dashboard), -1) == 0)
        return;
    feed->is_working =
        uv_queue_work(timer->loop, &feed->work, look, on_looked) == 0;
}

struct feed *feed_create(struct dashboard *dashboard)
{
    struct feed *feed = mem_zero(sizeof(*feed));

    feed->dashboard = dashboard;
    uv_timer_init(dashboard_loop(dashboard), &feed->timer);
    feed->timer.data = feed;
    feed->work.data = feed;
    feed->is_working =
        uv_queue_work(feed->timer.loop, &feed->work, warm_up, on_warm) == 0;
    return feed;
}

void feed_close(struct feed *feed, void (*closed)(void *user), void *user)
{
    feed->closed = closed;
    feed->user = user;
    if (!feed->is_working)
        end(feed);
}

void feed_wake(struct feed *feed, int64_t run, int64_t last_id)
{
    if (feed == NULL || feed->closed != NULL)
        return;
    feed->woken = mem_grow(feed->woken, feed->woken_count,
                           &feed->woken_capacity, sizeof(*feed->woken));
    feed->woken[feed->woken_count++] = (struct listener){run, last_id};
    if (!feed->is_working && !uv_is_active((const uv_handle_t *)&feed->timer))
        uv_timer_start(&feed->timer, on_timer, 0, 0);
}
