/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What smtune's own commands ask of a run with a session, on the socket on
 * which they talk to an engine (docs/architecture.md). A session takes an
 * enqueued setting, and refuses the rest: `smtune stop` sends it a signal.
 */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "orchestrator/ask_tell/ask_tell_impl.h"
#include "orchestrator/ask_tell/ask_tell_record.h"
#include "orchestrator/run/control_once.h"
#include "orchestrator/run/enqueue.h"

/* NULL with err. */
static json_t *enqueue(struct ask_tell *ask_tell, const json_t *request,
                       struct err *err)
{
    const struct run *run = ask_tell->record->run;
    const struct enqueue order = {
        .store = run->store,
        .run = run->id,
        .experiment = ask_tell->experiment,
        .strategy = ask_tell->strategy,
        .trials = (int64_t)ask_tell->count,
    };
    json_t *answer = NULL;
    int64_t index;

    if (ask_tell->scheduler != NULL &&
        scheduler_room(ask_tell->scheduler) <=
            strategy_wish_count(ask_tell->strategy))
        err_set(err, ERR_BUSY,
                "the schedule now creates new trials only from earlier ones");
    else if (ask_tell_record_is_over(ask_tell))
        err_set(err, ERR_BUSY, "the run is ending");
    else if (enqueue_add(&order, json_object_get(request, "params"), &index,
                         err) == 0)
        answer =
            json_pack("{s:b, s:I}", "ok", 1, "enqueued", (json_int_t)index);
    if (answer == NULL && err->kind != ERR_USAGE && err->kind != ERR_BUSY)
        ask_tell_record_break(ask_tell, err); /* the strategy has it */
    if (answer == NULL)
        return NULL;
    ask_tell->wish_id = (uint64_t)index;
    ask_tell_record_check(
        ask_tell,
        control_record_answer(run->store, run->id, request, answer, err), err);
    return answer;
}

static json_t *answer_command(struct ask_tell *ask_tell, const json_t *request,
                              struct err *err)
{
    const char *op = json_string_value(json_object_get(request, "op"));

    if (control_check_id(request, err) != 0)
        return NULL;
    if (op != NULL && strcmp(op, "enqueue") == 0 &&
        ask_tell_record_begin(ask_tell))
        return enqueue(ask_tell, request, err);
    err_set(err, ERR_BUSY,
            "other programs run its trials now (stop them first: smtune stop "
            "%s)",
            ask_tell->record->run->name);
    return NULL;
}

void ask_tell_command(struct ask_tell *ask_tell, const char *line,
                      size_t length, struct buf *out)
{
    struct err err = {.kind = ERR_USAGE};
    json_t *request = json_parse(line, length, &err);
    json_t *answer =
        request != NULL ? answer_command(ask_tell, request, &err) : NULL;

    if (answer == NULL)
        answer = json_pack("{s:o, s:i}", "error", json_from_text(err.text),
                           "status", err_exit_status(err.kind));
    json_print(answer, out);
    buf_add_char(out, '\n');
    json_decref(answer);
    json_decref(request);
}
