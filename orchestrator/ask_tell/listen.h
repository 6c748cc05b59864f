/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ASK_TELL_LISTEN_H
#define SMTUNE_ORCHESTRATOR_ASK_TELL_LISTEN_H

#include "base/err.h"

/*
 * A socket of the file system for clients of the same user. What a server that
 * is gone left there is replaced. -1: ERR_BUSY where another one listens,
 * ERR_USAGE where the path is too long, or something else is there. The caller
 * closes it, and removes the file.
 */
int listen_at(const char *path, struct err *err);

/* The socket in a run's directory on which commands talk to its engine; the
 * caller holds the engine's lock, and removes the file. -1 with err. */
int listen_for_commands(const char *run_directory, struct err *err);

#endif
