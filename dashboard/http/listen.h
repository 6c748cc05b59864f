/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_HTTP_LISTEN_H
#define SMTUNE_DASHBOARD_HTTP_LISTEN_H

#include "base/err.h"

/* Sockets to listen on: a descriptor, or -1. */

/* A port of this machine's own ("127.0.0.1" or "::1"); *port 0: any that is
 * free, and the one that it is afterwards. ERR_BUSY when it is taken. */
int listen_port(const char *address, int *port, struct err *err);

/* A unix socket that nobody but its owner can connect to. What an ended program
 * left at the path is replaced; ERR_BUSY when somebody listens there. */
int listen_unix(const char *path, struct err *err);

#endif
