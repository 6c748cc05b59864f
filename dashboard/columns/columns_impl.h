/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_COLUMNS_COLUMNS_IMPL_H
#define SMTUNE_DASHBOARD_COLUMNS_COLUMNS_IMPL_H

#include <stddef.h>
#include <stdint.h>

#include "dashboard/columns/column.h"
#include "dashboard/columns/columns.h"

/* What columns.c and update.c share. */

/* The columns that every run may have; the run's own come behind them. */
enum fixed_column {
    NUMBER,
    JOB,
    STATE,
    CAUSE,
    CREATED,
    STARTED,
    ENDED,
    DURATION,
    LAST_STARTED,
    LAST_DURATION,
    ATTEMPTS,
    VIOLATION,
    BRACKET,
    RUNG,
    RESOURCE,
    REACHED,
    USED,
    LAST_USED,
    PARENT,
    SAME_AS,
    STEP,
    COPY,
    ROUND,
    CACHED,
    TAGS,
    NANS,
    FIXED_COUNT
};

enum { COLUMNS_BLOCK = 1024 };

struct columns {
    int64_t run;
    int64_t seq;
    int64_t whole_since; /* who has less has to start again */
    struct column *columns;
    size_t count;
    size_t values, outcomes, params; /* where those of the run begin */
    size_t value_count, outcome_count, param_count;
    size_t forms;        /* changes when a column comes, or turns into words */
    int64_t *row_seqs;   /* [capacity] */
    int64_t *block_seqs; /* the largest of each COLUMNS_BLOCK rows */
    size_t rows, capacity;
};

/* Without rows. NULL on error. */
struct columns *columns_create(struct store *store, int64_t run,
                               struct err *err);
/* The row changed with that event, the last one until now. */
void columns_touch(struct columns *columns, size_t row, int64_t seq);
int columns_reserve(struct columns *columns, size_t rows, struct err *err);

#endif
