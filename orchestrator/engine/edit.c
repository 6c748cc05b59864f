/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The run's file is corrected while its engine lives.
 *
 * Everything in memory points into the file that was read: jobs, steps,
 * executors, receivers. So nothing is exchanged in place. The edit goes into
 * the record, and then the session ends as one does whose record could not be
 * written: jobs go on, and the next session reads the record, adopts them, and
 * has the new file. A crash at any moment comes to the same.
 */
#include "orchestrator/engine/edit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/engine/core/pause.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/run/edit.h"
#include "orchestrator/run/notify.h"
#include "orchestrator/run/value_check.h"

static const char *text_of(const json_t *request, const char *key)
{
    const char *text = json_string_value(json_object_get(request, key));

    return text != NULL ? text : "";
}

static int read_file(const struct engine *engine, const json_t *request,
                     struct run_edit *edit, struct err *err)
{
    const json_t *list = json_object_get(request, "set");
    size_t count = json_array_size(list);
    const char **words = mem_array(count, sizeof(*words));
    const struct spec now = {engine->run->experiment, engine->run->workflow};
    const struct run_edit_order order = {
        .path = text_of(request, "path"), .set = words, .set_count = count};
    struct diags *diags = diags_create(order.path);
    int result = 0;

    for (size_t i = 0; i < count; i++) {
        words[i] = json_string_value(json_array_get(list, i));
        if (words[i] == NULL)
            result = err_set(err, ERR_USAGE,
                             "type mismatch: 'set' must be a list of texts");
    }
    if (result == 0)
        result = run_edit_read(&now, &order, edit, diags, err);
    if (result != 0 && diags_count(diags) > 0)
        diags_to_err(diags, err);
    if (result == 0 && strcmp(edit->digest, text_of(request, "digest")) != 0)
        result =
            err_set(err, ERR_BUSY, "'%s' has changed meanwhile", edit->path);
    diags_destroy(diags);
    free(words);
    return result;
}

int engine_edit(struct engine *engine, const json_t *request,
                struct run_edit_again *again, struct err *err)
{
    struct run_edit_place place = {
        .store = engine->store,
        .run = engine->run->id,
        .begun = engine->tally.suggested,
        .used_ms = engine_elapsed_ms(engine),
        .retry_base = engine->run->retry_base,
    };
    struct run_edit edit = {.path = NULL};
    int result = read_file(engine, request, &edit, err);

    if (result == 0)
        result = run_edit_check(&edit, &place, err);
    if (result == 0)
        result = notifier_check(edit.spec.experiment, err);
    if (result == 0)
        result =
            run_check_values(edit.spec.experiment, edit.spec.workflow, err);
    if (result == 0 && !engine_begin(engine)) {
        *err = engine->transaction.broken;
        result = -1;
    }
    if (result == 0) {
        result = run_edit_record(&edit, &place, err);
        if (result != 0 && err->kind != ERR_USAGE)
            engine_break(engine, err);
    }
    *again = place.again;
    run_edit_clear(&edit);
    return result;
}

void engine_follow_edit(struct engine *engine)
{
    struct err err;

    if (engine->transaction.is_broken)
        return;
    LOG(engine->log, LOG_ENGINE, LOG_INFO, 0, "%s",
        "the file was edited: the session begins again with it");
    engine->is_edited = true;
    engine->transaction.is_broken = true;
    err_set(&err, ERR_BUSY, "the engine reads the edited file (try again)");
    engine->transaction.broken = err;
}
