/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_EVENT_H
#define SMTUNE_STORE_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct store;
struct value;

/* One row of the event table, which is only ever added to. */
struct event {
    int64_t run, job, attempt, time_ms; /* 0: not of one */
    const char *event, *detail;
};

/* Those that come of people, who may do it long after an engine was killed:
 * they count in no engine's time. */
#define EVENTS_OF_PEOPLE(X)                                                    \
    X("reopened")                                                              \
    X("run_state") X("commented") X("tagged") X("enqueued") X("cancel_asked")
#define EVENT_IN_SQL(word) ", '" word "'"
/* A condition of SQL, for a column of their words. */
#define SQL_NOT_OF_PEOPLE(column)                                              \
    column " NOT IN (''" EVENTS_OF_PEOPLE(EVENT_IN_SQL) ")"

/* Writes it. 0, or -1. */
int event_add(struct store *store, const struct event *event, struct err *err);

/*
 * A detail is one flat JSON object, put together in the store's scratch
 * buffer: the text that detail_end gives lives until the next detail_start.
 */
struct buf *detail_start(struct store *store);
void detail_text(struct buf *out, const char *key, const char *text);
void detail_int(struct buf *out, const char *key, int64_t integer);
/* Only where it is not 0, which is "none". */
void detail_int_unless_0(struct buf *out, const char *key, int64_t integer);
/* A list; the numbers that JSON lacks stand there as words. */
void detail_reals(struct buf *out, const char *key, const double *reals,
                  size_t count);
/* Such a list alone, into any buffer. */
void detail_list(struct buf *out, const double *reals, size_t count);
void detail_value(struct buf *out, const char *key, const struct value *value);
/* A list of what is finite; a real has a point or an exponent, so that it is
 * known again. */
void detail_values(struct buf *out, const char *key, const struct value *values,
                   size_t count);
void detail_texts(struct buf *out, const char *key, const char *const *texts,
                  size_t count);
const char *detail_end(struct buf *out);

#endif
