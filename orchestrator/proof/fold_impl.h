/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_PROOF_FOLD_IMPL_H
#define SMTUNE_ORCHESTRATOR_PROOF_FOLD_IMPL_H

#include "base/compiler.h"
#include "base/json.h"
#include "orchestrator/proof/fold.h"

/* What the files of the fold share: fold.c keeps the rows, fold_event.c knows
 * what each event does to them, fold_detail.c reads what the event says. */

struct rows {
    struct fold_row *rows; /* [count] by id */
    size_t count, capacity;
};

struct fold {
    int64_t run;
    fold_wrong *wrong;
    void *user;
    struct rows kinds[IMAGE_COUNT];
    struct chunk *chunks;
    int64_t told; /* results so far */
    bool is_created;
    const struct event_row *event; /* the one that goes in */
};

/* Copies, which live as long as the fold. */
struct value fold_keep_text(struct fold *fold, const char *text);
/* A new row of nulls; others may move. */
struct fold_row *fold_add_row(struct fold *fold, enum image image, int64_t id);
/* Sets a cell. */
void fold_set(struct fold_row *row, size_t cell, struct value value);

/* The run's own row. */
struct fold_row *fold_run_row(struct fold *fold);

/* Says what cannot be of the event that goes in. */
void fold_complain(struct fold *fold, const char *format, ...)
    PRINTF_LIKE(2, 3);
/* Each key that is a cell's name sets it; the state has rules of its own. */
void fold_set_from_detail(struct fold *fold, enum image image,
                          struct fold_row *row, json_t *detail);
/* Of events by which people add something. */
void fold_commented(struct fold *fold, json_t *detail);
void fold_tagged(struct fold *fold, json_t *detail);
void fold_enqueued(struct fold *fold, json_t *detail);
/* Of a job that begins: the setting that was enqueued for it. */
void fold_take_enqueued(struct fold *fold, const struct fold_row *job,
                        const json_t *detail);

/* A text of a detail; "" where there is none. */
const char *fold_text_of(const json_t *detail, const char *key);

#endif
