/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/step_records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static void make_room(struct step_record *record, size_t count)
{
    size_t before = record->count;

    if (count <= before)
        return;
    if (count < 2 * before)
        count = 2 * before;
    record->copies = mem_resize(record->copies, count, sizeof(*record->copies));
    memset(record->copies + before, 0,
           (count - before) * sizeof(*record->copies));
    record->count = count;
}

static void clear_copy(struct copy_record *copy)
{
    free(copy->rounds);
    free(copy->outputs);
    *copy = (struct copy_record){.is_there = false};
}

struct copy_record *step_record_copy(struct step_record *record, int64_t copy)
{
    make_room(record, (size_t)copy + 1);
    clear_copy(&record->copies[copy]);
    return &record->copies[copy];
}

void step_record_forget(struct step_record *record)
{
    for (size_t i = 0; i < record->count; i++)
        clear_copy(&record->copies[i]);
    free(record->copies);
    free(record->matrix);
    *record = (struct step_record){.state = FLOW_WAITING};
}

void step_records_clear(struct step_record *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        step_record_forget(&records[i]);
    free(records);
}

/* ---- reading ---- */

int step_records_add_step(struct step_record *records, size_t count,
                          const struct step_row *row, struct err *err)
{
    struct step_record *record;

    if ((size_t)row->step >= count)
        return err_set(
            err, ERR_FAILED,
            "step '%s' is in the record, but not in the file of the run",
            row->name);
    record = &records[row->step];
    if (step_state_read(row->name, row->state, &record->state, err) != 0)
        return -1;
    record->first_job = row->first_job;
    record->is_cut_off = text_same(row->reason, STEPS_CUT_OFF);
    record->matrix = mem_copy_string(row->matrix);
    return 0;
}

int step_records_add_job(struct step_record *records, size_t count,
                         const struct trial_row *row, enum job_state state,
                         struct err *err)
{
    if ((size_t)row->step >= count)
        return err_set(err, ERR_FAILED,
                       "job %" PRId64 " in the record belongs to no step",
                       row->number);
    if (row->number < records[row->step].first_job)
        return 0;
    if ((size_t)row->copy >= MATRIX_COPIES_MAX)
        return err_set(err, ERR_FAILED,
                       "job %" PRId64 " in the record belongs to no copy",
                       row->number);
    *step_record_copy(&records[row->step], row->copy) = (struct copy_record){
        .is_there = true,
        .round = row->round,
        .state = state,
        .is_cached = store_is_cache_hit(row->cached_from, row->cache_key),
        .has_begun = row->attempts.count > 0,
        .rounds = mem_copy_string(row->rounds),
        .outputs = mem_copy_string(row->outputs),
    };
    return 0;
}

struct reading {
    struct step_record *records; /* [count] */
    size_t count;
    struct err *err;
};

static int on_step(void *user, const struct step_row *row)
{
    const struct reading *reading = user;

    return step_records_add_step(reading->records, reading->count, row,
                                 reading->err);
}

static int on_job(void *user, const struct trial_row *row)
{
    const struct reading *reading = user;
    enum job_state state;

    if (job_state_read(row->number, row->state, &state, reading->err) != 0)
        return -1;
    return step_records_add_job(reading->records, reading->count, row, state,
                                reading->err);
}

int step_records_read(struct step_record *records, size_t count,
                      struct store *store, int64_t run, struct err *err)
{
    const struct trial_query query = {.run = run, .order = ORDER_NUMBER};
    struct reading reading = {records, count, err};

    if (store_each_step(store, run, on_step, &reading, err) != 0)
        return -1;
    return store_each_trial(store, &query, on_job, &reading, err);
}

/* ---- telling ---- */

/* A text of a step's, NULL: none. */
int step_text_parse(const struct workflow *workflow, size_t step,
                    const char *text, json_t **json, struct err *err)
{
    struct err why;

    *json = NULL;
    if (text == NULL)
        return 0;
    *json = json_parse_up_to(text, strlen(text), MATRIX_BYTES_MAX, &why);
    if (*json != NULL)
        return 0;
    return err_set(err, ERR_FAILED, "the record of step '%s': %s",
                   workflow->steps[step].name, why.text);
}

static int tell_copy(struct steps *steps, size_t step, size_t copy,
                     const struct copy_record *record, struct err *err)
{
    struct job job = {.step = (int64_t)step,
                      .copy = (int64_t)copy,
                      .round = record->round,
                      .state = record->state};
    struct flow_counts counts;
    json_t *next;

    flow_count(steps->flow, step, &counts);
    if (job.copy >= counts.copies)
        return err_set(
            err, ERR_FAILED,
            "step '%s' has %" PRId64
            " copies, but a job in the record belongs to copy %" PRId64,
            steps->workflow->steps[step].name, counts.copies, job.copy);
    if (record->state != JOB_SKIPPED)
        flow_started(steps->flow, step, job.copy);
    if (!job_is_final(record->state))
        return 0;
    if (step_text_parse(steps->workflow, step, record->outputs, &job.outputs,
                        err) != 0 ||
        step_text_parse(steps->workflow, step, record->rounds, &job.rounds,
                        err) != 0) {
        json_decref(job.outputs);
        return -1;
    }
    next = steps_end_job(steps, &job);
    steps_set_cached(steps, step, job.copy, record->is_cached);
    if (next != NULL) /* its file does not say so any more */
        flow_ended(steps->flow, step, job.copy, true);
    json_decref(next);
    json_decref(job.outputs);
    json_decref(job.rounds);
    return 0;
}

static int tell_step(struct steps *steps, size_t step,
                     const struct step_record *record, struct err *err)
{
    json_t *axes;
    int result;

    if (record->state == FLOW_WAITING)
        return 0;
    if (record->state == FLOW_SKIPPED) {
        steps_skip(steps, step);
        return 0;
    }
    if (record->state == FLOW_FAILED && record->count == 0) {
        steps_fail(steps, step);
        return 0;
    }
    if (step_text_parse(steps->workflow, step, record->matrix, &axes, err) != 0)
        return -1;
    result = steps_begin(steps, step, axes, err);
    json_decref(axes);
    for (size_t i = 0; i < record->count && result == 0; i++) {
        if (record->copies[i].is_there)
            result = tell_copy(steps, step, i, &record->copies[i], err);
    }
    if (result == 0 && record->state != FLOW_ACTIVE)
        steps_end(steps, step, record->state);
    return result;
}

int steps_tell(struct steps *steps, const struct step_record *records,
               struct err *err)
{
    size_t *order = mem_array(steps->workflow->step_count, sizeof(*order));
    size_t count = graph_order(steps->workflow->graph, order);
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++)
        result = tell_step(steps, order[i], &records[order[i]], err);
    for (size_t i = 0; i < count && result == 0; i++)
        if (records[i].is_cut_off)
            temps_cut_off(steps->temps, i);
    temps_look_again(steps->temps);
    free(order);
    return result;
}
