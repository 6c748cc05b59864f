/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_PROOF_FSCK_FOLD_H
#define SMTUNE_ORCHESTRATOR_PROOF_FSCK_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/repair/image.h"
#include "store/store.h"

/*
 * What a run's events say: they go in, in their order, and out come the rows
 * that the state tables should hold. Pure. It shares with the engine nothing
 * but the table of states (states.h), and says so where an event cannot have
 * happened.
 */
struct fsck_fold;

/* A row as the events tell it. */
struct fsck_fold_row {
    struct value *cells; /* [cell_count] of its image's table */
    int64_t attempts;    /* of a job: how many it had */
    int64_t active;      /* of a job: the id of the one that has not ended */
    int64_t observed;    /* of a job: the place of its last observation */
    bool is_recorded;    /* the caller's: the tables have such a row */
};

/* `wrong` is called for what cannot be, while events go in. trial and attempt
 * are numbers, 0: none. */
typedef void fsck_fold_wrong(void *user, int64_t seq, int64_t trial,
                             int64_t attempt, const char *text);

struct fsck_fold *fsck_fold_create(int64_t run, fsck_fold_wrong *wrong,
                                   void *user);
void fsck_fold_destroy(struct fsck_fold *fold); /* NULL is none */

void fsck_fold_add(struct fsck_fold *fold, const struct event_row *event);

/* The rows of one kind by id; the fold's. The run has one row, or none. */
struct fsck_fold_row *fsck_fold_rows(struct fsck_fold *fold, enum image image,
                                     size_t *count);
/* One of them; NULL: there is none. */
struct fsck_fold_row *fsck_fold_find(struct fsck_fold *fold, enum image image,
                                     int64_t id);
/* The trial's number of a row of anything of a trial; 0: not known. */
int64_t fsck_fold_trial(struct fsck_fold *fold, enum image image,
                        const struct fsck_fold_row *row);

#endif
