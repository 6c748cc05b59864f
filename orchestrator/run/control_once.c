/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A request that takes effect at most once, though an engine may crash at any
 * moment.
 *
 * The client draws an id. The engine commits its answer with that id in the
 * transaction of the change. If the engine crashes, the client looks for the id
 * in the record. If it is there, the change was made. If not, it never will be,
 * because the request was only in memory. The search begins at the last event
 * before the request, so it stays short in a long run.
 */
#include "orchestrator/run/control_once.h"

#include <stdbool.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/token.h"
#include "orchestrator/run/control_link.h"
#include "store/changes.h"
#include "store/store.h"

enum { ID_BYTES = 16, ID_MAX = 64 };

/* ---- who asks ---- */

/* An engine has ended before it answered: whether it had done it. */
static int find_answer(struct store *store, const struct answer_query *query,
                       json_t **reply, struct err *err)
{
    struct buf text = BUF_INIT;
    int found = store_find_answer(store, query, &text, err);

    if (found > 0) {
        *reply = json_parse(buf_text(&text), text.length, err);
        found = *reply != NULL ? 1 : -1;
    }
    buf_clear(&text);
    return found;
}

/* Waits for one that dies; another may have come. */
static bool has_engine(const struct control_order *order)
{
    return control_call_within(order->run_directory,
                               json_pack("{s:s}", "op", "status"),
                               order->limit_ms, NULL, NULL) != 1;
}

enum control_outcome control_call_once(const struct control_order *order,
                                       json_t *request, json_t **reply,
                                       struct err *err)
{
    char id[TOKEN_SIZE(ID_BYTES)];
    struct answer_query query = {.run = order->run, .id = id};
    enum control_outcome outcome = CONTROL_ERROR;
    int found = 0;

    *reply = NULL;
    token_draw(id, ID_BYTES);
    json_object_set_new(request, "id", json_string(id));
    if (store_last_event(order->store, order->run, &query.since, err) != 0)
        found = -1;
    while (found == 0) {
        outcome = (enum control_outcome)control_call_one(
            order->run_directory, request, order->limit_ms, reply, err);
        if (outcome != CONTROL_ENGINE_DIED)
            break;
        found = find_answer(order->store, &query, reply, err);
    }
    if (found > 0 && has_engine(order))
        outcome = CONTROL_DONE;
    json_decref(request);
    json_object_del(*reply, "id");
    return found >= 0 ? outcome : CONTROL_ERROR;
}

/* ---- who is asked ---- */

int control_check_id(const json_t *request, struct err *err)
{
    const json_t *id = json_object_get(request, "id");

    if (id == NULL || (json_is_string(id) && json_string_length(id) <= ID_MAX))
        return 0;
    return err_set(err, ERR_USAGE,
                   "type mismatch: 'id' must be a text of at most %d bytes",
                   ID_MAX);
}

int control_record_answer(struct store *store, int64_t run,
                          const json_t *request, json_t *answer,
                          struct err *err)
{
    json_t *id = json_object_get(request, "id");
    struct buf text = BUF_INIT;
    int result;

    if (id == NULL)
        return 0;
    json_object_set(answer, "id", id);
    json_print(answer, &text);
    result =
        store_add_answer(store, run, buf_text(&text), clock_wall_ms(), err);
    buf_clear(&text);
    return result;
}
