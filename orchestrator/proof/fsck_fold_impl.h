/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_PROOF_FSCK_FOLD_IMPL_H
#define SMTUNE_ORCHESTRATOR_PROOF_FSCK_FOLD_IMPL_H

#include "base/compiler.h"
#include "base/json.h"
#include "orchestrator/job/states.h"
#include "orchestrator/proof/fsck_fold.h"

/* What the files of the fold share: fsck_fold.c keeps the rows,
 * fsck_fold_event.c, fsck_fold_job.c and fsck_fold_people.c have what each
 * event does to them, fsck_fold_detail.c reads the event's detail. */

struct rows {
    struct fsck_fold_row *rows; /* [count] by id */
    size_t count, capacity;
};

struct fsck_fold {
    int64_t run;
    fsck_fold_wrong *wrong;
    void *user;
    struct rows kinds[IMAGE_COUNT];
    struct chunk *chunks;
    int64_t told; /* results so far */
    bool is_created;
    const struct event_row *event; /* the one that goes in */
};

/* Copies, which live as long as the fold. */
struct value fsck_fold_keep_text(struct fsck_fold *fold, const char *text);
/* A new row of nulls; others may move. */
struct fsck_fold_row *fsck_fold_add_row(struct fsck_fold *fold,
                                        enum image image, int64_t id);
/* Sets a cell. */
void fsck_fold_set(struct fsck_fold_row *row, size_t cell, struct value value);

/* The run's own row. */
struct fsck_fold_row *fsck_fold_run_row(struct fsck_fold *fold);

/* The name of a step; "" where a damaged record has something else. */
const char *fsck_fold_step_name(const struct fsck_fold_row *step);

/* Says what cannot be of the event that goes in. */
void fsck_fold_complain(struct fsck_fold *fold, const char *format, ...)
    PRINTF_LIKE(2, 3);
/* Each key that is a cell's name sets it; the state has rules of its own. */
void fsck_fold_set_from_detail(struct fsck_fold *fold, enum image image,
                               struct fsck_fold_row *row, json_t *detail);
/* Of events of a trial, or of a job of a step. */
void fsck_fold_job_began(struct fsck_fold *fold, enum job_event event,
                         json_t *detail);
void fsck_fold_job_event(struct fsck_fold *fold, enum job_event event,
                         json_t *detail);
void fsck_fold_job_observed(struct fsck_fold *fold, json_t *detail);
void fsck_fold_temps_removed(struct fsck_fold *fold, json_t *detail);
/* Of events by which people add something. */
void fsck_fold_commented(struct fsck_fold *fold, json_t *detail);
void fsck_fold_cancel_asked(struct fsck_fold *fold, json_t *detail);
void fsck_fold_tagged(struct fsck_fold *fold, json_t *detail);
void fsck_fold_enqueued(struct fsck_fold *fold, json_t *detail);
/* Of a job that begins: the setting that was enqueued for it. */
void fsck_fold_take_enqueued(struct fsck_fold *fold,
                             const struct fsck_fold_row *job,
                             const json_t *detail);

/* A text of a detail; "" where there is none. */
const char *fsck_fold_text_of(const json_t *detail, const char *key);

#endif
