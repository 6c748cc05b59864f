/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The link for viewers is a file in the store, which may be on a disk that does
 * not answer for a while: it is read in a worker thread, once a second, and the
 * loop compares codes with a copy. While a look is under way the link is the
 * thread's. The folder for other programs is on a disk of this machine, and the
 * loop's: in between two looks it is made anew where it is gone.
 */
#include "dashboard/logins.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/token.h"
#include "dashboard/access/login_code.h"
#include "dashboard/access/presence.h"
#include "dashboard/access/viewer_link.h"
#include "dashboard/dashboard.h"
#include "dashboard/route/auth.h"
#include "dashboard/route/base_url.h"
#include "dashboard/route/sessions.h"

struct logins {
    struct auth *auth;
    struct sessions *sessions;
    struct presence *presence; /* NULL: it has stopped */
    struct viewer_link *link;
    char link_text[VIEWER_LINK_SIZE]; /* the loop's copy */

    uv_timer_t timer;
    uv_work_t work;
    bool is_looking;
    void (*withdrawn)(void *user);
    void (*stopped)(void *user); /* NULL: it is not to stop */
    void *user;
};

/* How soon viewers are gone whose link was withdrawn. */
enum { LOOK_MS = 1000 };

/* ---- opening ---- */

/* Where programs of this machine ask: "http://127.0.0.1:8420". */
static char *url_of(const struct auth_place *place)
{
    const char *address = place->address;

    if (address == NULL)
        return mem_copy_string("http://localhost");
    if (strcmp(address, "0.0.0.0") == 0) /* each of the machine's */
        address = "127.0.0.1";
    else if (strcmp(address, "::") == 0)
        address = "::1";
    return mem_printf(strchr(address, ':') != NULL ? "http://[%s]:%d"
                                                   : "http://%s:%d",
                      address, place->port);
}

static struct presence *make_presence(const struct dashboard_options *options,
                                      const struct auth_place *place,
                                      struct err *err)
{
    char *url = url_of(place);
    char *name = presence_name(place->port, options->socket_path);
    const struct presence_about about = {
        .url = url,
        .base_url = place->base != NULL ? base_url_text(place->base) : NULL,
        .store = options->store,
        .socket = options->socket_path,
        .is_read_only = options->read_only};
    struct presence *presence =
        presence_create(options->presences, name, &about, err);

    free(name);
    free(url);
    return presence;
}

static int write_tokens(const struct logins *logins, struct err *err)
{
    static const struct {
        enum role role;
        const char *file;
    } tokens[] = {{ROLE_VIEWER, "viewer"}, {ROLE_OPERATOR, "operator"}};

    for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
        const char *token = auth_token(logins->auth, tokens[i].role);

        if (token != NULL &&
            presence_write(logins->presence, tokens[i].file, token, err) < 0)
            return -1;
    }
    return 0;
}

struct logins *logins_open(const struct dashboard_options *options,
                           const struct auth_place *place, struct err *err)
{
    struct logins *logins = mem_zero(sizeof(*logins));

    logins->auth = auth_create(place, !options->read_only);
    logins->sessions = sessions_create();
    logins->presence = make_presence(options, place, err);
    if (logins->presence != NULL && write_tokens(logins, err) == 0)
        logins->link = viewer_link_open(options->store,
                                        presence_folder(logins->presence), err);
    if (logins->link == NULL) {
        logins_destroy(logins);
        return NULL;
    }
    memcpy(logins->link_text, viewer_link_text(logins->link), VIEWER_LINK_SIZE);
    return logins;
}

void logins_destroy(struct logins *logins)
{
    if (logins == NULL)
        return;
    presence_destroy(logins->presence);
    viewer_link_close(logins->link);
    sessions_destroy(logins->sessions);
    auth_destroy(logins->auth);
    free(logins);
}

/* ---- the watch ---- */

static void look(uv_work_t *work)
{
    struct logins *logins = work->data;

    viewer_link_refresh(logins->link);
}

static void take_link(struct logins *logins)
{
    const char *text = viewer_link_text(logins->link);

    if (strcmp(text, logins->link_text) == 0)
        return;
    memcpy(logins->link_text, text, VIEWER_LINK_SIZE);
    sessions_end(logins->sessions, ROLE_VIEWER);
    logins->withdrawn(logins->user);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct logins *logins = handle->data;

    logins->stopped(logins->user);
}

static void on_looked(uv_work_t *work, int status)
{
    struct logins *logins = work->data;

    (void)status;
    logins->is_looking = false;
    if (logins->stopped != NULL)
        uv_close((uv_handle_t *)&logins->timer, on_timer_closed);
    else
        take_link(logins);
}

/* Whether the folder for other programs is there. */
static bool keep_presence(struct logins *logins)
{
    int status = presence_refresh(logins->presence, NULL);

    if (status > 0) {
        write_tokens(logins, NULL);
        viewer_link_move(logins->link, presence_folder(logins->presence));
    }
    return status >= 0;
}

static void on_timer(uv_timer_t *timer)
{
    struct logins *logins = timer->data;

    if (logins->is_looking)
        return;
    /* Nobody has removed a link whose folder is gone as a whole. */
    if (!keep_presence(logins) && !viewer_link_is_in_store(logins->link))
        return;
    logins->is_looking = true;
    uv_queue_work(timer->loop, &logins->work, look, on_looked);
}

void logins_watch(struct logins *logins, uv_loop_t *loop,
                  void (*withdrawn)(void *user), void *user)
{
    logins->withdrawn = withdrawn;
    logins->user = user;
    logins->work.data = logins;
    uv_timer_init(loop, &logins->timer);
    logins->timer.data = logins;
    uv_timer_start(&logins->timer, on_timer, LOOK_MS, LOOK_MS);
}

void logins_stop(struct logins *logins, void (*stopped)(void *user))
{
    presence_destroy(logins->presence);
    logins->presence = NULL;
    logins->stopped = stopped;
    uv_timer_stop(&logins->timer);
    if (!logins->is_looking)
        uv_close((uv_handle_t *)&logins->timer, on_timer_closed);
}

/* ---- who comes in ---- */

const struct auth *logins_auth(const struct logins *logins)
{
    return logins->auth;
}

struct sessions *logins_sessions(const struct logins *logins)
{
    return logins->sessions;
}

const struct presence *logins_presence(const struct logins *logins)
{
    return logins->presence;
}

enum role logins_use_code(const struct logins *logins, const char *code)
{
    if (logins->presence == NULL)
        return ROLE_ANYONE;
    if (token_is_equal(logins->link_text, code, strlen(code)))
        return ROLE_VIEWER;
    return !presence_about(logins->presence)->is_read_only &&
                   login_code_use(presence_folder(logins->presence), code,
                                  clock_monotonic_ms())
               ? ROLE_OPERATOR
               : ROLE_ANYONE;
}
