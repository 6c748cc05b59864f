/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/recover_flow.h"

#include "base/mem.h"
#include "orchestrator/engine/core/tally.h"
#include "orchestrator/steps/step_records.h"

/*
 * Taking up a workflow: its flow is told what is in the record
 * (orchestrator/steps/step_records.h).
 */

struct step_records {
    struct taking_up *taking_up;
    struct step_record *items; /* [step_count] */
    size_t step_count;
    int64_t told; /* the last place */
};

static int on_step(void *user, const struct step_row *row)
{
    struct step_records *records = user;

    return step_records_add_step(records->items, records->step_count, row,
                                 records->taking_up->err);
}

static int on_job(void *user, const struct trial_row *row)
{
    struct step_records *records = user;
    struct taking_up *taking_up = records->taking_up;
    struct engine *engine = taking_up->engine;
    struct feedback_item item = {.kind = FEEDBACK_RESULT,
                                 .number = row->number};

    if (job_state_read(row->number, row->state, &item.state, taking_up->err) !=
        0)
        return -1;
    engine->tally.suggested++;
    if (row->told > records->told)
        records->told = row->told;
    if (step_records_add_job(records->items, records->step_count, row,
                             item.state, taking_up->err) != 0)
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
    records->taking_up->engine->steps->touch_is_over = true;
    return 0;
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
        result = steps_tell(engine->steps, records.items, taking_up->err);
    engine->transaction.told_count = records.told;
    step_records_clear(records.items, records.step_count);
    return result;
}
