/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_HTTP_LISTEN_H
#define SMTUNE_DASHBOARD_HTTP_LISTEN_H

#include "base/err.h"

/* Listens on a port of an IP address of this machine: a descriptor, or -1.
 * *port 0: any that is free, and the one that it is afterwards. ERR_BUSY when
 * the port is taken. */
int listen_port(const char *address, int *port, struct err *err);

#endif
