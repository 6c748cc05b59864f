/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A setting goes to the run's engine, or into the record where it has none. The
 * run's lock decides which, so that it is added exactly once.
 */
#include "cli/drive/enqueue_setting.h"

#include <stdlib.h>
#include <string.h>

#include "base/conf/diag.h"
#include "base/mem.h"
#include "orchestrator/run/control_once.h"
#include "orchestrator/run/enqueue.h"
#include "orchestrator/run/run.h"
#include "store/store.h"

char *enqueue_part_word(const char *word, const char **value, struct err *err)
{
    const char *sign = strchr(word, '=');

    if (sign == NULL || sign == word) {
        err_set(err, ERR_USAGE, "'%s': expected NAME=VALUE", word);
        return NULL;
    }
    *value = sign + 1;
    return mem_copy_bytes(word, (size_t)(sign - word));
}

/* Holding the run's lock, so that no engine begins meanwhile. */
static int put(const char *directory, int64_t id, const json_t *params,
               int64_t *index, struct err *err)
{
    struct store *store = store_open(directory, STORE_WRITE, err);
    struct diags *diags = diags_create("the run's file");
    struct run *run = store != NULL ? run_open(store, id, diags, err) : NULL;
    int result = -1;

    if (run != NULL)
        result = enqueue_add_to_run(run, params, index, err);
    else if (diags_count(diags) > 0)
        diags_to_err(diags, err);
    run_close(run);
    diags_destroy(diags);
    store_close(store);
    return result;
}

static json_t *request(const json_t *params)
{
    return json_pack("{s:s, s:o}", "op", "enqueue", "params",
                     json_deep_copy(params));
}

static enum control_outcome ask_engine(struct store *store,
                                       const struct enqueue_order *order,
                                       int64_t *index, struct err *err)
{
    char *directory = store_run_directory(store, order->run_name);
    json_t *reply = NULL;
    const struct control_order asked = {store, order->run, directory,
                                        order->limit_ms};
    enum control_outcome outcome =
        control_call_once(&asked, request(order->params), &reply, err);

    *index = json_integer_value(json_object_get(reply, "enqueued"));
    json_decref(reply);
    free(directory);
    return outcome;
}

int enqueue_setting(struct store *store, const struct enqueue_order *order,
                    struct enqueue_reply *reply, struct err *err)
{
    enum control_outcome outcome = ask_engine(store, order, &reply->index, err);
    int result = outcome == CONTROL_ERROR ? -1 : 0;

    reply->is_waited = outcome != CONTROL_DONE;
    if (outcome == CONTROL_NO_ENGINE && order->has_succeeded)
        result = err_set(err, ERR_BUSY,
                         "it has ended (start another run with it: --set "
                         "enqueue=[{...}])");
    else if (outcome == CONTROL_NO_ENGINE)
        result = put(store_directory(store), order->run, order->params,
                     &reply->index, err);
    if (result != 0)
        err_prefix(err, "run '%s'", order->run_name);
    return result;
}
