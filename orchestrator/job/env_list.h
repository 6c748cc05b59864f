/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_ENV_LIST_H
#define SMTUNE_ORCHESTRATOR_JOB_ENV_LIST_H

#include <stddef.h>

#include "base/compiler.h"

/*
 * The environment of a command under construction. Embedded: start from all
 * zeroes, end with env_list_clear.
 */
struct env_list {
    char **items; /* "NAME=value", NULL-ended once there is one */
    size_t count, capacity;
};

/* Copies all of a NULL-ended environment. */
void env_list_inherit(struct env_list *list, char *const *environment);
/* Sets or replaces. */
void env_list_set(struct env_list *list, const char *name, const char *value);
void env_list_printf(struct env_list *list, const char *name,
                     const char *format, ...) PRINTF_LIKE(3, 4);
/* Takes it out, if it is there. */
void env_list_unset(struct env_list *list, const char *name);
/* The value, or NULL. Lives until it is replaced. */
const char *env_list_get(const struct env_list *list, const char *name);
void env_list_clear(struct env_list *list);

#endif
