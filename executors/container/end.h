/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_CONTAINER_END_H
#define SMTUNE_EXECUTORS_CONTAINER_END_H

#include "base/err.h"

/*
 * Containers that do not end with the processes that started them. Each has a
 * file in the folder of its attempt, from before its start until it is gone.
 */

/* Writes that file. */
int container_end_note(const char *folder, const char *name,
                       const char *program, struct err *err);
/* Removes it: the container is gone. */
void container_end_forget(const char *folder, const char *name);

/* Removes one container of the folder, if this machine started it. */
void container_end(const char *folder, const char *name);

/* Removes all containers of the folder that this machine started and that are
 * not gone, whatever they do; waits some seconds at most. */
void container_end_all(const char *folder);

#endif
