/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_HTTP_UNIX_SOCKET_H
#define SMTUNE_DASHBOARD_HTTP_UNIX_SOCKET_H

#include "base/err.h"

/* A Unix socket to listen on. Nobody but its owner can connect to it, or put
 * another in its place: it has mode 0600 and is in a private folder
 * (private_folder()). */
struct unix_socket;

/*
 * Makes one, and its folder where there is none. One that is there already is
 * replaced if its program has ended. NULL with ERR_BUSY: somebody listens
 * there; ERR_USAGE: there is something else, or the path is too long.
 */
struct unix_socket *unix_socket_open(const char *path, struct err *err);
/* The descriptor, which is from now on the caller's to close. */
int unix_socket_take(struct unix_socket *socket);
/* Removes the socket from its folder. NULL is allowed. */
void unix_socket_close(struct unix_socket *socket);

#endif
