/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_REPAIR_IMAGE_H
#define SMTUNE_STORE_REPAIR_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/value.h"

/*
 * Whole rows of the state tables, for those who compare them with what the
 * events say, and write them anew. A row is an array of cells: its columns,
 * and behind them lists that have tables of their own, as JSON texts. NULL is
 * a null; there are no booleans.
 */

struct store;

#define RUN_CELLS(X)                                                           \
    X(RUN_CELL_ID, "id")                                                       \
    X(RUN_CELL_NAME, "name")                                                   \
    X(RUN_CELL_KIND, "kind")                                                   \
    X(RUN_CELL_STATE, "state")                                                 \
    X(RUN_CELL_REASON, "reason")                                               \
    X(RUN_CELL_SPEC, "spec")                                                   \
    X(RUN_CELL_OVERRIDES, "overrides")                                         \
    X(RUN_CELL_SPEC_PATH, "spec_path")                                         \
    X(RUN_CELL_WORK_DIRECTORY, "work_directory")                               \
    X(RUN_CELL_SEED, "seed")                                                   \
    X(RUN_CELL_ENGINE_PID, "engine_pid")                                       \
    X(RUN_CELL_BOOT_ID, "boot_id")                                             \
    X(RUN_CELL_CREATED_MS, "created_ms")                                       \
    X(RUN_CELL_STARTED_MS, "started_ms")                                       \
    X(RUN_CELL_ENDED_MS, "ended_ms")                                           \
    X(RUN_CELL_PAUSED_MS, "paused_ms")                                         \
    X(RUN_CELL_PARENT_ID, "parent_id")                                         \
    X(RUN_CELL_PARENT_JOB, "parent_job")                                       \
    X(RUN_CELL_NOTE, "note")                                                   \
    X(RUN_CELL_COMMENT, "comment")                                             \
    X(RUN_CELL_TAGS, "tags")                                                   \
    X(RUN_CELL_BUDGET_TRIALS, "budget_trials")                                 \
    X(RUN_CELL_BUDGET_TIME_MS, "budget_time_ms")                               \
    X(RUN_CELL_REVISION, "revision")                                           \
    X(RUN_CELL_METRICS, "metrics")                                             \
    X(RUN_CELL_GOALS, "goals")                                                 \
    X(RUN_CELL_PARAMS, "params")                                               \
    X(RUN_CELL_OUTCOMES, "outcomes") /* metric, min, max; the next ... */      \
    X(RUN_CELL_RUNGS, "rungs") /* bracket, rung, resource, trials; the ... */

#define JOB_CELLS(X)                                                           \
    X(JOB_CELL_ID, "id")                                                       \
    X(JOB_CELL_NUMBER, "number")                                               \
    X(JOB_CELL_STATE, "state")                                                 \
    X(JOB_CELL_CAUSE, "cause")                                                 \
    X(JOB_CELL_CURSOR, "cursor")                                               \
    X(JOB_CELL_CREATED_MS, "created_ms")                                       \
    X(JOB_CELL_STARTED_MS, "started_ms")                                       \
    X(JOB_CELL_ENDED_MS, "ended_ms")                                           \
    X(JOB_CELL_DUE_MS, "due_ms")                                               \
    X(JOB_CELL_VIOLATION, "violation")                                         \
    X(JOB_CELL_TOLD, "told")                                                   \
    X(JOB_CELL_SEEN, "seen")                                                   \
    X(JOB_CELL_REASON, "reason")                                               \
    X(JOB_CELL_SAME_AS, "same_as")                                             \
    X(JOB_CELL_BRACKET, "bracket")                                             \
    X(JOB_CELL_RUNG, "rung")                                                   \
    X(JOB_CELL_FIRST_RESOURCE, "first_resource")                               \
    X(JOB_CELL_RESOURCE, "resource")                                           \
    X(JOB_CELL_PARENT, "parent")                                               \
    X(JOB_CELL_STEP, "step")                                                   \
    X(JOB_CELL_COPY, "copy")                                                   \
    X(JOB_CELL_ROUND, "round")                                                 \
    X(JOB_CELL_ROUNDS, "rounds")                                               \
    X(JOB_CELL_MADE, "outputs")                                                \
    X(JOB_CELL_CACHE_KEY, "cache_key")                                         \
    X(JOB_CELL_CACHED_FROM, "cached_from")                                     \
    X(JOB_CELL_COMMENT, "comment")                                             \
    X(JOB_CELL_TAGS, "tags")                                                   \
    X(JOB_CELL_PARAMS, "params")                                               \
    X(JOB_CELL_VALUES, "values")     /* NULL: has none */                      \
    X(JOB_CELL_OUTCOMES, "outcomes") /* NULL: has none */

#define ATTEMPT_CELLS(X)                                                       \
    X(ATTEMPT_CELL_ID, "id")                                                   \
    X(ATTEMPT_CELL_JOB_ID, "job_id")                                           \
    X(ATTEMPT_CELL_NUMBER, "number")                                           \
    X(ATTEMPT_CELL_STATE, "state")                                             \
    X(ATTEMPT_CELL_CAUSE, "cause")                                             \
    X(ATTEMPT_CELL_DIRECTORY, "directory")                                     \
    X(ATTEMPT_CELL_PID, "pid")                                                 \
    X(ATTEMPT_CELL_EXIT_CODE, "exit_code")                                     \
    X(ATTEMPT_CELL_SIGNAL, "signal")                                           \
    X(ATTEMPT_CELL_CREATED_MS, "created_ms")                                   \
    X(ATTEMPT_CELL_STARTED_MS, "started_ms")                                   \
    X(ATTEMPT_CELL_ENDED_MS, "ended_ms")                                       \
    X(ATTEMPT_CELL_CPU_MS, "cpu_ms")                                           \
    X(ATTEMPT_CELL_MAX_RSS_BYTES, "max_rss_bytes")                             \
    X(ATTEMPT_CELL_TEXT, "text")                                               \
    X(ATTEMPT_CELL_RULE, "rule")                                               \
    X(ATTEMPT_CELL_RESOURCE_FROM, "resource_from")                             \
    X(ATTEMPT_CELL_RESOURCE, "resource")                                       \
    X(ATTEMPT_CELL_RESOURCE_USED, "resource_used")                             \
    X(ATTEMPT_CELL_CHECKPOINT, "checkpoint")                                   \
    X(ATTEMPT_CELL_NODE, "node")                                               \
    X(ATTEMPT_CELL_HANDLE, "handle")                                           \
    X(ATTEMPT_CELL_QUEUED_MS, "queued_ms")                                     \
    X(ATTEMPT_CELL_DISPLACED, "displaced")

#define SUPERSEDED_CELLS(X)                                                    \
    X(SUPERSEDED_CELL_TOLD, "told") /* stands for an id */                     \
    X(SUPERSEDED_CELL_NUMBER, "number")                                        \
    X(SUPERSEDED_CELL_STATE, "state")                                          \
    X(SUPERSEDED_CELL_VALUES, "values")                                        \
    X(SUPERSEDED_CELL_OUTCOMES, "outcomes")                                    \
    X(SUPERSEDED_CELL_ATTEMPTS, "attempts")

#define OBSERVATION_CELLS(X)                                                   \
    X(OBSERVATION_CELL_TOLD, "told") /* stands for an id */                    \
    X(OBSERVATION_CELL_JOB_ID, "job_id")                                       \
    X(OBSERVATION_CELL_RESOURCE, "resource")                                   \
    X(OBSERVATION_CELL_ATTEMPT_ID, "attempt_id")                               \
    X(OBSERVATION_CELL_RUNG, "rung")                                           \
    X(OBSERVATION_CELL_VALUES, "values")                                       \
    X(OBSERVATION_CELL_OUTCOMES, "outcomes")                                   \
    X(OBSERVATION_CELL_LAST, "last")                                           \
    X(OBSERVATION_CELL_BEST, "best")                                           \
    X(OBSERVATION_CELL_DECISION, "decision")                                   \
    X(OBSERVATION_CELL_REASON, "reason")                                       \
    X(OBSERVATION_CELL_PROMOTED, "promoted")                                   \
    X(OBSERVATION_CELL_PROMOTED_TO, "promoted_to")                             \
    X(OBSERVATION_CELL_TIME_MS, "time_ms")

#define STEP_CELLS(X)                                                          \
    X(STEP_CELL_IDX, "idx") /* stands for an id */                             \
    X(STEP_CELL_NAME, "name")                                                  \
    X(STEP_CELL_STATE, "state")                                                \
    X(STEP_CELL_REASON, "reason")                                              \
    X(STEP_CELL_COPIES, "copies")                                              \
    X(STEP_CELL_MATRIX, "matrix")                                              \
    X(STEP_CELL_FIRST_JOB, "first_job")                                        \
    X(STEP_CELL_BEGAN_MS, "began_ms")                                          \
    X(STEP_CELL_ENDED_MS, "ended_ms")

#define ENQUEUED_CELLS(X)                                                      \
    X(ENQUEUED_CELL_IDX, "idx") /* stands for an id */                         \
    X(ENQUEUED_CELL_PARAMS, "params")                                          \
    X(ENQUEUED_CELL_CREATED_MS, "created_ms")                                  \
    X(ENQUEUED_CELL_TRIAL, "trial")

#define X(symbol, name) symbol,
enum run_cell { RUN_CELLS(X) RUN_CELL_COUNT };
enum job_cell { JOB_CELLS(X) JOB_CELL_COUNT };
enum attempt_cell { ATTEMPT_CELLS(X) ATTEMPT_CELL_COUNT };
enum superseded_cell { SUPERSEDED_CELLS(X) SUPERSEDED_CELL_COUNT };
enum observation_cell { OBSERVATION_CELLS(X) OBSERVATION_CELL_COUNT };
enum step_cell { STEP_CELLS(X) STEP_CELL_COUNT };
enum enqueued_cell { ENQUEUED_CELLS(X) ENQUEUED_CELL_COUNT };
#undef X

enum {
    RUN_COLUMN_COUNT = RUN_CELL_METRICS,
    JOB_COLUMN_COUNT = JOB_CELL_PARAMS,
    ATTEMPT_COLUMN_COUNT = ATTEMPT_CELL_COUNT,
    IMAGE_MAX_CELLS = JOB_CELL_COUNT
};

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
    const char *name;         /* of the table */
    const char *const *cells; /* [cell_count] their names */
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
