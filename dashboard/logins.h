/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_LOGINS_H
#define SMTUNE_DASHBOARD_LOGINS_H

#include <uv.h>

#include "base/err.h"
#include "dashboard/route/route.h"

struct auth;
struct auth_place;
struct dashboard_options;
struct presence;
struct sessions;

/*
 * What lets the clients of a dashboard in: tokens of programs, sessions of
 * browsers, codes and the link of addresses; and what other programs of the
 * user find of it. All of these functions are for the thread of the loop.
 */
struct logins;

/* For a dashboard that listens at the place. NULL on error. */
struct logins *logins_open(const struct dashboard_options *options,
                           const struct auth_place *place, struct err *err);
/* From now on, a link that was withdrawn takes the sessions with it that it has
 * opened; calls `withdrawn` then. */
void logins_watch(struct logins *logins, uv_loop_t *loop,
                  void (*withdrawn)(void *user), void *user);
/* Ends the watch. Other programs find nothing of it at once, and nobody else is
 * let in. Calls `stopped` later, with the user of the watch. */
void logins_stop(struct logins *logins, void (*stopped)(void *user));
/* One that is not watched, or has stopped. */
void logins_destroy(struct logins *logins);

const struct auth *logins_auth(const struct logins *logins);
struct sessions *logins_sessions(const struct logins *logins);
const struct presence *logins_presence(const struct logins *logins);
/* What the code of an address, or the link for viewers, lets a browser do, and
 * uses it up if it is for one use. ROLE_ANYONE: nothing. */
enum role logins_use_code(const struct logins *logins, const char *code);

#endif
