/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_PROOF_FSCK_H
#define SMTUNE_ORCHESTRATOR_PROOF_FSCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

/*
 * Whether the record of a run holds together: its rows are what its events say
 * (fsck_fold.h), and the files of its attempts agree with both.
 */

struct fsck_finding {
    bool is_note;          /* worth to be known, and nothing is wrong */
    const char *run;       /* its name; "": the whole store */
    int64_t trial;         /* its number; 0: none */
    int64_t attempt;       /* its number in the trial; 0: none */
    const char *what;      /* is wrong: a column, a file, an event */
    const char *recorded;  /* what the tables hold, or NULL */
    const char *by_events; /* what they should hold, or NULL */
    const char *text;      /* what else there is to say, or NULL */
};

/* Text lives until the call returns. */
typedef void fsck_found(void *user, const struct fsck_finding *finding);

struct fsck_counts {
    int64_t runs, trials, attempts, events;
    int64_t findings, notes;
};

/*
 * Checks one run, adds to *counts, and hands out each finding. The store is
 * seen in one state, also while an engine writes to it.
 */
int fsck_run(struct store *store, int64_t run, fsck_found *found, void *user,
             struct fsck_counts *counts, struct err *err);

/*
 * Writes the run's rows as its events tell them, in an open transaction;
 * nobody may be its engine. A row of which no event tells goes. Where an event
 * itself cannot be, nothing is written, and *is_mended is false.
 */
int fsck_repair_run(struct store *store, int64_t run, bool *is_mended,
                    struct err *err);

#endif
