/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ROUTE_AUTH_H
#define SMTUNE_DASHBOARD_ROUTE_AUTH_H

#include <stdbool.h>

#include "base/err.h"
#include "dashboard/route/route.h"

/*
 * Who may ask. Programs send `Authorization: Bearer` with a token of 256 random
 * bits, one for each role, which is made at the start and lives as long as the
 * program. Browsers have sessions (sessions.h).
 */

struct auth;
struct base_url;

/* Where the server is found. */
struct auth_place {
    int port; /* 0: a unix socket, which may be forwarded from any port */
    const char *address;         /* that it listens on; NULL: a socket */
    const struct base_url *base; /* where browsers find it; NULL: there */
};

/* What the place has is borrowed. Without an operator there are viewers only.
 */
struct auth *auth_create(const struct auth_place *place, bool has_operator);
void auth_destroy(struct auth *auth);

/* NULL where there is no such role. */
const char *auth_token(const struct auth *auth, enum role role);
/* What a header `Authorization` allows (NULL: there is none); in a time that
 * does not tell how much of it was right. ROLE_ANYONE: nothing. */
enum role auth_role(const struct auth *auth, const char *authorization);

/* Whether a request's `Host` is a name of this very server: another name that
 * leads here is that of somebody else's page (DNS rebinding). Behind a proxy it
 * may be the base URL's as well. */
bool auth_host_is_ours(const struct auth *auth, const char *host);
/* Whether an `Origin` is: that of the base URL and, where there is none,
 * "http://" and such a host. */
bool auth_origin_is_ours(const struct auth *auth, const char *origin);

#endif
