/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/dashboard.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "dashboard/causes.h"
#include "dashboard/columns/columns.h"
#include "dashboard/dashboard_impl.h"
#include "dashboard/feed.h"
#include "dashboard/http/http.h"
#include "dashboard/http/listen.h"
#include "dashboard/http/unix_socket.h"
#include "dashboard/http/workers.h"
#include "dashboard/logins.h"
#include "dashboard/page.h"
#include "dashboard/route/auth.h"
#include "dashboard/route/base_url.h"
#include "dashboard/route/guests.h"
#include "dashboard/run_list.h"
#include "dashboard/serve.h"
#include "dashboard/store_pool.h"
#include "dashboard/streams.h"

struct dashboard {
    uv_loop_t *loop;
    const struct dashboard_source *source;
    struct store_pool *pool;
    struct logins *logins; /* NULL: it serves nobody */
    struct guests *guests;
    struct page *page;
    struct workers *workers;
    struct run_list *runs;
    struct columns_cache *columns;
    struct causes *causes;
    struct streams *streams;
    struct feed *feed;
    struct http *http;
    int port;
    bool is_read_only;
    struct unix_socket *socket; /* NULL: a port */
    struct base_url *base;      /* NULL: browsers ask it itself */
};

const struct dashboard_source *dashboard_source(
    const struct dashboard *dashboard)
{
    return dashboard->source;
}

const char *dashboard_store(const struct dashboard *dashboard)
{
    return store_pool_directory(dashboard->pool);
}

bool dashboard_is_read_only(const struct dashboard *dashboard)
{
    return dashboard->is_read_only;
}

struct run_list *dashboard_runs(const struct dashboard *dashboard)
{
    return dashboard->runs;
}

struct columns_cache *dashboard_columns(const struct dashboard *dashboard)
{
    return dashboard->columns;
}

struct causes *dashboard_causes(const struct dashboard *dashboard)
{
    return dashboard->causes;
}

struct feed *dashboard_feed(const struct dashboard *dashboard)
{
    return dashboard->feed;
}

struct streams *dashboard_streams(const struct dashboard *dashboard)
{
    return dashboard->streams;
}

struct guests *dashboard_guests(const struct dashboard *dashboard)
{
    return dashboard->guests;
}

struct page *dashboard_page(const struct dashboard *dashboard)
{
    return dashboard->page;
}

struct workers *dashboard_workers(const struct dashboard *dashboard)
{
    return dashboard->workers;
}

const struct auth *dashboard_auth(const struct dashboard *dashboard)
{
    return logins_auth(dashboard->logins);
}

struct sessions *dashboard_sessions(const struct dashboard *dashboard)
{
    return logins_sessions(dashboard->logins);
}

const char *dashboard_base_path(const struct dashboard *dashboard)
{
    return dashboard->base != NULL ? base_url_path(dashboard->base) : "";
}

bool dashboard_is_https(const struct dashboard *dashboard)
{
    return dashboard->base != NULL && base_url_is_https(dashboard->base);
}

enum role dashboard_use_code(const struct dashboard *dashboard,
                             const char *code)
{
    return logins_use_code(dashboard->logins, code);
}

uv_loop_t *dashboard_loop(const struct dashboard *dashboard)
{
    return dashboard->loop;
}

struct store *dashboard_take_store(const struct dashboard *dashboard,
                                   struct err *err)
{
    return store_pool_take(dashboard->pool, err);
}

void dashboard_give_back_store(const struct dashboard *dashboard,
                               struct store *store)
{
    store_pool_give_back(dashboard->pool, store);
}

const struct presence *dashboard_presence(const struct dashboard *dashboard)
{
    return logins_presence(dashboard->logins);
}

void dashboard_destroy(struct dashboard *dashboard)
{
    unix_socket_close(dashboard->socket);
    base_url_destroy(dashboard->base);
    logins_destroy(dashboard->logins);
    guests_destroy(dashboard->guests);
    page_destroy(dashboard->page);
    workers_destroy(dashboard->workers);
    store_pool_destroy(dashboard->pool);
    run_list_destroy(dashboard->runs);
    columns_cache_destroy(dashboard->columns);
    causes_destroy(dashboard->causes);
    free(dashboard);
}

static int read_base_url(struct dashboard *dashboard, const char *text,
                         struct err *err)
{
    if (text == NULL)
        return 0;
    dashboard->base = base_url_parse(text, err);
    return dashboard->base != NULL ? 0 : -1;
}

/* The socket, or -1. */
static int start_listening(struct dashboard *dashboard,
                           const struct dashboard_options *options,
                           struct err *err)
{
    if (options->socket_path == NULL) {
        dashboard->port = options->port;
        return listen_port(options->address, &dashboard->port, err);
    }
    dashboard->socket = unix_socket_open(options->socket_path, err);
    return dashboard->socket != NULL ? unix_socket_take(dashboard->socket) : -1;
}

static void on_withdrawn(void *user)
{
    const struct dashboard *dashboard = user;

    streams_end_viewers(dashboard->streams);
}

struct dashboard *dashboard_create(const struct dashboard_options *options,
                                   struct err *err)
{
    struct dashboard *dashboard = mem_zero(sizeof(*dashboard));

    dashboard->source = options->source;
    dashboard->is_read_only = options->read_only;
    dashboard->runs = run_list_create(options->source);
    dashboard->columns = columns_cache_create();
    dashboard->causes = causes_create();
    dashboard->pool = store_pool_create(options->store, err);
    if (dashboard->pool != NULL)
        return dashboard;
    dashboard_destroy(dashboard);
    return NULL;
}

struct dashboard *dashboard_open(uv_loop_t *loop,
                                 const struct dashboard_options *options,
                                 struct err *err)
{
    struct dashboard *dashboard = dashboard_create(options, err);
    struct http_handler handler = {.user = dashboard, .asked = serve_asked};
    struct auth_place place = {0};
    int listen_fd = -1;

    if (dashboard == NULL)
        return NULL;
    dashboard->loop = loop;
    if (read_base_url(dashboard, options->base_url, err) < 0)
        goto fail;
    listen_fd = start_listening(dashboard, options, err);
    if (listen_fd < 0)
        goto fail;
    place = (struct auth_place){
        dashboard->port, options->socket_path == NULL ? options->address : NULL,
        dashboard->base};
    dashboard->logins = logins_open(options, &place, err);
    if (dashboard->logins == NULL)
        goto fail;
    dashboard->http = http_create(loop, listen_fd, &handler, err);
    if (dashboard->http == NULL)
        goto fail;
    dashboard->guests = guests_create();
    dashboard->page = page_create();
    dashboard->workers = workers_create(loop);
    dashboard->streams = streams_create(loop);
    dashboard->feed = feed_create(dashboard);
    logins_watch(dashboard->logins, loop, on_withdrawn, dashboard);
    return dashboard;
fail:
    if (listen_fd >= 0)
        close(listen_fd);
    dashboard_destroy(dashboard);
    return NULL;
}

static void on_closed(void *user)
{
    struct dashboard *dashboard = user;

    streams_destroy(dashboard->streams);
    dashboard_destroy(dashboard);
}

/* Nothing is sent any more. */
static void on_feed_closed(void *user)
{
    struct dashboard *dashboard = user;

    dashboard->feed = NULL;
    http_close(dashboard->http, on_closed, dashboard);
    workers_drop_waiting(dashboard->workers);
}

static void on_logins_stopped(void *user)
{
    struct dashboard *dashboard = user;

    feed_close(dashboard->feed, on_feed_closed, dashboard);
}

/* Its folder goes first: the next may listen as soon as this does not. */
void dashboard_close(struct dashboard *dashboard)
{
    logins_stop(dashboard->logins, on_logins_stopped);
}
