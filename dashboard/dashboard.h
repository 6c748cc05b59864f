/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_DASHBOARD_H
#define SMTUNE_DASHBOARD_DASHBOARD_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "dashboard/source.h"

/*
 * A server of one page and the API behind it, over a store that is only ever
 * opened for reading. In the caller's loop are the connections; what reads the
 * store or takes time is done in libuv's threads.
 *
 *   http.c      libmicrohttpd in the loop; limits; who may ask
 *   route.h     the table of what can be asked; *.c the functions
 *   columns.h   a run's trials as columns in memory, kept up to date
 *   causes.h    how attempts of all runs ended, likewise
 *   run_list.h  the list of runs, likewise
 *   feed.h      looks for what is new in the store, and tells streams
 *   logins.h    what lets clients in
 *   source.h    what cli/ gives: documents and actions
 *   page.c      the built page, a part of the program
 */

struct dashboard;
struct causes;
struct columns_cache;
struct feed;
struct presence;
struct run_list;
struct streams;

struct dashboard_options {
    const char *store;       /* the store's directory */
    const char *address;     /* to listen on: "127.0.0.1" */
    int port;                /* 0: any that is free */
    const char *socket_path; /* a unix socket instead; NULL: none */
    const char *base_url;    /* where a proxy shows it; NULL: no proxy */
    const char *presences;   /* for access/presence.h; NULL: that of all */
    bool read_only;          /* there are viewers only */
    const struct dashboard_source *source;
};

/* Opens the store and listens. NULL on error. */
struct dashboard *dashboard_open(uv_loop_t *loop,
                                 const struct dashboard_options *options,
                                 struct err *err);
/* Ends all connections; the loop has to be run to its end after that. */
void dashboard_close(struct dashboard *dashboard);

/* What it leaves for other programs of the user: tokens, and addresses. */
const struct presence *dashboard_presence(const struct dashboard *dashboard);

/* The same in a loop of its own, until SIGINT or SIGTERM comes: 0. `ready` is
 * called once it listens; where it fails, so does this. */
int dashboard_run(const struct dashboard_options *options,
                  int (*ready)(void *user, const struct dashboard *dashboard,
                               struct err *err),
                  void *user, struct err *err);

/* ---- for the files of this folder ---- */

/* One that is asked by its own program alone, and serves nobody: options say
 * nothing of where to listen. NULL on error. */
struct dashboard *dashboard_create(const struct dashboard_options *options,
                                   struct err *err);
void dashboard_destroy(struct dashboard *dashboard);

const struct dashboard_source *dashboard_source(
    const struct dashboard *dashboard);
const char *dashboard_store(const struct dashboard *dashboard);
bool dashboard_is_read_only(const struct dashboard *dashboard);
uv_loop_t *dashboard_loop(const struct dashboard *dashboard);
struct run_list *dashboard_runs(const struct dashboard *dashboard);
struct columns_cache *dashboard_columns(const struct dashboard *dashboard);
struct causes *dashboard_causes(const struct dashboard *dashboard);
struct feed *dashboard_feed(const struct dashboard *dashboard);
struct streams *dashboard_streams(const struct dashboard *dashboard);

#endif
