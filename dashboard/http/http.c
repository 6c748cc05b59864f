/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/http/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "dashboard/http/http_impl.h"

/*
 * libmicrohttpd does the protocol. Its epoll descriptor is watched by the
 * loop, and whenever something is there MHD_run goes through all that is
 * ready; every callback of the library is called from there.
 *
 * A connection whose answer is being made, or whose stream has nothing to
 * send, is suspended: the library does not look at it, nor sees its client
 * leave, until it is resumed. That is what a stream's heartbeat is for.
 *
 * How long a client may take is ours to see to, once a second: the library's
 * own limit begins anew with every byte. Who is late has its socket shut down,
 * which the library meets as the client's end.
 */

enum {
    SWEEP_MS = 1000,
    /* Connections on their way out while others come in. */
    CONNECTIONS_LEAVING = 64
};

/* ---- connections ---- */

void http_cut_connection(struct http *http, struct connection *connection)
{
    if (connection->is_cut)
        return;
    connection->is_cut = true;
    http->count--;
    shutdown(connection->fd, SHUT_RDWR);
}

/* While its answer is made, the library would not look at its end. */
static bool may_be_cut(const struct connection *connection)
{
    if (connection->is_cut || connection->is_protected)
        return false;
    return !connection->is_asked || connection->exchange->response != NULL;
}

/* Who has not asked anything yet is cut before whose answer is sent, and of
 * those who waits longest. */
static bool is_before(const struct connection *a, const struct connection *b)
{
    return a->is_asked != b->is_asked ? b->is_asked
                                      : a->waits_since_ms < b->waits_since_ms;
}

static void make_room(struct http *http, struct connection *newest)
{
    struct connection *connection, *first = NULL;

    TAILQ_FOREACH(connection, &http->connections, link)
    {
        if (connection != newest && may_be_cut(connection) &&
            (first == NULL || is_before(connection, first)))
            first = connection;
    }
    if (first != NULL && first->is_asked)
        http_cut(first->exchange);
    else
        http_cut_connection(http, first != NULL ? first : newest);
}

static void on_sweep(uv_timer_t *timer)
{
    struct http *http = timer->data;
    uint64_t now_ms = uv_now(http->loop);
    struct connection *connection;

    TAILQ_FOREACH(connection, &http->connections, link)
    {
        if (connection->deadline_ms != 0 && connection->deadline_ms <= now_ms)
            http_cut_connection(http, connection);
    }
    if (TAILQ_EMPTY(&http->connections))
        uv_timer_stop(timer);
}

static void begin_connection(struct http *http, struct MHD_Connection *mhd,
                             void **context)
{
    struct connection *connection = mem_zero(sizeof(*connection));

    connection->fd =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)
            ->connect_fd;
    connection->waits_since_ms = uv_now(http->loop);
    connection->deadline_ms = connection->waits_since_ms + HTTP_REQUEST_MAX_MS;
    TAILQ_INSERT_TAIL(&http->connections, connection, link);
    *context = connection;
    if (++http->count > HTTP_CONNECTIONS_MAX)
        make_room(http, connection);
    if (!uv_is_active((uv_handle_t *)&http->sweep) && !http->is_closing)
        uv_timer_start(&http->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
}

static void on_connection(void *user, struct MHD_Connection *mhd,
                          void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http *http = user;
    struct connection *connection = *context;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        begin_connection(http, mhd, context);
        return;
    }
    if (!connection->is_cut)
        http->count--;
    TAILQ_REMOVE(&http->connections, connection, link);
    free(connection);
}

/* ---- the loop ---- */

static void on_closed(uv_handle_t *handle)
{
    struct http *http = handle->data;

    if (--http->open_handles > 0)
        return;
    http->closed(http->closed_user);
    free(http);
}

static void finish(struct http *http)
{
    uv_handle_t *handles[] = {(uv_handle_t *)&http->poll,
                              (uv_handle_t *)&http->due,
                              (uv_handle_t *)&http->sweep};

    for (size_t i = 0; i < ARRAY_LEN(handles); i++)
        uv_close(handles[i], on_closed);
    MHD_stop_daemon(http->daemon);
    http->daemon = NULL;
}

static void on_due(uv_timer_t *timer);

static void run(struct http *http)
{
    MHD_UNSIGNED_LONG_LONG timeout_ms;

    http->is_due = false;
    MHD_run(http->daemon);
    if (http->is_closing && http->answering == 0)
        finish(http);
    else if (http->is_due)
        uv_timer_start(&http->due, on_due, 0, 0);
    else if (MHD_get_timeout(http->daemon, &timeout_ms) == MHD_YES)
        uv_timer_start(&http->due, on_due, timeout_ms, 0);
    else
        uv_timer_stop(&http->due);
}

static void on_due(uv_timer_t *timer)
{
    run(timer->data);
}

void http_run_soon(struct http *http)
{
    http->is_due = true;
    uv_timer_start(&http->due, on_due, 0, 0);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    run(poll->data);
}

/* What is escaped is read by who takes the target apart. */
static size_t leave_escaped(void *user, struct MHD_Connection *mhd, char *text)
{
    (void)user;
    (void)mhd;
    return strlen(text);
}

static struct MHD_Daemon *start(struct http *http, int listen_fd)
{
    unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;

    return MHD_start_daemon(
        flags, 0, NULL, NULL, http_on_request, http, MHD_OPTION_LISTEN_SOCKET,
        listen_fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned int)(HTTP_CONNECTIONS_MAX + CONNECTIONS_LEAVING),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_HEADER_MAX_BYTES,
        MHD_OPTION_CONNECTION_TIMEOUT, 0U, MHD_OPTION_URI_LOG_CALLBACK,
        http_on_target, http, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, http_on_completed, http,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_END);
}

struct http *http_create(uv_loop_t *loop, int listen_fd,
                         const struct http_handler *handler, struct err *err)
{
    struct http *http = mem_zero(sizeof(*http));

    http->loop = loop;
    http->handler = *handler;
    TAILQ_INIT(&http->connections);
    http->daemon = start(http, listen_fd);
    if (http->daemon == NULL) {
        err_set_errno(err, ERR_FAILED, errno, "cannot serve HTTP");
        free(http);
        return NULL;
    }
    uv_poll_init(
        loop, &http->poll,
        MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd);
    uv_timer_init(loop, &http->due);
    uv_timer_init(loop, &http->sweep);
    http->poll.data = http->due.data = http->sweep.data = http;
    http->open_handles = 3;
    uv_poll_start(&http->poll, UV_READABLE, on_ready);
    return http;
}

void http_close(struct http *http, void (*closed)(void *user), void *user)
{
    struct connection *connection;

    http->is_closing = true;
    http->closed = closed;
    http->closed_user = user;
    TAILQ_FOREACH(connection, &http->connections, link)
    {
        if (connection->exchange != NULL && connection->exchange->is_stream)
            http_resume(connection->exchange);
    }
    /* Not at once: this may be called from within a run. */
    uv_timer_start(&http->due, on_due, 0, 0);
}
