/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/control.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/run/control_address.h"
#include "orchestrator/run/local_socket.h"

/*
 * A client is a descriptor, what came of its next line, and what it has not
 * taken yet of our lines. It is freed when its handle is closed; until then
 * is_closed says that it is not to be touched.
 */

enum {
    ACCEPTS_A_TURN = 16,
    PIECE_BYTES = 4096,        /* read from a client in one turn */
    BEHIND_BYTES = 256 * 1024, /* from then on subscribers miss lines */
    LOOK_EVERY_MS = 200,
    LAST_WORDS_MS = 1000
};

struct control_client {
    struct control *control;
    uv_poll_t poll;
    int fd;
    struct buf in, out;
    int64_t deadline_ms; /* monotonic: for its next request */
    bool is_subscribed, is_closed;
    TAILQ_ENTRY(control_client) link;
};

TAILQ_HEAD(client_list, control_client);

struct control {
    uv_loop_t *loop;
    struct control_events events;
    int fd, directory;
    struct sockaddr_un address;
    uv_poll_t poll;
    uv_timer_t look;
    struct client_list clients;
    int client_count, subscriber_count;
    int open_handles;
};

json_t *control_error(const struct err *err)
{
    json_t *reply = json_object();

    json_object_set_new(reply, "error", json_from_text(err->text));
    json_object_set_new(reply, "status",
                        json_integer(err_exit_status(err->kind)));
    return reply;
}

/* ---- clients ---- */

static void on_client_closed(uv_handle_t *handle)
{
    struct control_client *client = handle->data;

    close(client->fd);
    buf_clear(&client->in);
    buf_clear(&client->out);
    free(client);
}

static void drop(struct control_client *client)
{
    struct control *control = client->control;

    if (client->is_closed)
        return;
    client->is_closed = true;
    control->client_count--;
    control->subscriber_count -= client->is_subscribed;
    TAILQ_REMOVE(&control->clients, client, link);
    uv_close((uv_handle_t *)&client->poll, on_client_closed);
}

static void on_client(uv_poll_t *handle, int status, int events);

static void listen_to(struct control_client *client)
{
    int events = client->out.length > 0 ? UV_WRITABLE : UV_READABLE;

    /* A subscriber that reads slowly must still be noticed to leave. */
    uv_poll_start(&client->poll, events | UV_DISCONNECT, on_client);
}

static void flush(struct control_client *client)
{
    ssize_t sent;

    do {
        sent = send(client->fd, client->out.data, client->out.length,
                    MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0)
            buf_consume(&client->out, (size_t)sent);
    } while (client->out.length > 0 &&
             (sent > 0 || (sent < 0 && errno == EINTR)));
    if (client->out.length > 0 && errno != EAGAIN)
        drop(client);
}

static void say(struct control_client *client, const json_t *line)
{
    json_print(line, &client->out);
    buf_add_char(&client->out, '\n');
    flush(client);
}

static void answer(struct control_client *client, const char *line,
                   size_t length)
{
    const struct control_events *events = &client->control->events;
    struct err err = {0};
    json_t *request = json_parse(line, length, &err);
    json_t *reply = NULL;

    client->deadline_ms =
        clock_monotonic_ms() + client->control->events.patience_ms;
    if (json_is_object(request))
        reply = events->request(events->user, request, client);
    else if (request != NULL)
        err_set(&err, ERR_USAGE,
                "type mismatch: a request must be a JSON object");
    if (reply == NULL)
        reply = control_error(&err);
    if (!client->is_closed)
        say(client, reply);
    json_decref(request);
    json_decref(reply);
}

/* The lines that are there, as long as the client takes its replies. */
static void answer_lines(struct control_client *client)
{
    size_t done = 0;
    const char *end;

    while (!client->is_closed && client->out.length == 0 &&
           client->in.length > done &&
           (end = memchr(client->in.data + done, '\n',
                         client->in.length - done)) != NULL) {
        const char *line = client->in.data + done;

        done = (size_t)(end - client->in.data) + 1;
        answer(client, line, (size_t)(end - line));
    }
    if (!client->is_closed)
        buf_consume(&client->in, done);
}

static void refuse_long_line(struct control_client *client)
{
    struct err err;
    json_t *reply;

    err_set(&err, ERR_USAGE, "out of range: a request has at most %d bytes",
            CONTROL_LINE_MAX);
    reply = control_error(&err);
    say(client, reply);
    json_decref(reply);
    drop(client);
}

static void take_piece(struct control_client *client)
{
    ssize_t length = recv(client->fd, buf_reserve(&client->in, PIECE_BYTES),
                          PIECE_BYTES, MSG_DONTWAIT);

    if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) {
        drop(client);
        return;
    }
    if (length < 0)
        return;
    client->in.length += (size_t)length;
    answer_lines(client);
    if (!client->is_closed && client->in.length > CONTROL_LINE_MAX)
        refuse_long_line(client);
}

static void on_client(uv_poll_t *handle, int status, int events)
{
    struct control_client *client = handle->data;

    if (status < 0 || (events & (UV_READABLE | UV_WRITABLE)) == 0) {
        drop(client);
        return;
    }
    if (events & UV_WRITABLE) {
        flush(client);
        if (!client->is_closed)
            answer_lines(client);
    }
    if (!client->is_closed && events & UV_READABLE)
        take_piece(client);
    if (!client->is_closed)
        listen_to(client);
}

/* ---- the door ---- */

static void turn_away(int fd, const char *why)
{
    struct buf line = BUF_INIT;
    struct err err;
    json_t *reply;

    err_set(&err, ERR_BUSY, "%s", why);
    reply = control_error(&err);
    json_print(reply, &line);
    buf_add_char(&line, '\n');
    if (send(fd, line.data, line.length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        errno = 0; /* it does not matter whether they hear it */
    json_decref(reply);
    buf_clear(&line);
    close(fd);
}

static void welcome(struct control *control, int fd)
{
    struct control_client *client;

    if (!local_socket_is_own(fd)) {
        turn_away(fd, "this run belongs to another user");
        return;
    }
    if (control->client_count == CONTROL_CLIENTS_MAX) {
        turn_away(fd, "too many programs are connected to this engine");
        return;
    }
    client = mem_zero(sizeof(*client));
    if (uv_poll_init(control->loop, &client->poll, fd) != 0) {
        free(client);
        close(fd);
        return;
    }
    uv_unref((uv_handle_t *)&client->poll);
    client->poll.data = client;
    client->control = control;
    client->fd = fd;
    client->deadline_ms =
        clock_monotonic_ms() + client->control->events.patience_ms;
    TAILQ_INSERT_TAIL(&control->clients, client, link);
    control->client_count++;
    listen_to(client);
}

static void on_knock(uv_poll_t *handle, int status, int events)
{
    struct control *control = handle->data;

    (void)status, (void)events;
    for (int i = 0; i < ACCEPTS_A_TURN; i++) {
        int fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            welcome(control, fd);
        } else if (errno == EMFILE || errno == ENFILE) {
            uv_poll_stop(&control->poll); /* until the next look */
            return;
        } else if (errno != ECONNABORTED && errno != EINTR) {
            return;
        }
    }
}

/* Now and then: who is late has to go. */
static void on_look(uv_timer_t *handle)
{
    struct control *control = handle->data;
    struct control_client *client, *next;
    int64_t now_ms = clock_monotonic_ms();

    uv_poll_start(&control->poll, UV_READABLE, on_knock);
    for (client = TAILQ_FIRST(&control->clients); client != NULL;
         client = next) {
        next = TAILQ_NEXT(client, link);
        if (!client->is_subscribed && now_ms > client->deadline_ms)
            drop(client);
    }
}

static int open_socket(struct control *control, struct err *err)
{
    unlinkat(control->directory, CONTROL_SOCKET_NAME, 0);
    control->fd =
        local_socket_listen(&control->address, CONTROL_SOCKET_NAME, err);
    return control->fd >= 0 ? 0 : -1;
}

struct control *control_open(uv_loop_t *loop, const char *run_directory,
                             const struct control_events *events,
                             struct err *err)
{
    struct control *control = mem_zero(sizeof(*control));

    control->loop = loop;
    control->events = *events;
    control->fd = -1;
    TAILQ_INIT(&control->clients);
    control->directory = control_address(run_directory, &control->address, err);
    if (control->directory < 0 || open_socket(control, err) != 0) {
        if (control->fd >= 0)
            close(control->fd);
        if (control->directory >= 0)
            close(control->directory);
        free(control);
        return NULL;
    }
    uv_poll_init(loop, &control->poll, control->fd);
    uv_timer_init(loop, &control->look);
    control->open_handles = 2;
    control->poll.data = control->look.data = control;
    uv_poll_start(&control->poll, UV_READABLE, on_knock);
    uv_timer_start(&control->look, on_look, LOOK_EVERY_MS, LOOK_EVERY_MS);
    uv_unref((uv_handle_t *)&control->poll);
    uv_unref((uv_handle_t *)&control->look);
    return control;
}

/* ---- subscribers ---- */

void control_subscribe(struct control_client *client)
{
    client->control->subscriber_count += !client->is_subscribed;
    client->is_subscribed = true;
}

bool control_has_subscribers(const struct control *control)
{
    return control != NULL && control->subscriber_count > 0;
}

void control_publish(struct control *control, json_t *event)
{
    struct buf line = BUF_INIT;
    struct control_client *client, *next;

    json_print(event, &line);
    buf_add_char(&line, '\n');
    json_decref(event);
    for (client = TAILQ_FIRST(&control->clients); client != NULL;
         client = next) {
        next = TAILQ_NEXT(client, link);
        if (!client->is_subscribed || client->out.length > BEHIND_BYTES)
            continue;
        buf_add(&client->out, line.data, line.length);
        flush(client);
        if (!client->is_closed)
            listen_to(client);
    }
    buf_clear(&line);
}

/* ---- the end ---- */

static void wait_for_readers(struct control *control)
{
    int64_t end_ms = clock_monotonic_ms() + LAST_WORDS_MS;
    struct control_client *client, *next;

    for (client = TAILQ_FIRST(&control->clients); client != NULL;
         client = next) {
        struct pollfd file = {.fd = client->fd, .events = POLLOUT};
        int64_t left_ms;

        next = TAILQ_NEXT(client, link);
        while (!client->is_closed && client->out.length > 0 &&
               (left_ms = end_ms - clock_monotonic_ms()) > 0) {
            poll(&file, 1, (int)left_ms);
            flush(client);
        }
        drop(client);
    }
}

static void on_closed(uv_handle_t *handle)
{
    struct control *control = handle->data;

    if (--control->open_handles > 0)
        return;
    close(control->fd);
    close(control->directory);
    free(control);
}

void control_close(struct control *control)
{
    if (control == NULL)
        return;
    unlinkat(control->directory, CONTROL_SOCKET_NAME, 0);
    wait_for_readers(control);
    uv_close((uv_handle_t *)&control->poll, on_closed);
    uv_close((uv_handle_t *)&control->look, on_closed);
}
