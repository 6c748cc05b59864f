/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_STATEMENTS_H
#define SMTUNE_STORE_STATEMENTS_H

#include <sqlite3.h>
#include <stddef.h>

#include "base/err.h"
#include "base/value.h"

struct store;

/* The values of a statement's ?1, ?2 ... and their number, as two arguments. */
#define VALUES(...)                                                            \
    (const struct value[]){__VA_ARGS__},                                       \
        sizeof((const struct value[]){__VA_ARGS__}) / sizeof(struct value)

/* 0 and -1 are "none" in the structs and NULL in the tables. */
static inline struct value int_unless(int64_t integer, int64_t none)
{
    return integer == none ? value_null() : value_int(integer);
}

/* What the writer says over and over: compiled once a connection. */
enum statement {
    INSERT_RUN,
    INSERT_RUN_OBJECTIVE,
    INSERT_RUN_OUTCOME,
    INSERT_RUN_PARAM,
    INSERT_RUN_RUNG,
    UPDATE_RUN_STATE,
    UPDATE_RUN_ENGINE,
    UPDATE_RUN_PAUSED,
    UPDATE_RUN_COMMENT,
    UPDATE_RUN_TAGS,
    UPDATE_JOB_COMMENT,
    ASK_CANCEL,
    SET_TEMPS_REMOVED,
    SET_CACHE_KEY,
    UPDATE_JOB_TAGS,
    INSERT_ENQUEUED,
    TAKE_ENQUEUED,
    INSERT_RUN_STEP,
    UPDATE_RUN_STEP,
    DELETE_RUN,
    INSERT_JOB,
    INSERT_PARAM_VALUE,
    UPDATE_JOB,
    PROMOTE_JOB,
    REOPEN_JOB,
    INSERT_SUPERSEDED_RESULT,
    DELETE_JOB_VALUES,
    DELETE_JOB_OUTCOMES,
    REPLACE_JOB_VALUE,
    REPLACE_JOB_OUTCOME,
    INSERT_OBSERVATION,
    UPDATE_OBSERVATION_PROMOTED,
    INSERT_ATTEMPT,
    UPDATE_ATTEMPT_QUEUED,
    UPDATE_ATTEMPT_RUNNING,
    UPDATE_ATTEMPT_ENDED,
    SELECT_METRIC_NAME,
    INSERT_METRIC_NAME,
    REPLACE_METRIC,
    DELETE_HALF_OF_METRIC,
    INSERT_EVENT,
    INSERT_EARLIER_RESULT,
    INSERT_NOTIFICATION,
    UPDATE_NOTIFICATION,
    ADDRESS_NOTIFICATION,
    REPORT_NODE,
    AVOID_NODE,
    CLEAR_NODE,
    STATEMENT_COUNT
};

/* The statement, ready to be bound; the store's. NULL on error. */
sqlite3_stmt *store_statement(struct store *store, enum statement id,
                              struct err *err);

/* Binds, runs to its end and resets. An error without a transaction. */
int store_change(struct store *store, enum statement id,
                 const struct value *values, size_t count, struct err *err);

/* Likewise, of a statement that is made anew each time. */
int store_change_once(struct store *store, const char *sql,
                      const struct value *values, size_t count,
                      struct err *err);

/* After it: whether it changed one row. An error says "no WHAT ID". */
int store_expect_change(struct store *store, const char *what, int64_t id,
                        struct err *err);

/* Executes statements without results. */
int store_execute(struct store *store, const char *sql, struct err *err);

/*
 * Compiles a statement for one use, for reading, and binds ?1 ... to
 * values[count], whose text must live as long as it. NULL on error; the
 * caller's to finalize.
 */
sqlite3_stmt *store_query(struct store *store, const char *sql,
                          const struct value *values, size_t count,
                          struct err *err);

/*
 * Likewise, for a query that is made for each of very many runs, of which
 * compiling would be most: it is kept in the store. `sql` is a literal. It is
 * ended by store_query_end, and may be made again meanwhile.
 */
sqlite3_stmt *store_query_kept(struct store *store, const char *sql,
                               const struct value *values, size_t count,
                               struct err *err);
/* Ends one of either kind; NULL is allowed. */
void store_query_end(struct store *store, sqlite3_stmt *statement);

/* The first column of the first row, 0 when there is none; values[0] is ?1. */
int store_query_integer(struct store *store, const char *sql,
                        const struct value *values, size_t count,
                        int64_t *integer, struct err *err);

/* Binds again; text must outlive the next step. A text of NULL is NULL. */
int store_bind(sqlite3_stmt *statement, const struct value *values,
               size_t count);

/* 1: a row, 0: no more, -1: error. */
int store_step(struct store *store, sqlite3_stmt *statement, struct err *err);

/* A text column; never NULL. */
const char *store_column_text(sqlite3_stmt *statement, int column);
/* One that may be NULL. */
const char *store_column_text_or_null(sqlite3_stmt *statement, int column);
/* An integer column that counts from 0; NULL is -1. */
int64_t store_column_index(sqlite3_stmt *statement, int column);
/* A real column; NULL is NaN. */
double store_column_real(sqlite3_stmt *statement, int column);

/* Says what SQLite said last, with the store's path. Always -1. */
int store_fail(struct store *store, struct err *err);

#endif
