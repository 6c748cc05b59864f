/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ROUTE_BASE_URL_H
#define SMTUNE_DASHBOARD_ROUTE_BASE_URL_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Where browsers find the dashboard behind a reverse proxy:
 * "https://hub.example.org/user/you/proxy/8420". The user gives it, and nothing
 * that a request has can change it (X-Forwarded-Host and the like).
 */
struct base_url;

enum { BASE_URL_MAX_BYTES = 256 };

/* ERR_USAGE with NULL: it is none. */
struct base_url *base_url_parse(const char *text, struct err *err);
void base_url_destroy(struct base_url *base); /* NULL is allowed */

/* As browsers write it, without a slash at its end. */
const char *base_url_text(const struct base_url *base);
/* Its path alone, "/user/you/proxy/8420"; "": it has none. */
const char *base_url_path(const struct base_url *base);
bool base_url_is_https(const struct base_url *base);

/* Whether an `Origin` is its own. */
bool base_url_has_origin(const struct base_url *base, const char *origin);
/* Whether a `Host` is its own. */
bool base_url_has_host(const struct base_url *base, const char *host);
/* Whether the path ends with "/HOST/PORT", and a `Host` is "HOST:PORT", as Open
 * OnDemand's proxy sends it to a server on that port. */
bool base_url_names_host(const struct base_url *base, const char *host,
                         int port);

#endif
