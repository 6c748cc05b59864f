/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/clients_impl.h"

#include <inttypes.h>
#include <string.h>

/* What is asked of an engine, and what its answer is held against. */

static const struct request_kind resume;

static struct world *world_of(const struct clients *clients)
{
    return clients->history->world;
}

static void check_status(struct clients *clients, const json_t *reply)
{
    const struct history *history = clients->history;
    int64_t trials =
        json_integer_value(json_object_get(reply, "budget_trials"));

    if (history->scenario.step_count == 0 &&
        !budget_changes_allow(history, trials))
        world_fail("the engine says that its budget is %" PRId64 " trials",
                   trials);
    if (json_is_true(json_object_get(reply, "paused")) != clients->is_paused)
        world_fail("the engine says that it is%s paused",
                   clients->is_paused ? " not" : "");
}

static void on_status(struct clients *clients, struct client *client,
                      const json_t *reply)
{
    (void)client;
    check_status(clients, reply);
}

static void on_subscribed(struct clients *clients, struct client *client,
                          const json_t *reply)
{
    check_status(clients, reply);
    client->ends_at_most = clients->history->end_count;
}

static void resume_soon(struct clients *clients);

static void on_resume(void *user)
{
    if (!clients_call(user, &resume))
        resume_soon(user);
}

static void resume_soon(struct clients *clients)
{
    struct world *world = world_of(clients);

    world_schedule(world, world->now_ms + rng_magnitude(&world->rng, 1, 20000),
                   on_resume, clients);
}

static void on_paused(struct clients *clients, struct client *client,
                      const json_t *reply)
{
    (void)client, (void)reply;
    if (!clients->is_paused)
        clients->paused_at_ms = world_of(clients)->now_ms;
    clients->is_paused = true;
    resume_soon(clients);
}

/* From now on it may start something. */
static bool end_pause(struct clients *clients, struct client *client,
                      json_t *request)
{
    (void)request;
    client->was_paused = clients->is_paused;
    clients->paused_ms = clients_paused_ms(clients);
    clients->is_paused = false;
    return true;
}

/* It could not be written that the pause is over. */
static void keep_pause(struct clients *clients, struct client *client,
                       const json_t *reply)
{
    (void)reply;
    clients->is_paused = client->was_paused;
    clients->paused_at_ms = world_of(clients)->now_ms;
    resume_soon(clients);
}

static bool signal_user(struct clients *clients, struct client *client,
                        json_t *request)
{
    (void)client, (void)request;
    world_of(clients)->is_signalled = true;
    return true;
}

/* Where the disk fails it is not known whether something was done: a commit of
 * which it was said that it failed may be found when the store is opened. */
static bool is_certain(const struct clients *clients)
{
    const struct scenario *scenario = &clients->history->scenario;

    return scenario->faults == 0 && scenario->full == 0;
}

static bool put_back(struct clients *clients, struct client *client,
                     json_t *request)
{
    const struct reopening_request *asked = &clients->history->reopenings.asked;
    json_t *numbers;

    (void)client;
    if (!is_certain(clients) || !reopenings_draw(clients->history))
        return false;
    numbers = json_array();
    for (size_t i = 0; i < asked->count; i++)
        json_array_append_new(numbers, json_integer(asked->numbers[i]));
    json_object_set_new(request, "trials", numbers);
    json_object_set_new(request, "failed", json_boolean(asked->all_failed));
    json_object_set_new(request, "force", json_boolean(asked->even_succeeded));
    json_object_set_new(request, "id", json_string("put back"));
    return true;
}

static void on_put_back(struct clients *clients, struct client *client,
                        const json_t *reply)
{
    (void)client;
    reopenings_acknowledge(clients->history,
                           json_integer_value(json_object_get(reply, "count")));
}

static void on_put_back_refused(struct clients *clients, struct client *client,
                                const json_t *reply)
{
    (void)client;
    reopenings_refuse(clients->history,
                      json_integer_value(json_object_get(reply, "status")));
}

static bool enqueue(struct clients *clients, struct client *client,
                    json_t *request)
{
    int64_t k;

    (void)client;
    if (!is_certain(clients))
        return false;
    k = enqueueing_draw(clients->history);
    json_object_set_new(request, "params", json_pack("{sI}", "k", k));
    json_object_set_new(request, "id", json_string("enqueue"));
    return true;
}

static void on_enqueued(struct clients *clients, struct client *client,
                        const json_t *reply)
{
    (void)client;
    enqueueing_acknowledge(clients->history, json_integer_value(json_object_get(
                                                 reply, "enqueued")));
}

static void on_enqueue_refused(struct clients *clients, struct client *client,
                               const json_t *reply)
{
    (void)client, (void)reply;
    enqueueing_refuse(clients->history);
}

static void doubt_enqueued(struct clients *clients, struct client *client)
{
    (void)client;
    enqueueing_doubt(clients->history);
}

/* Whether the engine that crashed had done it. */
static void doubt_put_back(struct clients *clients, struct client *client)
{
    (void)client;
    reopenings_doubt(clients->history);
}

static bool change_budget(struct clients *clients, struct client *client,
                          json_t *request)
{
    const struct budget_change change = budget_changes_draw(clients->history);

    client->change = change;
    if (change.trials > 0)
        json_object_set_new(request, "trials", json_integer(change.trials));
    if (change.time_ms > 0)
        json_object_set_new(request, "time_ms", json_integer(change.time_ms));
    return budget_change_is_any(&change) && end_pause(clients, client, request);
}

static void on_budget_changed(struct clients *clients, struct client *client,
                              const json_t *reply)
{
    (void)reply;
    if (clients->history->scenario.step_count > 0 && client->change.trials > 0)
        world_fail("a workflow's budget became %" PRId64 " trials",
                   client->change.trials);
    budget_changes_acknowledge(clients->history, &client->change);
}

static void doubt_budget(struct clients *clients, struct client *client)
{
    budget_changes_doubt(clients->history, &client->change);
}

/* Where the disk fails it is not known whether it was done. */
static void on_budget_refused(struct clients *clients, struct client *client,
                              const json_t *reply)
{
    const struct scenario *scenario = &clients->history->scenario;
    const char *error = json_string_value(json_object_get(reply, "error"));

    if (scenario->faults > 0 || scenario->full > 0 || scenario->denials > 0)
        doubt_budget(clients, client);
    else
        budget_changes_refuse(clients->history, &client->change, error);
    clients->is_paused = client->was_paused;
    clients->paused_at_ms = world_of(clients)->now_ms;
}

static const struct request_kind resume = {
    .name = "resume", .fill = end_pause, .refused = keep_pause};

static const struct request_kind kinds[] = {
    {.name = "status", .weights = {17, 10}, .done = on_status},
    {.name = "subscribe",
     .weights = {17, 10},
     .stays = true,
     .done = on_subscribed},
    {.name = "pause", .weights = {12, 12}, .done = on_paused},
    {.name = "pause", .flag = "now", .weights = {12, 12}, .done = on_paused},
    {.name = "resume",
     .weights = {12, 4},
     .fill = change_budget,
     .done = on_budget_changed,
     .refused = on_budget_refused,
     .lost = doubt_budget},
    {.name = "retry",
     .weights = {12, 42},
     .fill = put_back,
     .done = on_put_back,
     .refused = on_put_back_refused,
     .lost = doubt_put_back},
    {.name = "enqueue",
     .weights = {12, 4},
     .fill = enqueue,
     .done = on_enqueued,
     .refused = on_enqueue_refused,
     .lost = doubt_enqueued},
    {.name = "stop", .flag = "drain", .weights = {3, 3}, .fill = signal_user},
    {.name = "stop", .weights = {3, 3}, .fill = signal_user},
};

const struct request_kind *request_draw(struct rng *rng, bool is_workflow)
{
    int64_t drawn = rng_between(rng, 0, 99);
    size_t i = 0;

    while (i + 1 < ARRAY_LEN(kinds) && drawn >= kinds[i].weights[is_workflow])
        drawn -= kinds[i++].weights[is_workflow];
    return &kinds[i];
}
