/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/ask_tell/ask_tell_schedule.h"

#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/ask_tell/ask_tell_impl.h"
#include "orchestrator/ask_tell/ask_tell_json.h"
#include "orchestrator/ask_tell/ask_tell_record.h"
#include "orchestrator/search/feedback.h"

int ask_tell_schedule_open(struct ask_tell *ask_tell, struct err *err)
{
    const struct experiment *experiment = ask_tell->experiment;

    if (!experiment->schedule.is_on)
        return 0;
    ask_tell->scheduler =
        scheduler_create(&experiment->schedule.options, experiment->space, err);
    return ask_tell->scheduler != NULL ? 0 : -1;
}

/* ---- ask ---- */

struct asking {
    struct ask_tell *ask_tell;
    bool wants_none;           /* no new trials, says the client */
    bool is_closed;            /* there will be none */
    json_t *trials, *given_up; /* what is to be answered */
};

static void set_integer(json_t *json, const char *key, uint64_t number)
{
    json_object_set_new(json, key, json_integer((json_int_t)number));
}

static void hand_out(struct asking *asking, size_t number)
{
    struct ask_tell *ask_tell = asking->ask_tell;
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    json_t *json = ask_tell_trial_json(ask_tell, number);

    ask_tell_lease(ask_tell, number);
    if (trial->resource < SCHEDULE_NO_MAX)
        set_integer(json, "budget", trial->resource);
    if (trial->paused_at > 0)
        json_object_set_new(json, "resumed", json_true());
    if (trial->parent > 0)
        set_integer(json, "parent", trial->parent);
    json_array_append_new(asking->trials, json);
}

/* One that has taken over a result is over, and nobody runs it. */
static void hand_out_last(struct asking *asking)
{
    size_t number = asking->ask_tell->count;

    if (asking->ask_tell->trials[number - 1].values == NULL)
        hand_out(asking, number);
}

static enum ask_result begin(struct asking *asking,
                             const struct assignment *next, struct err *err)
{
    enum ask_result result = ask_tell_add_trial(asking->ask_tell, next, err);

    if (result == ASK_EXHAUSTED) {
        asking->is_closed = true;
        return ASK_OK;
    }
    if (result == ASK_OK)
        hand_out_last(asking);
    return result;
}

static void begin_clone(struct asking *asking, const struct assignment *next)
{
    struct ask_tell *ask_tell = asking->ask_tell;
    struct ask_tell_trial trial = {
        .point = mem_array(space_count(ask_tell->experiment->space),
                           sizeof(*trial.point)),
        .parent = next->trial,
    };
    struct suggestion suggestion;

    scheduler_explore(ask_tell->scheduler, ask_tell->count + 1,
                      ask_tell->trials[next->trial - 1].point, trial.point);
    strategy_accept(ask_tell->strategy, ask_tell->count + 1, trial.point,
                    &suggestion);
    ask_tell_append(ask_tell, &trial, &suggestion, next);
    hand_out(asking, ask_tell->count);
}

static void promote(struct asking *asking, const struct assignment *next)
{
    struct ask_tell *ask_tell = asking->ask_tell;
    const struct feedback_item item = {
        .kind = FEEDBACK_PROMOTION,
        .number = (int64_t)next->trial,
        .place = ask_tell->told + 1,
        .resource = (int64_t)next->resource,
        .bracket = (int64_t)next->bracket,
        .rung = (int64_t)next->rung,
    };

    ask_tell_record_promote(ask_tell, next->trial, next);
    ask_tell->told++;
    feedback_tell(ask_tell->strategy, ask_tell->scheduler, ask_tell->experiment,
                  &item, NULL);
    ask_tell->trials[next->trial - 1].resource = next->resource;
    ask_tell->trials[next->trial - 1].state = JOB_READY;
    ask_tell->open_count++;
    hand_out(asking, next->trial);
}

/* A paused trial will not go on: what it had reached is its end. */
static void give_up(struct asking *asking, const struct assignment *next)
{
    ask_tell_give_up(asking->ask_tell, next->trial, next->reason);
    json_array_append_new(asking->given_up,
                          json_integer((json_int_t)next->trial));
}

/* The file's trials bind a session without a run, too: some schedules plan with
 * their number. */
static bool has_room(struct ask_tell *ask_tell)
{
    int64_t trials = ask_tell->experiment->budget.trials;

    return ask_tell_has_room(ask_tell) &&
           (trials == 0 || ask_tell->count < (uint64_t)trials);
}

/* What the schedule wants next. Where a client wants no new trial, nothing is
 * recorded and none will come, so that others need not wait for it. In a run
 * another client may want one, and the schedule waits. */
static void find_next(struct asking *asking, struct assignment *next)
{
    struct ask_tell *ask_tell = asking->ask_tell;
    bool is_recorded = ask_tell->record != NULL;

    *next = (struct assignment){.kind = NEXT_NONE};
    if (ask_tell_record_is_over(ask_tell))
        return;
    asking->is_closed |= ask_tell->is_exhausted || !has_room(ask_tell) ||
                         (asking->wants_none && !is_recorded);
    scheduler_next(ask_tell->scheduler, asking->is_closed, next);
    if (is_recorded && asking->wants_none &&
        (next->kind == NEXT_NEW || next->kind == NEXT_CLONE))
        next->kind = NEXT_NONE;
}

/* One thing that is to be done; NEXT_NONE: there is none. */
static enum ask_result do_next(struct asking *asking, enum next_kind *kind,
                               struct err *err)
{
    struct ask_tell *ask_tell = asking->ask_tell;
    size_t waiting = ask_tell_first_waiting(ask_tell);
    struct assignment next;

    if (waiting > 0 && !ask_tell_record_is_over(ask_tell)) {
        *kind = NEXT_PROMOTE;
        hand_out(asking, waiting);
        return ASK_OK;
    }
    find_next(asking, &next);
    *kind = next.kind;
    switch (next.kind) {
    case NEXT_NEW:
        return begin(asking, &next, err);
    case NEXT_CLONE:
        begin_clone(asking, &next);
        break;
    case NEXT_PROMOTE:
        promote(asking, &next);
        break;
    case NEXT_STOP:
        give_up(asking, &next);
        break;
    case NEXT_NONE:
    default:
        break;
    }
    return ASK_OK;
}

static json_t *ask_answer(const struct asking *asking, enum next_kind last)
{
    json_t *answer = json_pack("{s:O}", "trials", asking->trials);

    if (json_array_size(asking->given_up) > 0)
        json_object_set(answer, "stopped", asking->given_up);
    if (last == NEXT_NONE &&
        !ask_tell_record_describe(asking->ask_tell, answer))
        json_object_set_new(
            answer, asking->ask_tell->open_count > 0 ? "waiting" : "done",
            json_true());
    return answer;
}

json_t *ask_tell_schedule_ask(struct ask_tell *ask_tell, const json_t *request,
                              struct err *err)
{
    struct asking asking = {.ask_tell = ask_tell};
    enum ask_result result = ASK_OK;
    enum next_kind kind = NEXT_NEW;
    bool wants_new = true;
    int64_t count = 1;
    json_t *answer = NULL;

    if (ask_tell_read_count(request, "n", ASK_TELL_MAX_ASK, &count, err) != 0 ||
        ask_tell_read_flag(request, "new", &wants_new, err) != 0)
        return NULL;
    asking.wants_none = !wants_new;
    asking.trials = json_array();
    asking.given_up = json_array();
    while (result == ASK_OK && kind != NEXT_NONE &&
           json_array_size(asking.trials) < (size_t)count)
        result = do_next(&asking, &kind, err);
    if (result == ASK_OK || json_array_size(asking.trials) > 0 ||
        json_array_size(asking.given_up) > 0)
        answer = ask_answer(&asking, kind);
    json_decref(asking.trials);
    json_decref(asking.given_up);
    return answer;
}

/* ---- why ---- */

void ask_tell_schedule_describe(const struct ask_tell *ask_tell,
                                const struct ask_tell_trial *trial,
                                json_t *json)
{
    if (ask_tell->scheduler == NULL)
        return;
    if (trial->resource < SCHEDULE_NO_MAX)
        set_integer(json, "budget", trial->resource);
    if (trial->parent > 0)
        set_integer(json, "parent", trial->parent);
    json_object_set_new(json, "paused",
                        json_boolean(trial->state == JOB_PAUSED));
}
