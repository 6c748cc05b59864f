/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_PROOF_FSCK_IMPL_H
#define SMTUNE_ORCHESTRATOR_PROOF_FSCK_IMPL_H

#include "orchestrator/proof/fsck.h"
#include "orchestrator/proof/fsck_fold.h"

/* What the files of the check share: fsck.c (the tables), fsck_files.c (the
 * attempts' folders). */

struct fsck {
    struct store *store;
    int64_t run;
    char *name;
    struct fsck_fold *fold;
    fsck_found *found;
    void *user;
    struct fsck_counts *counts;
};

/* Fills in the run's name, counts it and hands it out. */
void fsck_report(struct fsck *fsck, struct fsck_finding finding);

/* The folders and exit files of the run's attempts. */
void fsck_files(struct fsck *fsck);

#endif
