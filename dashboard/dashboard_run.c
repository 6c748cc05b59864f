/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>

#include "base/compiler.h"
#include "dashboard/dashboard.h"

/* A dashboard with a loop to itself, until it is told to end. */

static const int ending_signals[] = {SIGINT, SIGTERM};

struct session {
    struct dashboard *dashboard;
    uv_signal_t signals[ARRAY_LEN(ending_signals)];
};

static void end(struct session *session)
{
    for (size_t i = 0; i < ARRAY_LEN(ending_signals); i++)
        uv_close((uv_handle_t *)&session->signals[i], NULL);
    dashboard_close(session->dashboard);
}

static void on_signal(uv_signal_t *handle, int number)
{
    (void)number;
    end(handle->data);
}

/* Before it is ready: who reads that may end it at once. */
static void listen_to_signals(uv_loop_t *loop, struct session *session)
{
    for (size_t i = 0; i < ARRAY_LEN(ending_signals); i++) {
        uv_signal_init(loop, &session->signals[i]);
        session->signals[i].data = session;
        uv_signal_start(&session->signals[i], on_signal, ending_signals[i]);
    }
}

int dashboard_run(const struct dashboard_options *options,
                  int (*ready)(void *user, const struct dashboard *dashboard,
                               struct err *err),
                  void *user, struct err *err)
{
    struct session session;
    uv_loop_t loop;
    int status = -1;

    uv_loop_init(&loop);
    session.dashboard = dashboard_open(&loop, options, err);
    if (session.dashboard != NULL) {
        listen_to_signals(&loop, &session);
        status = ready(user, session.dashboard, err);
        if (status != 0)
            end(&session);
        uv_run(&loop, UV_RUN_DEFAULT);
    }
    uv_loop_close(&loop);
    return status;
}
