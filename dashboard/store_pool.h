/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_STORE_POOL_H
#define SMTUNE_DASHBOARD_STORE_POOL_H

#include "base/err.h"

struct store;

/* Connections to one store, open for reading, each with one user at a time.
 * Safe from all threads. */
struct store_pool;

/* NULL when there is no such store. */
struct store_pool *store_pool_create(const char *directory, struct err *err);
/* When all have been given back. */
void store_pool_destroy(struct store_pool *pool);
/* One that nobody else has; NULL on error. It waits for a moment where the
 * database's log has become large, so that it can begin anew. */
struct store *store_pool_take(struct store_pool *pool, struct err *err);
void store_pool_give_back(struct store_pool *pool, struct store *store);
/* The absolute path of the store's directory. */
const char *store_pool_directory(const struct store_pool *pool);

#endif
