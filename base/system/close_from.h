/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_SYSTEM_CLOSE_FROM_H
#define SMTUNE_BASE_SYSTEM_CLOSE_FROM_H

#include <spawn.h>

/* Descriptors from a number on, with or without close_range(2), which came with
 * Linux 5.9. Without it they are looked up in /proc. */

/* Closes them. */
void close_from(int first);
/* Has them closed when this process executes another program. */
void close_from_on_exec(int first);
/* Has those that are open now, and would stay so, closed in the program that is
 * spawned. Returns 0 or an error number. */
int spawn_close_from(posix_spawn_file_actions_t *actions, int first);

#endif
