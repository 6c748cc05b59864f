/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing jobs: creation and changes. Each function writes the rows of one
 * change and then its event. The event's detail holds every value of the
 * change, because `smtune fsck` rebuilds the rows from events alone.
 */
#include "store/store.h"

#include "base/compiler.h"
#include "base/value.h"
#include "store/event.h"
#include "store/rows.h"
#include "store/store_impl.h"

static int add_param_values(struct store *store, const struct job_new *job,
                            int64_t id, struct err *err)
{
    for (size_t i = 0; i < job->param_count; i++) {
        const struct value *value = &job->params[i];

        if (value->type == VALUE_NULL)
            continue;
        if (store_change(store, INSERT_PARAM_VALUE,
                         VALUES(value_int(id), value_int((int64_t)i), *value,
                                value_bool(value->type == VALUE_BOOL)),
                         err) < 0)
            return -1;
    }
    return 0;
}

static int take_enqueued(struct store *store, const struct job_new *job,
                         struct err *err)
{
    if (job->enqueued == 0)
        return 0;
    if (store_change(store, TAKE_ENQUEUED,
                     VALUES(value_int(job->run), value_int(job->enqueued),
                            value_int(job->number)),
                     err) < 0)
        return -1;
    return store_expect_change(store, "enqueued setting", job->enqueued, err);
}

static void detail_assignment(struct buf *detail, const struct job_new *job)
{
    if (job->resource == 0)
        return;
    detail_int(detail, "bracket", job->bracket);
    detail_int(detail, "rung", job->rung);
    detail_int(detail, "resource", job->resource);
    detail_int_unless_0(detail, "parent", job->parent);
}

static void detail_copy(struct buf *detail, const struct job_new *job)
{
    detail_int(detail, "step", job->step);
    detail_int(detail, "copy", job->copy);
    detail_int_unless_0(detail, "round", job->round);
    detail_text(detail, "rounds", job->rounds);
}

static int insert_job(struct store *store, const struct job_new *job,
                      struct err *err)
{
    bool is_assigned = job->resource != 0, is_step = job->step >= 0;
    const struct value cells[JOB_COLUMN_COUNT + 1] = {
        [JOB_CELL_NUMBER] = value_int(job->number),
        [JOB_CELL_STATE] = value_text(job->state),
        [JOB_CELL_CURSOR] = value_int((int64_t)job->cursor),
        [JOB_CELL_CREATED_MS] = value_int(job->time_ms),
        [JOB_CELL_VIOLATION] = value_real(0.0),
        [JOB_CELL_SEEN] = value_int(job->seen),
        [JOB_CELL_REASON] = value_text(job->reason),
        [JOB_CELL_SAME_AS] = int_unless(job->same_as, 0),
        [JOB_CELL_BRACKET] = value_int_if(is_assigned, job->bracket),
        [JOB_CELL_RUNG] = value_int_if(is_assigned, job->rung),
        [JOB_CELL_FIRST_RESOURCE] = int_unless(job->resource, 0),
        [JOB_CELL_RESOURCE] = int_unless(job->resource, 0),
        [JOB_CELL_PARENT] = int_unless(job->parent, 0),
        [JOB_CELL_STEP] = value_int_if(is_step, job->step),
        [JOB_CELL_COPY] = value_int_if(is_step, job->copy),
        [JOB_CELL_ROUND] = value_int_if(is_step && job->round != 0, job->round),
        [JOB_CELL_ROUNDS] = value_text(is_step ? job->rounds : NULL),
        [JOB_COLUMN_COUNT] = value_int(job->run),
    };

    return store_change(store, INSERT_JOB, cells, ARRAY_LEN(cells), err);
}

int store_add_job(struct store *store, const struct job_new *job, int64_t *id,
                  struct err *err)
{
    bool is_step = job->step >= 0;
    struct buf *detail;

    if (insert_job(store, job, err) < 0)
        return -1;
    *id = sqlite3_last_insert_rowid(store->db);
    if (add_param_values(store, job, *id, err) < 0 ||
        take_enqueued(store, job, err) < 0)
        return -1;
    detail = detail_start(store);
    detail_text(detail, "state", job->state);
    detail_int(detail, "number", job->number);
    detail_int(detail, "cursor", (int64_t)job->cursor);
    detail_int(detail, "seen", job->seen);
    detail_int_unless_0(detail, "same_as", job->same_as);
    detail_assignment(detail, job);
    if (is_step)
        detail_copy(detail, job);
    detail_int_unless_0(detail, "enqueued", job->enqueued);
    detail_text(detail, "reason", job->reason);
    detail_values(detail, "params", job->params, job->param_count);
    return event_add(store,
                     &(struct event){.run = job->run,
                                     .job = *id,
                                     .time_ms = job->time_ms,
                                     .event = is_step ? "created" : "suggested",
                                     .detail = detail_end(detail)},
                     err);
}

static const char *job_detail(struct store *store,
                              const struct job_change *change)
{
    struct buf *detail = detail_start(store);

    detail_text(detail, "state", change->state);
    detail_text(detail, "cause", change->cause);
    detail_int_unless_0(detail, "started_ms", change->started_ms);
    detail_int_unless_0(detail, "ended_ms", change->ended_ms);
    detail_int_unless_0(detail, "due_ms", change->due_ms);
    detail_int_unless_0(detail, "told", change->told);
    detail_text(detail, "verdict", change->verdict);
    detail_text(detail, "outputs", change->outputs);
    detail_text(detail, "cache_key", change->cache_key);
    detail_int_unless_0(detail, "cached_from", change->cached_from);
    if (change->values != NULL && change->value_count > 0)
        detail_reals(detail, "values", change->values, change->value_count);
    if (change->outcomes != NULL && change->outcome_count > 0)
        detail_reals(detail, "outcomes", change->outcomes,
                     change->outcome_count);
    if (change->violation != 0.0)
        detail_reals(detail, "violation", &change->violation, 1);
    return detail_end(detail);
}

static int set_values(struct store *store, const struct job_change *change,
                      struct err *err)
{
    struct value job = value_int(change->job);

    for (size_t i = 0; change->values != NULL && i < change->value_count; i++) {
        if (store_change(store, REPLACE_JOB_VALUE,
                         VALUES(job, value_int((int64_t)i),
                                value_int(change->run),
                                value_real(change->values[i])),
                         err) < 0)
            return -1;
    }
    for (size_t i = 0; change->outcomes != NULL && i < change->outcome_count;
         i++) {
        if (store_change(store, REPLACE_JOB_OUTCOME,
                         VALUES(job, value_int((int64_t)i),
                                value_real(change->outcomes[i])),
                         err) < 0)
            return -1;
    }
    return 0;
}

int store_change_job(struct store *store, const struct job_change *change,
                     struct err *err)
{
    if (store_change(
            store, UPDATE_JOB,
            VALUES(value_int(change->job), value_int(change->run),
                   value_text(change->state), value_text(change->cause),
                   int_unless(change->started_ms, 0),
                   int_unless(change->ended_ms, 0),
                   int_unless(change->due_ms, 0), value_real(change->violation),
                   int_unless(change->told, 0), value_text(change->outputs),
                   value_text(change->cache_key),
                   int_unless(change->cached_from, 0)),
            err) < 0 ||
        store_expect_change(store, "job", change->job, err) < 0 ||
        set_values(store, change, err) < 0)
        return -1;
    return event_add(store,
                     &(struct event){.run = change->run,
                                     .job = change->job,
                                     .time_ms = change->time_ms,
                                     .event = change->event,
                                     .detail = job_detail(store, change)},
                     err);
}
