/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_SHIM_HEALTH_H
#define SMTUNE_EXECUTORS_SHIM_HEALTH_H

#include "executors/executor.h"

/*
 * Whether a node is fit for an attempt, before one is started there: the disks
 * can be written, there is as much memory as is asked for, the GPUs answer, and
 * a command of the user's says so.
 */

enum { HEALTH_TEXT_MAX = 200 };

/* Checks for what `needs` asks for: its directory, memory, GPUs. command: for
 * `sh -c`, or NULL. 0, or -1 and one line of what is wrong. */
int health_check(const struct attempt_spec *needs, const char *command,
                 char text[HEALTH_TEXT_MAX]);

#endif
