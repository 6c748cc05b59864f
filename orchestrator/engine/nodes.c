/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/engine/core/transaction.h"

/*
 * Nodes of clusters that runs keep away from. They stand in the store, where
 * other runs and `smtune nodes` change them, too: so that is looked at every
 * few seconds.
 */

enum { LOOK_EVERY_MS = 3000, HOUR_MS = 3600 * 1000 };

static const struct {
    const char *word; /* of store and JSON */
    int64_t avoid_ms; /* for so long */
} troubles[] = {
    [NODE_DIED] = {"died", HOUR_MS},
    [NODE_UNHEALTHY] = {"unhealthy", 24 * (int64_t)HOUR_MS},
    [NODE_REFUSED] = {"refused", HOUR_MS},
};

struct avoided {
    char **names; /* NULL-ended */
    size_t count, capacity;
    struct buf text; /* the names, to be compared */
};

static int on_node(void *user, const struct node_row *node)
{
    struct avoided *avoided = user;

    avoided->names = mem_grow(avoided->names, avoided->count + 1,
                              &avoided->capacity, sizeof(*avoided->names));
    avoided->names[avoided->count++] = mem_copy_string(node->name);
    avoided->names[avoided->count] = NULL;
    buf_printf(&avoided->text, "%s\n", node->name);
    return 0;
}

static void tell_executors(struct engine *engine, const struct avoided *avoided)
{
    static const char *const none[] = {NULL};
    const char *const *names =
        avoided->count > 0 ? (const char *const *)avoided->names : none;

    for (size_t i = 0; i < engine->executor_count; i++)
        executor_avoid(engine->executors[i], names);
}

/* An executor tells of a node once until it is told anew what to avoid. */
static int read_nodes(struct engine *engine, bool tells_always, struct err *err)
{
    struct avoided avoided = {.names = NULL};
    int result =
        store_each_node(engine->store, clock_wall_ms(), on_node, &avoided, err);

    engine->clocks.look_at_nodes_ms = clock_monotonic_ms() + LOOK_EVERY_MS;
    if (result == 0 &&
        (tells_always ||
         strcmp(buf_text(&avoided.text), buf_text(&engine->avoided)) != 0)) {
        tell_executors(engine, &avoided);
        buf_truncate(&engine->avoided, 0);
        buf_add_string(&engine->avoided, buf_text(&avoided.text));
    }
    for (size_t i = 0; i < avoided.count; i++)
        free(avoided.names[i]);
    free(avoided.names);
    buf_clear(&avoided.text);
    return result;
}

int engine_avoid_nodes(struct engine *engine, struct err *err)
{
    return read_nodes(engine, true, err);
}

void engine_look_at_nodes(struct engine *engine)
{
    struct err err;

    if (clock_monotonic_ms() >= engine->clocks.look_at_nodes_ms &&
        read_nodes(engine, false, &err) != 0)
        engine_break(engine, &err);
}

void engine_on_node(void *user, const struct node_report *report)
{
    struct engine *engine = user;
    int64_t now_ms = clock_wall_ms();
    struct err err;

    LOG(engine->log, LOG_EXECUTOR, LOG_WARNING, 0, "node=%s %s: %s",
        report->node, troubles[report->trouble].word, report->text);
    if (engine_begin(engine) &&
        (store_report_node(
             engine->store,
             &(struct node_new){.run = engine->run->id,
                                .attempt = report->attempt,
                                .name = report->node,
                                .trouble = troubles[report->trouble].word,
                                .text = report->text,
                                .time_ms = now_ms,
                                .until_ms = now_ms +
                                            troubles[report->trouble].avoid_ms},
             &err) != 0 ||
         read_nodes(engine, true, &err) != 0))
        engine_break(engine, &err);
}

void engine_on_note(void *user, const char *text)
{
    struct engine *engine = user;
    struct err err;

    LOG(engine->log, LOG_EXECUTOR, LOG_INFO, 0, "%s",
        text[0] != '\0' ? text : "the last message is no longer true");
    snprintf(engine->executor_note, sizeof(engine->executor_note), "%s", text);
    /* A run that ends has its own note in the status. */
    if (engine->wind_up.phase != PHASE_RUNNING && text[0] != '\0')
        engine->events->warn(engine->events->user, text);
    if (engine_begin(engine) &&
        store_add_note(engine->store, engine->run->id, text, clock_wall_ms(),
                       &err) != 0)
        engine_break(engine, &err);
}
