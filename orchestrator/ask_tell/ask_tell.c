/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The search of an experiment for other programs, which ask for trials and tell
 * their results. Trials live in one array by number, with what was said of
 * them. What search and schedule learn of that goes through feedback.h, as it
 * does in an engine. A trial that is open is run by one client, or it waits:
 * its client is gone, or it was suggested before its turn.
 *
 * A session of a run writes each change into the record at once
 * (ask_tell_record.h), in one transaction until ask_tell_commit(). Where that
 * fails, memory is ahead of the record, and the session is over.
 */
#include "orchestrator/ask_tell/ask_tell.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/ask_tell/ask_tell_impl.h"
#include "orchestrator/ask_tell/ask_tell_json.h"
#include "orchestrator/ask_tell/ask_tell_record.h"
#include "orchestrator/ask_tell/ask_tell_schedule.h"
#include "orchestrator/search/search.h"

struct ask_tell *ask_tell_create(const struct experiment *experiment,
                                 const struct warm_start *warm, struct err *err)
{
    struct ask_tell *ask_tell = mem_zero(sizeof(*ask_tell));

    ask_tell->experiment = experiment;
    ask_tell->strategy = search_create(experiment, warm, err);
    if (ask_tell->strategy != NULL &&
        ask_tell_schedule_open(ask_tell, err) == 0)
        return ask_tell;
    ask_tell_destroy(ask_tell);
    return NULL;
}

void ask_tell_destroy(struct ask_tell *ask_tell)
{
    if (ask_tell == NULL)
        return;
    for (size_t i = 0; i < ask_tell->count; i++) {
        free(ask_tell->trials[i].point);
        free(ask_tell->trials[i].values);
        free(ask_tell->trials[i].outcomes);
        free(ask_tell->trials[i].suggestion);
        free(ask_tell->trials[i].reason);
        free(ask_tell->trials[i].reached);
    }
    free(ask_tell->trials);
    free(ask_tell->waiting);
    ask_tell_record_destroy(ask_tell->record);
    scheduler_destroy(ask_tell->scheduler);
    strategy_destroy(ask_tell->strategy);
    free(ask_tell);
}

/* ---- ask ---- */

/* Its number; 0: there is none now, and *result is why. */
static size_t next_trial(struct ask_tell *ask_tell, enum ask_result *result,
                         struct err *err)
{
    size_t number = ask_tell_record_is_over(ask_tell)
                        ? 0
                        : ask_tell_first_waiting(ask_tell);

    *result = ASK_OK;
    while (number == 0 && ask_tell_has_room(ask_tell)) {
        *result = ask_tell->is_exhausted
                      ? ASK_EXHAUSTED
                      : ask_tell_add_trial(ask_tell, NULL, err);
        if (*result != ASK_OK)
            return 0;
        number = ask_tell_first_waiting(ask_tell);
    }
    if (number > 0)
        ask_tell_lease(ask_tell, number);
    return number;
}

/* An error behind the first trial comes up again with the next request. */
static json_t *answer_ask(struct ask_tell *ask_tell, const json_t *request,
                          struct err *err)
{
    enum ask_result result = ASK_OK;
    json_t *trials, *answer;
    int64_t count = 1;
    size_t number = 1;

    if (ask_tell->scheduler != NULL)
        return ask_tell_schedule_ask(ask_tell, request, err);
    if (ask_tell_read_count(request, "n", ASK_TELL_MAX_ASK, &count, err) != 0)
        return NULL;
    trials = json_array();
    for (int64_t i = 0; i < count && number > 0; i++) {
        number = next_trial(ask_tell, &result, err);
        if (number > 0)
            json_array_append_new(trials,
                                  ask_tell_trial_json(ask_tell, number));
    }
    if (result == ASK_ERROR && json_array_size(trials) == 0) {
        json_decref(trials);
        return NULL;
    }
    answer = json_pack("{s:o}", "trials", trials);
    if (result == ASK_EXHAUSTED)
        json_object_set_new(answer, "exhausted", json_true());
    else if (number == 0 && result == ASK_OK &&
             !ask_tell_record_describe(ask_tell, answer))
        json_object_set_new(answer, "waiting", json_true());
    return answer;
}

static json_t *answer_observe(struct ask_tell *ask_tell, const json_t *request,
                              struct err *err)
{
    double value;
    int64_t step;
    size_t number;

    if (ask_tell->scheduler != NULL)
        return ask_tell_schedule_observe(ask_tell, request, err);
    if (ask_tell_find_open(ask_tell, request, &number, err) == NULL ||
        ask_tell_read_integer(request, "step", &step, err) != 0 ||
        ask_tell_read_value(request, &value, err) != 0)
        return NULL;
    ask_tell_lease(ask_tell, number);
    ask_tell_record_point(ask_tell, number, (double)step, value);
    return json_pack("{s:s}", "decision", "continue");
}

/* ---- requests ---- */

static const struct {
    const char *name;
    json_t *(*answer)(struct ask_tell *ask_tell, const json_t *request,
                      struct err *err);
} operations[] = {
    {"ask", answer_ask},         {"tell", ask_tell_tell},
    {"observe", answer_observe}, {"best", ask_tell_best},
    {"why", ask_tell_why},
};

static json_t *answer_operation(struct ask_tell *ask_tell,
                                const json_t *request, struct err *err)
{
    const char *names[ARRAY_LEN(operations)];
    const char *name = ask_tell_read_text(request, "op", err);

    if (name == NULL)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        if (strcmp(operations[i].name, name) == 0)
            return operations[i].answer(ask_tell, request, err);
        names[i] = operations[i].name;
    }
    text_unknown("op", name, names, ARRAY_LEN(names), ERR_USAGE, err);
    return NULL;
}

void ask_tell_answer(struct ask_tell *ask_tell, int64_t client,
                     const char *line, size_t length, struct buf *out)
{
    struct err err = {0};
    json_t *request = ask_tell_parse(line, length, &err);
    json_t *answer = NULL;

    ask_tell->client = client;
    if (request != NULL)
        answer = answer_operation(ask_tell, request, &err);
    if (answer == NULL)
        answer = json_pack("{s:o}", "error", json_from_text(err.text));
    json_print(answer, out);
    buf_add_char(out, '\n');
    json_decref(answer);
    json_decref(request);
}
