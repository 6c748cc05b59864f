/* SPDX-License-Identifier: GPL-3.0-or-later */
/* New trials of a session in the record. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "orchestrator/ask_tell/ask_tell_impl.h"
#include "orchestrator/ask_tell/ask_tell_record.h"
#include "orchestrator/search/reason_json.h"
#include "orchestrator/spec/experiment/setting_json.h"
#include "store/store.h"

/* NULL where there is nothing to say. The caller's. */
static char *describe_reason(const struct experiment *experiment,
                             const struct suggestion *suggestion)
{
    struct buf text = BUF_INIT;
    json_t *json;

    if (suggestion->reason.step == NULL)
        return NULL;
    json =
        reason_to_json(&suggestion->reason, experiment->objectives[0].maximize);
    json_print(json, &text);
    json_decref(json);
    return buf_take(&text);
}

void ask_tell_record_add(struct ask_tell *ask_tell, size_t number,
                         const struct suggestion *suggestion,
                         const struct assignment *assignment)
{
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    struct ask_tell_record *record = ask_tell->record;
    struct job_new job = {
        .number = (int64_t)number,
        .state = job_state_names[JOB_READY],
        .cursor = suggestion->cursor,
        .seen = ask_tell->told,
        .same_as = (int64_t)suggestion->same_as,
        .step = -1,
        .enqueued = (int64_t)suggestion->wish,
        .params = trial->point,
        .param_count = space_count(ask_tell->experiment->space),
        .time_ms = clock_wall_ms(),
    };
    struct err err;
    char *reason;

    if (!ask_tell_record_begin(ask_tell))
        return;
    if (assignment != NULL) {
        job.bracket = (int64_t)assignment->bracket;
        job.rung = (int64_t)assignment->rung;
        job.resource = (int64_t)assignment->resource;
        job.parent = (int64_t)trial->parent;
    }
    reason = describe_reason(ask_tell->experiment, suggestion);
    job.run = record->run->id;
    job.reason = reason;
    record->tally.suggested++;
    if (record->convergence != NULL)
        convergence_ask(record->convergence, number, trial->point);
    ask_tell_record_check(
        ask_tell, store_add_job(record->run->store, &job, &trial->job, &err),
        &err);
    free(reason);
}

void ask_tell_record_wish(struct ask_tell *ask_tell, uint64_t id,
                          const struct value *values)
{
    const struct run *run;
    struct buf text = BUF_INIT;
    struct err err;
    json_t *json;

    if (!ask_tell_record_begin(ask_tell))
        return;
    run = ask_tell->record->run;
    json = setting_json(ask_tell->experiment->space, values);
    json_print(json, &text);
    ask_tell_record_check(ask_tell,
                          store_add_enqueued(run->store, run->id, (int64_t)id,
                                             buf_text(&text), clock_wall_ms(),
                                             &err),
                          &err);
    buf_clear(&text);
    json_decref(json);
}
