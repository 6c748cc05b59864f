/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_SERVE_H
#define SMTUNE_DASHBOARD_SERVE_H

struct http_exchange;

/* Answers a request to the dashboard (http_handler.asked): who asks, from
 * where, for what; then has its route's function make the answer. */
void serve_asked(void *dashboard, struct http_exchange *exchange, int status);

#endif
