/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_AGENT_H
#define SMTUNE_EXECUTORS_SHIM_AGENT_H

#include "base/err.h"

/*
 * The long-lived form of the shim: starts and looks after many attempts for
 * one engine, which speaks to it over a socket (agent_message.h). It outlives
 * the engine: then it starts nothing more, and ends when nothing runs.
 */

/* Returns when all is done: 0, or -1 when it could not begin. */
int agent_run(int socket_fd, struct err *err);

#endif
