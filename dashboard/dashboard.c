/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/dashboard.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/token.h"
#include "dashboard/access/login_code.h"
#include "dashboard/access/presence.h"
#include "dashboard/access/viewer_link.h"
#include "dashboard/causes.h"
#include "dashboard/columns/columns.h"
#include "dashboard/dashboard_impl.h"
#include "dashboard/feed.h"
#include "dashboard/http/http.h"
#include "dashboard/http/listen.h"
#include "dashboard/http/workers.h"
#include "dashboard/route/auth.h"
#include "dashboard/route/guests.h"
#include "dashboard/route/sessions.h"
#include "dashboard/run_list.h"
#include "dashboard/serve.h"
#include "dashboard/store_pool.h"
#include "dashboard/streams.h"

struct dashboard {
    uv_loop_t *loop;
    const struct dashboard_source *source;
    struct store_pool *pool;
    struct auth *auth;
    struct sessions *sessions;
    struct presence *presence;
    struct viewer_link *link;
    uv_timer_t link_timer;
    struct guests *guests;
    struct workers *workers;
    struct run_list *runs;
    struct columns_cache *columns;
    struct causes *causes;
    struct streams *streams;
    struct feed *feed;
    struct http *http;
    int port;
    bool is_read_only, is_listening;
    char *socket_path; /* NULL: a port */
};

/* How soon viewers are gone whose link was withdrawn. */
enum { LINK_LOOK_MS = 1000 };

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

struct workers *dashboard_workers(const struct dashboard *dashboard)
{
    return dashboard->workers;
}

const struct auth *dashboard_auth(const struct dashboard *dashboard)
{
    return dashboard->auth;
}

struct sessions *dashboard_sessions(const struct dashboard *dashboard)
{
    return dashboard->sessions;
}

/* A link that was withdrawn takes the sessions with it that it has opened. */
static void look_at_link(const struct dashboard *dashboard)
{
    if (!viewer_link_refresh(dashboard->link))
        return;
    sessions_end(dashboard->sessions, ROLE_VIEWER);
    streams_end_viewers(dashboard->streams);
}

enum role dashboard_use_code(const struct dashboard *dashboard,
                             const char *code)
{
    if (dashboard->presence == NULL)
        return ROLE_ANYONE;
    look_at_link(dashboard);
    if (token_is_equal(viewer_link_text(dashboard->link), code, strlen(code)))
        return ROLE_VIEWER;
    return !dashboard->is_read_only &&
                   login_code_use(presence_folder(dashboard->presence), code,
                                  clock_monotonic_ms())
               ? ROLE_OPERATOR
               : ROLE_ANYONE;
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
    return dashboard->presence;
}

void dashboard_destroy(struct dashboard *dashboard)
{
    if (dashboard->socket_path != NULL && dashboard->is_listening)
        unlink(dashboard->socket_path);
    free(dashboard->socket_path);
    presence_destroy(dashboard->presence);
    viewer_link_close(dashboard->link);
    sessions_destroy(dashboard->sessions);
    auth_destroy(dashboard->auth);
    guests_destroy(dashboard->guests);
    workers_destroy(dashboard->workers);
    store_pool_destroy(dashboard->pool);
    run_list_destroy(dashboard->runs);
    columns_cache_destroy(dashboard->columns);
    causes_destroy(dashboard->causes);
    free(dashboard);
}

/* The socket, or -1. */
static int start_listening(struct dashboard *dashboard,
                           const struct dashboard_options *options,
                           struct err *err)
{
    int fd;

    dashboard->port = options->port;
    dashboard->socket_path = mem_copy_string(options->socket_path);
    fd = options->socket_path != NULL
             ? listen_unix(options->socket_path, err)
             : listen_port(options->address, &dashboard->port, err);
    dashboard->is_listening = fd >= 0;
    return fd;
}

/* "http://127.0.0.1:8420". A socket is reached through a port that we do not
 * know. */
static char *url_of(const struct dashboard *dashboard, const char *address)
{
    if (dashboard->socket_path != NULL)
        return mem_copy_string("http://localhost");
    return mem_printf(strchr(address, ':') != NULL ? "http://[%s]:%d"
                                                   : "http://%s:%d",
                      address, dashboard->port);
}

static int write_tokens(const struct dashboard *dashboard, struct err *err)
{
    static const char *const files[] = {
        [ROLE_VIEWER] = "viewer", [ROLE_OPERATOR] = "operator"};

    for (enum role role = ROLE_VIEWER; role <= ROLE_OPERATOR; role++) {
        const char *token = auth_token(dashboard->auth, role);

        if (token != NULL &&
            presence_write(dashboard->presence, files[role], token, err) < 0)
            return -1;
    }
    return 0;
}

/* Who may come in, and where their programs find how. */
static int open_access(struct dashboard *dashboard,
                       const struct dashboard_options *options, struct err *err)
{
    char *url = url_of(dashboard, options->address);
    char *name = presence_name(dashboard->port, dashboard->socket_path);
    const struct presence_about about = {.url = url,
                                         .store = dashboard_store(dashboard),
                                         .socket = dashboard->socket_path,
                                         .is_read_only = options->read_only};

    dashboard->auth =
        auth_create(dashboard->socket_path != NULL ? 0 : dashboard->port,
                    !options->read_only);
    dashboard->sessions = sessions_create();
    dashboard->presence =
        presence_create(options->presences, name, &about, err);
    free(name);
    free(url);
    if (dashboard->presence == NULL || write_tokens(dashboard, err) < 0)
        return -1;
    dashboard->link = viewer_link_open(
        about.store, presence_folder(dashboard->presence), err);
    return dashboard->link != NULL ? 0 : -1;
}

static void on_link_timer(uv_timer_t *timer)
{
    look_at_link(timer->data);
}

static void watch_link(struct dashboard *dashboard)
{
    uv_timer_init(dashboard->loop, &dashboard->link_timer);
    dashboard->link_timer.data = dashboard;
    uv_timer_start(&dashboard->link_timer, on_link_timer, LINK_LOOK_MS,
                   LINK_LOOK_MS);
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
    int listen_fd = -1;

    if (dashboard == NULL)
        return NULL;
    dashboard->loop = loop;
    listen_fd = start_listening(dashboard, options, err);
    if (listen_fd < 0)
        goto fail;
    if (open_access(dashboard, options, err) < 0)
        goto fail;
    dashboard->http = http_create(loop, listen_fd, &handler, err);
    if (dashboard->http == NULL)
        goto fail;
    dashboard->guests = guests_create();
    dashboard->workers = workers_create(loop);
    dashboard->streams = streams_create(loop);
    dashboard->feed = feed_create(dashboard);
    watch_link(dashboard);
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

static void on_link_timer_closed(uv_handle_t *handle)
{
    struct dashboard *dashboard = handle->data;

    feed_close(dashboard->feed, on_feed_closed, dashboard);
}

/* Its folder goes first: the next may listen as soon as this does not. */
void dashboard_close(struct dashboard *dashboard)
{
    presence_destroy(dashboard->presence);
    dashboard->presence = NULL;
    uv_close((uv_handle_t *)&dashboard->link_timer, on_link_timer_closed);
}
