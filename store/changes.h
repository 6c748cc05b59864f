/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_CHANGES_H
#define SMTUNE_STORE_CHANGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/value.h"
#include "store/attempt_totals.h"
#include "store/schema/columns.h"

struct store;

/*
 * Reading for who keeps what is in the record in memory: all of it at first,
 * then what has changed since an event. Rows are handed out as in store.h. What
 * belongs together is to be read between store_read_begin and store_read_end.
 */

/* Is another one when others have committed something since the last time that
 * this connection was asked. */
int store_data_version(struct store *store, int64_t *version, struct err *err);

/* The number of the run's last event. ERR_NOT_FOUND when there is no such run.
 */
int store_last_event(struct store *store, int64_t run, int64_t *seq,
                     struct err *err);

/* The runs with events over `since` (0: all runs), and the last one of each. */
int store_each_changed_run(struct store *store, int64_t since,
                           int (*row)(void *user, int64_t run, int64_t seq),
                           void *user, struct err *err);

/* What is not the same when a run has come, has gone or has an event more. */
struct store_mark {
    int64_t runs, last_run, last_event;
};

int store_read_mark(struct store *store, struct store_mark *mark,
                    struct err *err);

/* All that the run has, whatever their state. */
int store_count_jobs(struct store *store, int64_t run, int64_t *count,
                     struct err *err);

/* A job alone: the columns that lists and counts need. */
#define BRIEF_COLUMNS(KEY, X)                                                  \
    KEY(BRIEF_ID, id, INT, job)                                                \
    X(BRIEF_NUMBER, number, INT, number)                                       \
    X(BRIEF_STATE, state, TEXT, state)                                         \
    X(BRIEF_CAUSE, cause, TEXT_OR_NULL, cause)                                 \
    X(BRIEF_CREATED_MS, created_ms, INT, created_ms)                           \
    X(BRIEF_STARTED_MS, started_ms, INT, started_ms)                           \
    X(BRIEF_ENDED_MS, ended_ms, INT, ended_ms)                                 \
    X(BRIEF_VIOLATION, violation, REAL, violation)                             \
    X(BRIEF_SAME_AS, same_as, INT, same_as)                                    \
    X(BRIEF_PARENT, parent, INT, parent)                                       \
    X(BRIEF_BRACKET, bracket, INDEX, bracket)                                  \
    X(BRIEF_RUNG, rung, INDEX, rung)                                           \
    X(BRIEF_RESOURCE, resource, INT, resource)                                 \
    X(BRIEF_STEP, step, INDEX, step)                                           \
    X(BRIEF_COPY, copy, INT, copy)                                             \
    X(BRIEF_ROUND, round, INT, round)                                          \
    X(BRIEF_CACHE_KEY, cache_key, TEXT_OR_NULL, cache_key)                     \
    X(BRIEF_CACHED_FROM, cached_from, INT, cached_from)                        \
    X(BRIEF_TAGS, tags, TEXT_OR_NULL, tags)

/* See struct trial_row. */
struct job_row {
    COLUMN_MEMBERS(BRIEF_COLUMNS)
};

/* By number: those of a run with events over `since` (0: all). */
int store_each_job(struct store *store, int64_t run, int64_t since,
                   int (*row)(void *user, const struct job_row *job),
                   void *user, struct err *err);

/* What there are several of in a job. */
enum cell_kind {
    CELL_PARAM,       /* index as in run_param, value */
    CELL_VALUE,       /* as in run_objective; a real that may be null */
    CELL_OUTCOME,     /* as in run_outcome; likewise */
    CELL_OBSERVATION, /* its rung (-1: none), the resource */
    CELL_KIND_COUNT
};

struct cell_row {
    size_t place; /* of the job among those that were asked for */
    int64_t index;
    struct value value;
};

/* Ids of jobs. */
struct job_ids {
    const int64_t *ids;
    size_t count;
};

/* The cells of these jobs, job by job. Many times as quick as going through
 * trials where the ids follow on each other. */
int store_each_cell(struct store *store, enum cell_kind kind,
                    const struct job_ids *jobs,
                    int (*cell)(void *user, const struct cell_row *cell),
                    void *user, struct err *err);

/* What the attempts of these jobs come to, job by job; place as in a cell_row.
 * Jobs without one are left out. */
int store_each_attempt_totals(struct store *store, const struct job_ids *jobs,
                              int (*row)(void *user, size_t place,
                                         const struct attempt_totals *totals),
                              void *user, struct err *err);

#endif
