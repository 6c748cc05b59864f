/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_DASHBOARD_IMPL_H
#define SMTUNE_DASHBOARD_DASHBOARD_IMPL_H

#include "dashboard/dashboard.h"
#include "dashboard/route/route.h"

struct auth;
struct guests;
struct page;
struct sessions;
struct store;
struct workers;

/* What serving takes of the dashboard. */

const struct auth *dashboard_auth(const struct dashboard *dashboard);
struct sessions *dashboard_sessions(const struct dashboard *dashboard);
/* What the code of an address, or the link for viewers, lets a browser do, and
 * uses it up if it is for one use. ROLE_ANYONE: nothing. */
enum role dashboard_use_code(const struct dashboard *dashboard,
                             const char *code);

/* The path of the base URL, which proxies may keep in what they ask; "": there
 * is none. */
const char *dashboard_base_path(const struct dashboard *dashboard);
/* Whether browsers ask the proxy by HTTPS. */
bool dashboard_is_https(const struct dashboard *dashboard);

struct guests *dashboard_guests(const struct dashboard *dashboard);

struct page *dashboard_page(const struct dashboard *dashboard);

struct workers *dashboard_workers(const struct dashboard *dashboard);

/* A connection to the store for a worker thread to have to itself; NULL on
 * error. From any thread. */
struct store *dashboard_take_store(const struct dashboard *dashboard,
                                   struct err *err);
void dashboard_give_back_store(const struct dashboard *dashboard,
                               struct store *store);

#endif
