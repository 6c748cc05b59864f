/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_REPAIR_IMAGE_H
#define SMTUNE_STORE_REPAIR_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/value.h"
#include "store/schema/columns.h"

/*
 * Whole rows of the state tables, for those who compare them with what the
 * events say, and write them anew. A row is an array of cells: its columns,
 * and behind them lists that have tables of their own, as JSON texts, all in
 * the order of columns.h. NULL is a null; there are no booleans.
 */

struct store;

enum { IMAGE_MAX_CELLS = RUN_CELL_COUNT };

enum image {
    IMAGE_RUN,
    IMAGE_JOB,
    IMAGE_ATTEMPT,
    IMAGE_SUPERSEDED,
    IMAGE_OBSERVATION,
    IMAGE_STEP,
    IMAGE_ENQUEUED,
    IMAGE_COUNT
};

struct image_table {
    const char *name;            /* of the table */
    const char *const *cells;    /* [cell_count] their names */
    const enum stored_as *kinds; /* [cell_count] */
    size_t cell_count;
    size_t column_count; /* of the first of them; the others are lists */
};

extern const struct image_table image_tables[IMAGE_COUNT];

/* The text of a list of reals as cells and details have it: those that JSON
 * lacks stand there as words. The caller frees. */
char *image_reals(const json_t *list);

/*
 * The rows of a run (its own one, its jobs, their attempts ...) by id; cells
 * live until the callback returns, whose result other than 0 ends the reading.
 */
int store_each_image(struct store *store, enum image image, int64_t run,
                     int (*row)(void *user, const struct value *cells),
                     void *user, struct err *err);

/* Writes a row and its lists, in an open transaction, whether or not there is
 * one with that id. */
int store_put_image(struct store *store, enum image image, int64_t run,
                    const struct value *cells, struct err *err);
/* Takes a row away, with all that belongs to it but its events. */
int store_drop_image(struct store *store, enum image image, int64_t run,
                     int64_t id, struct err *err);

#endif
