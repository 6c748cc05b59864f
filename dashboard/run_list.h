/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_RUN_LIST_H
#define SMTUNE_DASHBOARD_RUN_LIST_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

struct dashboard_source;
struct run_list;
struct store;

/*
 * The list of runs in memory, with counts and best, kept up to date by what has
 * changed. Each change of a row gives it a new, higher version. Safe from all
 * threads.
 */
struct run_list *run_list_create(const struct dashboard_source *source);
void run_list_destroy(struct run_list *list);

/* Looks at what is new in the store, and at which engines are there. */
int run_list_update(struct run_list *list, struct store *store,
                    struct err *err);

/* Rows with a version over *version, by id, and in *gone (which may be NULL)
 * the ids of runs that were removed since, and in the last minute; *version is
 * the highest then. Both are lists, new references. A row that is in there does
 * not change. */
json_t *run_list_rows(struct run_list *list, uint64_t *version, json_t **gone);

#endif
