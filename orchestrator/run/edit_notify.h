/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_EDIT_NOTIFY_H
#define SMTUNE_ORCHESTRATOR_RUN_EDIT_NOTIFY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct experiment;
struct store;

/*
 * Notifications name their receiver by its place under `notify`. An edited file
 * may have other receivers in other places.
 */

/* Where the receivers of the file so far are in the edited one. -1: nowhere. */
struct edit_receivers {
    int64_t *same;  /* [count] the one with the same address */
    int64_t *heirs; /* [count] likewise, or the new one in its place */
    size_t count;
};

/* The caller clears *receivers. */
void edit_receivers_find(const struct experiment *now,
                         const struct experiment *edited,
                         struct edit_receivers *receivers);
void edit_receivers_clear(struct edit_receivers *receivers);

/*
 * In the open transaction: messages that wait go to the heir of their receiver,
 * and those without one are given up. Messages that are over keep the receiver
 * that they were for, or have none (-1).
 */
int edit_receivers_record(const struct edit_receivers *receivers,
                          struct store *store, int64_t run, struct err *err);

#endif
