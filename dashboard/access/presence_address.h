/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ACCESS_PRESENCE_ADDRESS_H
#define SMTUNE_DASHBOARD_ACCESS_PRESENCE_ADDRESS_H

#include <stdint.h>

#include "base/err.h"
#include "dashboard/access/presence.h"

/* The addresses that let a browser in to a running dashboard: at its proxy, at
 * its port or, where it has a socket, at a port of ssh on the user's machine.
 */

enum { PRESENCE_TUNNEL_PORT = 8420 };

/* The address for the operator's browser, with a new code; NULL on error, and
 * where there is no operator (read-only; then err is left alone). The caller's
 * to free, like the next. */
char *presence_operator_address(const struct presence *presence, int64_t now_ms,
                                struct err *err);
/* The address for viewers. */
char *presence_viewer_address(const struct presence *presence, struct err *err);
/* Makes that address invalid, and another one valid. */
int presence_withdraw(const struct presence *presence, struct err *err);

#endif
