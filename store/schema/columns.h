/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_SCHEMA_COLUMNS_H
#define SMTUNE_STORE_SCHEMA_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The columns of the store's tables, each in one line here. From these lists
 * come the members of the rows that are handed out (store/read.h), the lists
 * of SELECT and INSERT, what reads a row (store/rows.h), and what fsck compares
 * and repairs (store/repair/image.h). tests/unit/store/schema/ holds them
 * against schema.sql, and tests/e2e/test_database.py that against
 * docs/database.md, which explains each.
 *
 * TABLE_COLUMNS(KEY, X): KEY is for the first, which identifies the row, X for
 * each of the others; both get
 *     CELL    its place in a row, as a constant
 *     column  its name
 *     KIND    how it is read, below
 *     member  of the row in C.
 * run_id is in none of them: rows are handed out, and put back, for a run.
 *
 * Tables without a list here are lists themselves, such as a job's values, or
 * are written and read in one place each: event, metric, node.
 */

/*
 * INT         0 where it is NULL
 * INDEX       from 0; -1 where it is NULL
 * BITS        64 bits, which SQLite shows with a sign
 * REAL        NaN where it is NULL; in an event's detail a list of one
 * FLAG        1, or NULL
 * TEXT        "" where it is NULL
 * TEXT_OR_NULL
 * REALS       a JSON list of numbers; those that JSON lacks are words in it
 * LIST        a JSON list of anything
 */
#define COLUMN_TYPE_INT          int64_t
#define COLUMN_TYPE_INDEX        int64_t
#define COLUMN_TYPE_BITS         uint64_t
#define COLUMN_TYPE_REAL         double
#define COLUMN_TYPE_FLAG         bool
#define COLUMN_TYPE_TEXT         const char *
#define COLUMN_TYPE_TEXT_OR_NULL const char *
#define COLUMN_TYPE_REALS        const char *

enum stored_as {
    STORED_INT,
    STORED_INDEX,
    STORED_BITS,
    STORED_REAL,
    STORED_FLAG,
    STORED_TEXT,
    STORED_TEXT_OR_NULL,
    STORED_REALS,
    STORED_LIST
};

/* clang-format off */

#define RUN_COLUMNS(KEY, X)                                                    \
    KEY(RUN_CELL_ID, id, INT, id)                                              \
    X(RUN_CELL_NAME, name, TEXT, name)                                         \
    X(RUN_CELL_KIND, kind, TEXT, kind)                                         \
    X(RUN_CELL_STATE, state, TEXT, state)                                      \
    X(RUN_CELL_REASON, reason, TEXT, reason)                                   \
    X(RUN_CELL_SPEC, spec, TEXT, spec)                                         \
    X(RUN_CELL_OVERRIDES, overrides, TEXT, overrides)                          \
    X(RUN_CELL_SPEC_PATH, spec_path, TEXT, spec_path)                          \
    X(RUN_CELL_WORK_DIRECTORY, work_directory, TEXT, work_directory)           \
    X(RUN_CELL_SEED, seed, BITS, seed)                                         \
    X(RUN_CELL_ENGINE_PID, engine_pid, INT, pid) /* 0: it has no engine */     \
    X(RUN_CELL_BOOT_ID, boot_id, TEXT, boot_id)                                \
    X(RUN_CELL_CREATED_MS, created_ms, INT, created_ms)                        \
    X(RUN_CELL_STARTED_MS, started_ms, INT, started_ms)                        \
    X(RUN_CELL_ENDED_MS, ended_ms, INT, ended_ms)                              \
    /* Since when; 0: it is not paused. */                                     \
    X(RUN_CELL_PAUSED_MS, paused_ms, INT, paused_ms)                           \
    /* The run and the job, by id, that it was started by; 0: a person. */     \
    X(RUN_CELL_PARENT_ID, parent_id, INT, parent_id)                           \
    X(RUN_CELL_PARENT_JOB, parent_job, INT, parent_job)                        \
    X(RUN_CELL_NOTE, note, TEXT, note) /* what it reported last for people */  \
    X(RUN_CELL_COMMENT, comment, TEXT, comment) /* of people: remark_row */    \
    X(RUN_CELL_TAGS, tags, TEXT, tags)                                         \
    /* That its user gave it since; 0: its file's. */                          \
    X(RUN_CELL_BUDGET_TRIALS, budget_trials, INT, budget_trials)               \
    X(RUN_CELL_BUDGET_TIME_MS, budget_time_ms, INT, budget_time_ms)            \
    X(RUN_CELL_REPEATS, repeats, INT, repeats) /* of a setting; 0: 1 */        \
    X(RUN_CELL_REVISION, revision, TEXT, revision) /* of its code, by git */   \
    X(RUN_CELL_EDITED_SPEC, edited_spec, TEXT, edited_spec) /* "": spec */     \
    X(RUN_CELL_EDITED_OVERRIDES, edited_overrides, TEXT, edited_overrides)     \
    /* Retry rules count from it in attempts since its last edit of them. */   \
    X(RUN_CELL_RETRY_BASE, retry_base, INT, retry_base)

#define JOB_COLUMNS(KEY, X)                                                    \
    KEY(JOB_CELL_ID, id, INT, job)                                             \
    X(JOB_CELL_NUMBER, number, INT, number)                                    \
    X(JOB_CELL_STATE, state, TEXT, state)                                      \
    X(JOB_CELL_CAUSE, cause, TEXT_OR_NULL, cause)                              \
    X(JOB_CELL_CURSOR, cursor, BITS, cursor)                                   \
    X(JOB_CELL_CREATED_MS, created_ms, INT, created_ms)                        \
    X(JOB_CELL_STARTED_MS, started_ms, INT, started_ms)                        \
    X(JOB_CELL_ENDED_MS, ended_ms, INT, ended_ms)                              \
    X(JOB_CELL_DUE_MS, due_ms, INT, due_ms)                                    \
    X(JOB_CELL_VIOLATION, violation, REAL, violation) /* 0: feasible */        \
    /* In which place the search was given its result; 0: not yet. */          \
    X(JOB_CELL_TOLD, told, INT, told)                                          \
    /* How many places were taken when the search suggested it. */             \
    X(JOB_CELL_SEEN, seen, INT, seen)                                          \
    X(JOB_CELL_REASON, reason, TEXT_OR_NULL, reason) /* why it did, JSON */    \
    /* The number of the job whose values it took; 0: none. */                 \
    X(JOB_CELL_SAME_AS, same_as, INT, same_as)                                 \
    /* Where its schedule had it begin, and up to which resource. */           \
    X(JOB_CELL_BRACKET, bracket, INDEX, bracket)                               \
    X(JOB_CELL_RUNG, rung, INDEX, rung)                                        \
    X(JOB_CELL_FIRST_RESOURCE, first_resource, INT, first_resource)            \
    /* Up to which it may run now; 0: it is in no schedule. */                 \
    X(JOB_CELL_RESOURCE, resource, INT, resource)                              \
    /* The number of the job whose checkpoint it took; 0: none. */             \
    X(JOB_CELL_PARENT, parent, INT, parent)                                    \
    /* Of a workflow: see job_new and job_change. */                           \
    X(JOB_CELL_STEP, step, INDEX, step)                                        \
    X(JOB_CELL_COPY, copy, INT, copy)                                          \
    X(JOB_CELL_ROUND, round, INT, round)                                       \
    X(JOB_CELL_ROUNDS, rounds, TEXT_OR_NULL, rounds)                           \
    X(JOB_CELL_OUTPUTS, outputs, TEXT_OR_NULL, outputs)                        \
    X(JOB_CELL_CACHE_KEY, cache_key, TEXT_OR_NULL, cache_key)                  \
    X(JOB_CELL_CACHED_FROM, cached_from, INT, cached_from)                     \
    X(JOB_CELL_COMMENT, comment, TEXT_OR_NULL, comment)                        \
    X(JOB_CELL_TAGS, tags, TEXT_OR_NULL, tags) /* a sorted JSON list */        \
    X(JOB_CELL_CANCEL_ASKED, cancel_asked, INT, cancel_asked)                  \
    /* When its temporary outputs were removed; 0: not yet. */                 \
    X(JOB_CELL_TEMPS_REMOVED_MS, temps_removed_ms, INT, temps_removed_ms)

#define ATTEMPT_COLUMNS(KEY, X)                                                \
    KEY(ATTEMPT_CELL_ID, id, INT, id)                                          \
    X(ATTEMPT_CELL_JOB_ID, job_id, INT, job)                                   \
    X(ATTEMPT_CELL_NUMBER, number, INT, number)                                \
    X(ATTEMPT_CELL_STATE, state, TEXT, state)                                  \
    X(ATTEMPT_CELL_CAUSE, cause, TEXT_OR_NULL, cause)                          \
    X(ATTEMPT_CELL_DIRECTORY, directory, TEXT, directory)                      \
    X(ATTEMPT_CELL_PID, pid, INT, pid)                                         \
    X(ATTEMPT_CELL_EXIT_CODE, exit_code, INDEX, exit_code)                     \
    X(ATTEMPT_CELL_SIGNAL, signal, INT, signal)                                \
    X(ATTEMPT_CELL_CREATED_MS, created_ms, INT, created_ms)                    \
    X(ATTEMPT_CELL_STARTED_MS, started_ms, INT, started_ms)                    \
    X(ATTEMPT_CELL_ENDED_MS, ended_ms, INT, ended_ms)                          \
    X(ATTEMPT_CELL_CPU_MS, cpu_ms, INT, cpu_ms)                                \
    X(ATTEMPT_CELL_MAX_RSS_BYTES, max_rss_bytes, INT, max_rss_bytes)           \
    X(ATTEMPT_CELL_GPU_MS, gpu_ms, INDEX, gpu_ms)                              \
    X(ATTEMPT_CELL_GPU_MEMORY_BYTES, gpu_memory_bytes, INDEX, gpu_memory_bytes)\
    X(ATTEMPT_CELL_TEXT, text, TEXT_OR_NULL, text)                             \
    /* The retry rule that matched its end; -1: none. */                       \
    X(ATTEMPT_CELL_RULE, rule, INDEX, rule)                                    \
    X(ATTEMPT_CELL_RESOURCE_FROM, resource_from, INT, resource_from)           \
    X(ATTEMPT_CELL_RESOURCE, resource, INT, resource)                          \
    X(ATTEMPT_CELL_RESOURCE_USED, resource_used, INT, resource_used)           \
    X(ATTEMPT_CELL_CHECKPOINT, checkpoint, TEXT_OR_NULL, checkpoint) /* hash */\
    /* Of a cluster; NULL: none. */                                            \
    X(ATTEMPT_CELL_NODE, node, TEXT_OR_NULL, node)                             \
    X(ATTEMPT_CELL_HANDLE, handle, TEXT_OR_NULL, handle)                       \
    X(ATTEMPT_CELL_QUEUED_MS, queued_ms, INT, queued_ms)                       \
    X(ATTEMPT_CELL_DISPLACED, displaced, FLAG, is_displaced)                   \
    X(ATTEMPT_CELL_OUTSIDE, outside, FLAG, is_outside)                         \
    X(ATTEMPT_CELL_SHORTAGE, shortage, FLAG, is_shortage)

/* A result that the search was given before its job was put back. */
#define SUPERSEDED_COLUMNS(KEY, X)                                             \
    KEY(SUPERSEDED_CELL_TOLD, told, INT, told) /* its place */                 \
    X(SUPERSEDED_CELL_NUMBER, number, INT, number) /* of the job */            \
    X(SUPERSEDED_CELL_STATE, state, TEXT, state)                               \
    X(SUPERSEDED_CELL_VALUES, values, REALS, values)                           \
    X(SUPERSEDED_CELL_OUTCOMES, outcomes, REALS, outcomes)                     \
    /* How many the job had had by then. */                                    \
    X(SUPERSEDED_CELL_ATTEMPTS, attempts, INT, attempts)

#define OBSERVATION_COLUMNS(KEY, X)                                            \
    KEY(OBSERVATION_CELL_TOLD, told, INT, told) /* its place */                \
    X(OBSERVATION_CELL_JOB_ID, job_id, INT, job)                               \
    X(OBSERVATION_CELL_RESOURCE, resource, INT, resource)                      \
    X(OBSERVATION_CELL_ATTEMPT_ID, attempt_id, INT, attempt)                   \
    X(OBSERVATION_CELL_RUNG, rung, INDEX, rung)                                \
    X(OBSERVATION_CELL_VALUES, values, REALS, values)                          \
    X(OBSERVATION_CELL_OUTCOMES, outcomes, REALS, outcomes)                    \
    X(OBSERVATION_CELL_LAST, last, REAL, last)                                 \
    X(OBSERVATION_CELL_BEST, best, REAL, best)                                 \
    X(OBSERVATION_CELL_DECISION, decision, TEXT, decision)                     \
    X(OBSERVATION_CELL_REASON, reason, TEXT, reason) /* one sentence */        \
    /* In which place, and to which resource; 0: it was not promoted. */       \
    X(OBSERVATION_CELL_PROMOTED, promoted, INT, promoted)                      \
    X(OBSERVATION_CELL_PROMOTED_TO, promoted_to, INT, promoted_to)             \
    X(OBSERVATION_CELL_TIME_MS, time_ms, INT, time_ms)

/* Of run_step. */
#define STEP_COLUMNS(KEY, X)                                                   \
    KEY(STEP_CELL_IDX, idx, INT, step) /* its place in the file */             \
    X(STEP_CELL_NAME, name, TEXT, name)                                        \
    X(STEP_CELL_STATE, state, TEXT, state)                                     \
    X(STEP_CELL_REASON, reason, TEXT_OR_NULL, reason)                          \
    X(STEP_CELL_COPIES, copies, INDEX, copies) /* -1: it has not begun */      \
    X(STEP_CELL_MATRIX, matrix, TEXT_OR_NULL, matrix)                          \
    /* Jobs with lower numbers are of an earlier time. */                      \
    X(STEP_CELL_FIRST_JOB, first_job, INT, first_job)                          \
    X(STEP_CELL_BEGAN_MS, began_ms, INT, began_ms)                             \
    X(STEP_CELL_ENDED_MS, ended_ms, INT, ended_ms)

#define ENQUEUED_COLUMNS(KEY, X)                                               \
    KEY(ENQUEUED_CELL_IDX, idx, INT, index) /* from 1 */                       \
    X(ENQUEUED_CELL_PARAMS, params, TEXT, params)                              \
    X(ENQUEUED_CELL_CREATED_MS, created_ms, INT, created_ms)                   \
    /* The number of the one that tries it; 0: none yet. */                    \
    X(ENQUEUED_CELL_TRIAL, trial, INT, trial)

#define EARLIER_COLUMNS(KEY, X)                                                \
    KEY(EARLIER_CELL_IDX, idx, INT, index)                                     \
    X(EARLIER_CELL_SOURCE, source, TEXT, source) /* the earlier run's name */  \
    X(EARLIER_CELL_NUMBER, number, INT, number) /* of its trial */             \
    X(EARLIER_CELL_STATE, state, TEXT, state)                                  \
    X(EARLIER_CELL_PARAMS, params, TEXT, params) /* a JSON object */           \
    X(EARLIER_CELL_VALUES, values, REALS, values) /* the lower the better */   \
    X(EARLIER_CELL_OUTCOMES, outcomes, REALS, outcomes)

#define NOTIFICATION_COLUMNS(KEY, X)                                           \
    KEY(NOTIFICATION_CELL_ID, id, INT, id)                                     \
    X(NOTIFICATION_CELL_DELIVERY, delivery, TEXT, delivery)                    \
    X(NOTIFICATION_CELL_RECEIVER, receiver, INT, receiver)                     \
    X(NOTIFICATION_CELL_EVENT, event, TEXT, event)                             \
    X(NOTIFICATION_CELL_BODY, body, TEXT, body)                                \
    X(NOTIFICATION_CELL_CREATED_MS, created_ms, INT, created_ms)               \
    X(NOTIFICATION_CELL_TRIES, tries, INT, tries)                              \
    X(NOTIFICATION_CELL_DUE_MS, due_ms, INT, due_ms)                           \
    X(NOTIFICATION_CELL_DELIVERED_MS, delivered_ms, INT, delivered_ms)         \
    X(NOTIFICATION_CELL_GIVEN_UP_MS, given_up_ms, INT, given_up_ms)            \
    X(NOTIFICATION_CELL_ERROR, error, TEXT, error) /* of the last try */

/* Lists of a run and a job that have tables of their own, and are cells behind
 * the columns where whole rows are compared. X(CELL, name, KIND). */
#define RUN_LISTS(X)                                                           \
    X(RUN_CELL_METRICS, metrics, LIST)                                         \
    X(RUN_CELL_GOALS, goals, LIST)                                             \
    X(RUN_CELL_PARAMS, params, LIST)                                           \
    X(RUN_CELL_OUTCOMES, outcomes, LIST) /* metric, min, max; the next ... */  \
    X(RUN_CELL_RUNGS, rungs, LIST) /* bracket, rung, resource, trials; ... */

#define JOB_LISTS(X)                                                           \
    X(JOB_CELL_PARAMS, params, LIST)                                           \
    X(JOB_CELL_VALUES, values, REALS)     /* NULL: has none */                 \
    X(JOB_CELL_OUTCOMES, outcomes, REALS) /* NULL: has none */

#define COLUMN_CELL(cell, column, kind, member) cell,
#define LIST_CELL(cell, name, kind) cell,
enum run_cell {
    RUN_COLUMNS(COLUMN_CELL, COLUMN_CELL)
    RUN_LISTS(LIST_CELL)
    RUN_CELL_COUNT,
    RUN_COLUMN_COUNT = RUN_CELL_METRICS
};
enum job_cell {
    JOB_COLUMNS(COLUMN_CELL, COLUMN_CELL)
    JOB_LISTS(LIST_CELL)
    JOB_CELL_COUNT,
    JOB_COLUMN_COUNT = JOB_CELL_PARAMS
};
enum attempt_cell {
    ATTEMPT_COLUMNS(COLUMN_CELL, COLUMN_CELL)
    ATTEMPT_COLUMN_COUNT
};
enum superseded_cell {
    SUPERSEDED_COLUMNS(COLUMN_CELL, COLUMN_CELL)
    SUPERSEDED_COLUMN_COUNT
};
enum observation_cell {
    OBSERVATION_COLUMNS(COLUMN_CELL, COLUMN_CELL)
    OBSERVATION_COLUMN_COUNT
};
enum step_cell {
    STEP_COLUMNS(COLUMN_CELL, COLUMN_CELL)
    STEP_COLUMN_COUNT
};
enum enqueued_cell {
    ENQUEUED_COLUMNS(COLUMN_CELL, COLUMN_CELL)
    ENQUEUED_COLUMN_COUNT
};
enum earlier_cell {
    EARLIER_COLUMNS(COLUMN_CELL, COLUMN_CELL)
    EARLIER_COLUMN_COUNT
};
enum notification_cell {
    NOTIFICATION_COLUMNS(COLUMN_CELL, COLUMN_CELL)
    NOTIFICATION_COLUMN_COUNT
};
#undef LIST_CELL

/* The members of a row: struct run_row { COLUMN_MEMBERS(RUN_COLUMNS) ... }. */
#define COLUMN_MEMBER(cell, column, kind, member) COLUMN_TYPE_##kind member;
#define COLUMN_MEMBERS(COLUMNS) COLUMNS(COLUMN_MEMBER, COLUMN_MEMBER)

/* clang-format on */

#endif
