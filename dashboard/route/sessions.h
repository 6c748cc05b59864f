/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ROUTE_SESSIONS_H
#define SMTUNE_DASHBOARD_ROUTE_SESSIONS_H

#include <stddef.h>

#include "base/token.h"
#include "dashboard/route/route.h"

/*
 * Browsers that were let in. Each has a key, which is in the paths of what its
 * page asks for ("/s/KEY/api/v1/runs"), and a secret, which is in its cookie. A
 * session is both: the cookie is of the path /s/KEY/, so that a browser sends
 * it nowhere else.
 */

enum {
    SESSION_KEY_BYTES = 16,
    SESSION_SECRET_BYTES = 32,
    SESSIONS_MAX = 256, /* of each role; a new one takes the place of the one
                           that was used longest ago */
};

#define SESSION_COOKIE "smtune"

struct session {
    char key[TOKEN_SIZE(SESSION_KEY_BYTES)];
    char secret[TOKEN_SIZE(SESSION_SECRET_BYTES)];
};

struct sessions;

struct sessions *sessions_create(void);
void sessions_destroy(struct sessions *sessions);

/* Lets a browser in as a viewer or an operator. Borrowed, until the next. */
const struct session *sessions_add(struct sessions *sessions, enum role role);
/* What the session of that key may, with the header `Cookie` (NULL: none) of
 * the same request. ROLE_ANYONE: nothing. */
enum role sessions_role(struct sessions *sessions, const char *key,
                        size_t key_length, const char *cookie);
/* Ends all sessions of a role. */
void sessions_end(struct sessions *sessions, enum role role);

#endif
