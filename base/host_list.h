/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_HOST_LIST_H
#define SMTUNE_BASE_HOST_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Names of hosts, as Slurm writes many of them: "n[1-4,7],gpu[01-16]-ib". */

enum { HOST_NAME_MAX_LENGTH = 64, HOST_LIST_MAX = 65536 };

struct host_list {
    char **names; /* [count] */
    size_t count, capacity;
};

/* Adds the names that the text stands for, in its order. -1 with ERR_USAGE for
 * a text that is no list, a name that no host has, or too many. */
int host_list_add(struct host_list *list, const char *text, struct err *err);
/* Sorts the names and drops repetitions. */
void host_list_sort(struct host_list *list);
/* Of a sorted list. */
bool host_list_has(const struct host_list *list, const char *name);
void host_list_clear(struct host_list *list);

#endif
