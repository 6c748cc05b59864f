/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_REPAIR_CHECK_H
#define SMTUNE_STORE_REPAIR_CHECK_H

#include "base/err.h"

/*
 * Whether the database as such is sound: its pages and indexes, and that no
 * row refers to one that is not there. What the rows mean is not looked at.
 */

struct store;

/* `found` gets a line for each thing that is wrong. -1 when the database
 * cannot be read at all. */
int store_check(struct store *store,
                void (*found)(void *user, const char *text), void *user,
                struct err *err);

#endif
