/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Connections that receive events. All of it runs in the loop's thread.
 *
 * Each connection has a queue of shared blobs, from which the server takes as
 * much as the client accepts. A client that falls behind
 * STREAM_BEHIND_MAX_BYTES is cut off instead of filling memory. Its browser
 * connects again with the last id it saw, and the feed sends what it missed.
 * The heartbeat runs only while there is a connection.
 */
#include "dashboard/stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/mem.h"
#include "dashboard/dashboard.h"
#include "dashboard/route/request.h"
#include "dashboard/streams.h"

struct piece {
    STAILQ_ENTRY(piece) link;
    struct blob *blob;
};

struct stream {
    LIST_ENTRY(stream) link;
    struct streams *streams;
    struct http_exchange *exchange;
    int64_t run;
    bool is_guests;
    bool is_of_link; /* of a browser that came by the link for viewers */
    int64_t last_id; /* with which it came back, and was sent nothing since */
    STAILQ_HEAD(piece_queue, piece) pieces;
    size_t sent_bytes;   /* of the first piece */
    size_t behind_bytes; /* of all, that are not sent */
};

struct streams {
    LIST_HEAD(stream_list, stream) list;
    int count, count_of_guests;
    uv_timer_t heartbeat;
};

/* ---- one connection ---- */

static void drop_piece(struct stream *stream)
{
    struct piece *piece = STAILQ_FIRST(&stream->pieces);

    STAILQ_REMOVE_HEAD(&stream->pieces, link);
    blob_release(piece->blob);
    free(piece);
    stream->sent_bytes = 0;
}

static ssize_t on_read(void *user, char *bytes, size_t size)
{
    struct stream *stream = user;
    size_t filled = 0;

    while (filled < size && !STAILQ_EMPTY(&stream->pieces)) {
        const struct blob *blob = STAILQ_FIRST(&stream->pieces)->blob;
        size_t length = blob->length - stream->sent_bytes;

        if (length > size - filled)
            length = size - filled;
        memcpy(bytes + filled, blob->data + stream->sent_bytes, length);
        filled += length;
        stream->sent_bytes += length;
        if (stream->sent_bytes == blob->length)
            drop_piece(stream);
    }
    stream->behind_bytes -= filled;
    return (ssize_t)filled;
}

static void on_ended(void *user)
{
    struct stream *stream = user;
    struct streams *streams = stream->streams;

    while (!STAILQ_EMPTY(&stream->pieces))
        drop_piece(stream);
    LIST_REMOVE(stream, link);
    streams->count_of_guests -= stream->is_guests;
    free(stream);
    if (--streams->count == 0)
        uv_timer_stop(&streams->heartbeat);
}

/* Takes the blob over. */
static void add(struct stream *stream, struct blob *blob)
{
    struct piece *piece = mem_zero(sizeof(*piece));

    piece->blob = blob;
    STAILQ_INSERT_TAIL(&stream->pieces, piece, link);
    stream->behind_bytes += blob->length;
}

/* ---- all of them ---- */

static void on_heartbeat(uv_timer_t *timer)
{
    stream_send(timer->data, 0, stream_event("alive", 0, "{}"));
}

struct streams *streams_create(uv_loop_t *loop)
{
    struct streams *streams = mem_zero(sizeof(*streams));

    LIST_INIT(&streams->list);
    uv_timer_init(loop, &streams->heartbeat);
    streams->heartbeat.data = streams;
    return streams;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void streams_destroy(struct streams *streams)
{
    uv_close((uv_handle_t *)&streams->heartbeat, on_closed);
}

void streams_end_viewers(struct streams *streams)
{
    struct stream *stream;

    LIST_FOREACH(stream, &streams->list, link)
    {
        if (stream->is_of_link)
            http_cut(stream->exchange);
    }
}

/* What is no number that an event may have is like none. */
int64_t stream_last_id(const struct request *request)
{
    const char *text = http_header(request->exchange, "Last-Event-ID");
    long long id;
    char *end;

    if (text == NULL || *text < '1' || *text > '9')
        return 0;
    id = strtoll(text, &end, 10);
    return *end == '\0' && id <= QUERY_INT_MAX ? id : 0;
}

static int check_room(const struct streams *streams, bool is_guests,
                      struct err *err)
{
    if (streams->count == STREAMS_MAX)
        return err_set(err, ERR_SHORTAGE,
                       "too many clients: %d receive live changes, the maximum",
                       streams->count);
    if (is_guests && streams->count_of_guests == STREAMS_GUESTS_MAX)
        return err_set(err, ERR_SHORTAGE,
                       "too many viewers: %d receive live changes, the maximum",
                       streams->count_of_guests);
    return 0;
}

int stream_open(const struct request *request, int64_t run, struct err *err)
{
    /* A browser that lost us asks again after that many ms. */
    static const char greeting[] = "retry: 1000\n\n";
    struct streams *streams = dashboard_streams(request->dashboard);
    struct stream *stream;
    struct http_source source = {.read = on_read, .ended = on_ended};

    if (check_room(streams, request_is_guests(request), err) < 0)
        return -1;
    stream = mem_zero(sizeof(*stream));
    stream->streams = streams;
    stream->exchange = request->exchange;
    stream->run = run;
    stream->is_guests = request_is_guests(request);
    stream->is_of_link =
        request->target.session_key != NULL && request->role == ROLE_VIEWER;
    stream->last_id = stream_last_id(request);
    STAILQ_INIT(&stream->pieces);
    add(stream, blob_of_static(greeting, sizeof(greeting) - 1));
    LIST_INSERT_HEAD(&streams->list, stream, link);
    streams->count_of_guests += stream->is_guests;
    if (streams->count++ == 0)
        uv_timer_start(&streams->heartbeat, on_heartbeat, STREAM_HEARTBEAT_MS,
                       STREAM_HEARTBEAT_MS);
    source.user = stream;
    http_stream(request->exchange, "text/event-stream", &source);
    return 0;
}

struct blob *stream_event(const char *event, int64_t id, const char *data)
{
    struct buf text = BUF_INIT;

    buf_printf(&text, "event: %s\n", event);
    if (id > 0)
        buf_printf(&text, "id: %lld\n", (long long)id);
    buf_add_string(&text, "data: ");
    buf_add_string(&text, data);
    buf_add_string(&text, "\n\n");
    return blob_create(&text);
}

/* The blob stays the caller's. */
static void send_to(struct stream *stream, struct blob *event)
{
    add(stream, blob_hold(event));
    if (stream->behind_bytes > STREAM_BEHIND_MAX_BYTES)
        http_cut(stream->exchange);
    else
        http_stream_wake(stream->exchange);
}

void stream_send(struct streams *streams, int64_t run, struct blob *event)
{
    struct stream *stream;

    LIST_FOREACH(stream, &streams->list, link)
    {
        if (run == 0 || stream->run == run)
            send_to(stream, event);
    }
    blob_release(event);
}

void stream_send_missed(struct streams *streams, int64_t run, int64_t last_id,
                        struct blob *event)
{
    struct stream *stream;

    LIST_FOREACH(stream, &streams->list, link)
    {
        if (stream->run != run || stream->last_id != last_id)
            continue;
        stream->last_id = 0;
        send_to(stream, event);
    }
    blob_release(event);
}

int stream_count(const struct streams *streams, int64_t run)
{
    const struct stream *stream;
    int count = 0;

    if (run < 0)
        return streams->count;
    LIST_FOREACH(stream, &streams->list, link)
    count += stream->run == run;
    return count;
}
