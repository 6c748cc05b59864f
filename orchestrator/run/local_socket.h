/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_LOCAL_SOCKET_H
#define SMTUNE_ORCHESTRATOR_RUN_LOCAL_SOCKET_H

#include <stdbool.h>
#include <sys/un.h>

#include "base/err.h"

/* Sockets of the file system, for programs of one user. */

/* A socket that listens at that address, which must be free, and that does not
 * block. Its file has mode 0600. The caller closes it, and removes the file.
 * -1 with err, which calls it by that name. */
int local_socket_listen(const struct sockaddr_un *address, const char *name,
                        struct err *err);

/* Whether root, or the user of this process, is at the other end. */
bool local_socket_is_own(int fd);

#endif
