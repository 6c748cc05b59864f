/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_CONTROL_ADDRESS_H
#define SMTUNE_ORCHESTRATOR_RUN_CONTROL_ADDRESS_H

#include <sys/un.h>

#include "base/err.h"

#define CONTROL_SOCKET_NAME "control.sock"

/*
 * The address of the engine's socket in a run's directory. An address holds
 * 108 bytes and paths are longer, so it goes through the descriptor of the
 * directory, which is returned and is the caller's to close: the address holds
 * as long as it is open. -1 where there is no such directory.
 */
int control_address(const char *run_directory, struct sockaddr_un *address,
                    struct err *err);

#endif
