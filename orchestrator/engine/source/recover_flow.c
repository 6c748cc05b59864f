/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/recover_flow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/engine/core/tally.h"

/*
 * Taking up a workflow: its flow is told what is in the record, step by step,
 * each behind those that it needs. Of a copy's jobs (its rounds) the last one
 * counts.
 */

struct copy_record {
    bool is_there;
    int64_t round;
    enum job_state state;   /* final, or not yet */
    char *rounds, *outputs; /* JSON; NULL: none */
};

struct step_record {
    enum flow_state state;
    char *matrix;               /* NULL: none */
    int64_t first_job;          /* what comes before is of an earlier time */
    struct copy_record *copies; /* [count], by copy */
    size_t count;
};

struct step_records {
    struct taking_up *taking_up;
    struct step_record *items; /* [step_count] */
    size_t step_count;
    int64_t told; /* the last place */
};

static int on_step(void *user, const struct step_row *row)
{
    struct step_records *records = user;
    struct step_record *record;

    if ((size_t)row->step >= records->step_count)
        return err_set(
            records->taking_up->err, ERR_FAILED,
            "step '%s' is in the record, but not in the file of the run",
            row->name);
    record = &records->items[row->step];
    if (step_state_read(row->name, row->state, &record->state,
                        records->taking_up->err) != 0)
        return -1;
    record->first_job = row->first_job;
    if (row->matrix != NULL)
        record->matrix = mem_copy_string(row->matrix);
    return 0;
}

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

static char *copy_text(const char *text)
{
    return text != NULL ? mem_copy_string(text) : NULL;
}

static int keep_copy(struct step_records *records, const struct trial_row *row,
                     enum job_state state)
{
    struct step_record *record = &records->items[row->step];
    struct copy_record *copy;

    if ((size_t)row->copy >= MATRIX_COPIES_MAX)
        return err_set(records->taking_up->err, ERR_FAILED,
                       "job %" PRId64 " in the record belongs to no copy",
                       row->number);
    make_room(record, (size_t)row->copy + 1);
    copy = &record->copies[row->copy];
    free(copy->rounds);
    free(copy->outputs);
    *copy = (struct copy_record){
        .is_there = true,
        .round = row->round,
        .state = state,
        .rounds = copy_text(row->rounds),
        .outputs = copy_text(row->outputs),
    };
    return 0;
}

static int on_job(void *user, const struct trial_row *row)
{
    struct step_records *records = user;
    struct taking_up *taking_up = records->taking_up;
    struct engine *engine = taking_up->engine;
    struct feedback_item item = {.kind = FEEDBACK_RESULT,
                                 .number = row->number};

    if ((size_t)row->step >= records->step_count)
        return err_set(taking_up->err, ERR_FAILED,
                       "job %" PRId64 " in the record belongs to no step",
                       row->number);
    if (job_state_read(row->number, row->state, &item.state, taking_up->err) !=
        0)
        return -1;
    engine->tally.suggested++;
    if (row->told > records->told)
        records->told = row->told;
    if (row->number >= records->items[row->step].first_job &&
        keep_copy(records, row, item.state) != 0)
        return -1;
    if (!job_is_final(item.state))
        return taking_up_job(taking_up, row, item.state) != NULL ? 0 : -1;
    engine_count(engine, &item);
    return 0;
}

static int on_superseded(void *user, const struct superseded_row *row)
{
    struct step_records *records = user;

    if (row->told > records->told)
        records->told = row->told;
    return 0;
}

/* ---- telling ---- */

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

static int tell_all(struct step_records *records)
{
    struct engine *engine = records->taking_up->engine;
    size_t *order = mem_array(records->step_count, sizeof(*order));
    size_t count = graph_order(engine->run->workflow->graph, order);
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++)
        result = tell_step(engine->steps, order[i], &records->items[order[i]],
                           records->taking_up->err);
    free(order);
    return result;
}

static void clear(struct step_records *records)
{
    for (size_t i = 0; i < records->step_count; i++) {
        struct step_record *record = &records->items[i];

        for (size_t j = 0; j < record->count; j++) {
            free(record->copies[j].rounds);
            free(record->copies[j].outputs);
        }
        free(record->copies);
        free(record->matrix);
    }
    free(records->items);
}

int recover_flow(struct taking_up *taking_up)
{
    struct engine *engine = taking_up->engine;
    struct step_records records = {
        .taking_up = taking_up,
        .step_count = engine->run->workflow->step_count,
    };
    struct trial_query query = {.run = engine->run->id, .order = ORDER_NUMBER};
    int result;

    records.items = mem_array(records.step_count, sizeof(*records.items));
    result = store_each_step(engine->store, engine->run->id, on_step, &records,
                             taking_up->err);
    if (result == 0)
        result = store_each_trial(engine->store, &query, on_job, &records,
                                  taking_up->err);
    if (result == 0)
        result = store_each_superseded(engine->store, engine->run->id,
                                       on_superseded, &records, taking_up->err);
    if (result == 0)
        result = tell_all(&records);
    engine->transaction.told_count = records.told;
    clear(&records);
    return result;
}
