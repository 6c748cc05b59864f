/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/clients.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "tests/fault/sim/history.h"

/*
 * A request reaches the engine in the turn of its loop in which it is sent, and
 * its reply is read in the same turn: so what it says is how things stand.
 */

enum { MAX_CLIENTS = 6, MAX_CALLS = 5 };

struct op;

struct client {
    int fd; /* -1: it is free */
    const struct op *op;
    struct buf in;
    bool is_answered;
    bool was_paused;     /* when it asked that it goes on */
    int64_t trial;       /* that is to be put back */
    size_t ends;         /* of trials, when it asked */
    size_t ends_at_most; /* when it was answered */
    size_t told;         /* ends that it heard of since */
};

struct clients {
    struct history *history;
    struct client all[MAX_CLIENTS];
    bool is_paused;
    int64_t paused_at_ms, paused_ms;
    int64_t enqueued;
    bool may_have_enqueued;
};

struct op {
    const char *name, *flag; /* flag NULL: none */
    int weight;
    bool stays; /* the client, to hear of what happens */
    /* NULL: nothing is added. False: it has nothing to ask. */
    bool (*fill)(struct clients *clients, struct client *client,
                 json_t *request);
    /* NULL: nothing comes of it. */
    void (*done)(struct clients *clients, struct client *client,
                 const json_t *reply);
};

static const struct op resume;

static struct world *world_of(const struct clients *clients)
{
    return clients->history->world;
}

static void hang_up(struct client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    buf_clear(&client->in);
    *client = (struct client){.fd = -1};
}

/* -- What is asked --------------------------------------------------------*/

static void call(struct clients *clients, const struct op *op);

static void check_status(struct clients *clients, const json_t *reply)
{
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

static void on_resume(void *user)
{
    call(user, &resume);
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
static void keep_pause(struct clients *clients, const struct client *client)
{
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

/* Where the disk fails it would not be known whether that was done. */
static bool put_back(struct clients *clients, struct client *client,
                     json_t *request)
{
    const struct scenario *scenario = &clients->history->scenario;

    if (scenario->step_count > 0 || scenario->faults > 0 || scenario->full > 0)
        return false;
    client->trial = history_reopen_begin(clients->history);
    json_object_set_new(request, "trials", json_pack("[I]", client->trial));
    json_object_set_new(request, "id", json_string("put back"));
    return client->trial > 0;
}

static void on_put_back(struct clients *clients, struct client *client,
                        const json_t *reply)
{
    if (json_integer_value(json_object_get(reply, "count")) != 1)
        world_fail("trial %" PRId64 " was put back, and the reply says else",
                   client->trial);
    history_reopen_end(clients->history);
    clients->history->answered_count++;
    client->trial = 0;
}

static bool enqueue(struct clients *clients, struct client *client,
                    json_t *request)
{
    struct rng *rng = &world_of(clients)->rng;

    (void)client;
    json_object_set_new(request, "params",
                        json_pack("{sI}", "k", rng_between(rng, 1, 5)));
    clients->may_have_enqueued |= clients->history->scenario.step_count == 0;
    return true;
}

static void on_enqueued(struct clients *clients, struct client *client,
                        const json_t *reply)
{
    (void)client;
    clients->enqueued = json_integer_value(json_object_get(reply, "enqueued"));
    if (clients->enqueued < 1)
        world_fail("the engine does not say which place a setting has");
}

static const struct op resume = {"resume", NULL, 0, false, end_pause, NULL};

static const struct op ops[] = {
    {"status", NULL, 20, false, NULL, on_status},
    {"subscribe", NULL, 20, true, NULL, on_subscribed},
    {"pause", NULL, 15, false, NULL, on_paused},
    {"pause", "now", 15, false, NULL, on_paused},
    {"retry", "force", 12, false, put_back, on_put_back},
    {"enqueue", NULL, 12, false, enqueue, on_enqueued},
    {"stop", "drain", 3, false, signal_user, NULL},
    {"stop", NULL, 3, false, signal_user, NULL},
};

/* -- Calling --------------------------------------------------------------*/

static bool dial(const struct clients *clients, struct client *client)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof(address.sun_path),
             "%s/runs/sim/control.sock", clients->history->directory);
    client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (client->fd < 0)
        world_fail("no socket: %s", strerror(errno));
    return connect(client->fd, (const struct sockaddr *)&address,
                   sizeof(address)) == 0;
}

static void send_request(struct client *client, const json_t *request)
{
    struct buf line = BUF_INIT;

    json_print(request, &line);
    buf_add_char(&line, '\n');
    world_trace("a client: %.*s", (int)line.length - 1, line.data);
    if (send(client->fd, line.data, line.length, MSG_NOSIGNAL) !=
        (ssize_t)line.length)
        hang_up(client);
    buf_clear(&line);
}

/* NULL: all are busy, or one waits for a reply: the engine would be asked two
 * things at once, and it would not be known in which order it did them. */
static struct client *find_free(struct clients *clients)
{
    struct client *found = NULL;

    for (int i = 0; i < MAX_CLIENTS; i++) {
        struct client *client = &clients->all[i];

        if (client->fd >= 0 && !client->is_answered)
            return NULL;
        if (client->fd < 0)
            found = client;
    }
    return found;
}

/* Somebody asks for it, if there is an engine that listens. */
static void call(struct clients *clients, const struct op *op)
{
    struct client *client = find_free(clients);
    json_t *request;

    if (client == NULL) {
        if (op == &resume)
            resume_soon(clients);
        return;
    }
    client->op = op;
    client->ends = clients->history->end_count;
    request = json_pack("{ss}", "op", op->name);
    if (op->flag != NULL)
        json_object_set_new(request, op->flag, json_true());
    if (!dial(clients, client) ||
        (op->fill != NULL && !op->fill(clients, client, request)))
        hang_up(client);
    else
        send_request(client, request);
    json_decref(request);
}

static void on_call(void *user)
{
    struct clients *clients = user;
    int64_t drawn = rng_between(&world_of(clients)->rng, 0, 99);
    size_t i = 0;

    while (i + 1 < ARRAY_LEN(ops) && drawn >= ops[i].weight)
        drawn -= ops[i++].weight;
    call(clients, &ops[i]);
}

void clients_plan(struct clients *clients)
{
    struct world *world = world_of(clients);
    int calls = clients->history->scenario.calls;

    for (int i = 0; i < MAX_CALLS && rng_percent(&world->rng, calls); i++)
        world_schedule(world,
                       world->now_ms + rng_magnitude(&world->rng, 1, 30000),
                       on_call, clients);
}

/* -- Being told -----------------------------------------------------------*/

static void on_reply(struct clients *clients, struct client *client,
                     const json_t *reply)
{
    const char *error = json_string_value(json_object_get(reply, "error"));

    client->is_answered = true;
    world_trace("the engine: %s", error != NULL ? error : "ok");
    if (error != NULL && client->op == &resume)
        keep_pause(clients, client);
    else if (error == NULL && client->op->done != NULL)
        client->op->done(clients, client, reply);
    else if (error == NULL && !json_is_true(json_object_get(reply, "ok")))
        world_fail("the engine says neither yes nor no");
}

static bool was_told(const struct history *history, size_t first, int64_t trial,
                     const char *state)
{
    for (size_t i = first; i < history->end_count; i++) {
        if (history->ends[i].trial == trial &&
            strcmp(history->ends[i].state, state) == 0)
            return true;
    }
    return false;
}

/* One who follows a run hears of each end once, and of nothing else. */
static void on_news(const struct clients *clients, struct client *client,
                    const json_t *news)
{
    const struct history *history = clients->history;
    const char *event = json_string_value(json_object_get(news, "event"));
    const char *state = json_string_value(json_object_get(news, "state"));
    int64_t trial = json_integer_value(json_object_get(news, "id"));

    if (event == NULL || client->ends_at_most == SIZE_MAX)
        world_fail("a subscriber is told what is no event, or after the end");
    if (strcmp(event, "trial") == 0) {
        client->told++;
        if (state == NULL || !was_told(history, client->ends, trial, state))
            world_fail("a subscriber hears of an end of trial %" PRId64
                       " that was none",
                       trial);
    }
    if (strcmp(event, "ended") != 0)
        return;
    if (client->told + client->ends_at_most < history->end_count ||
        client->told + client->ends > history->end_count)
        world_fail("a subscriber heard of %zu ends, of %zu", client->told,
                   history->end_count - client->ends_at_most);
    client->ends_at_most = SIZE_MAX;
}

static void on_line(struct clients *clients, struct client *client,
                    const char *text, size_t length)
{
    json_t *line = json_parse(text, length, NULL);

    if (!json_is_object(line))
        world_fail("the engine says '%.*s'", (int)length, text);
    if (client->is_answered)
        on_news(clients, client, line);
    else
        on_reply(clients, client, line);
    json_decref(line);
}

static void hear(struct clients *clients, struct client *client)
{
    enum { PIECE = 4096 };
    const char *end;
    ssize_t length;

    while ((length = recv(client->fd, buf_reserve(&client->in, PIECE), PIECE,
                          0)) > 0)
        client->in.length += (size_t)length;
    if (client->in.length == 0 && length == 0) {
        hang_up(client);
        return;
    }
    while (client->in.length > 0 &&
           (end = memchr(client->in.data, '\n', client->in.length)) != NULL) {
        size_t line = (size_t)(end - client->in.data);

        on_line(clients, client, client->in.data, line);
        buf_consume(&client->in, line + 1);
    }
    if (client->is_answered && !client->op->stays)
        hang_up(client);
}

bool clients_are_there(const struct world *world)
{
    for (int i = 0; i < MAX_CLIENTS; i++) {
        if (world->clients->all[i].fd >= 0)
            return true;
    }
    return false;
}

void clients_hear(const struct world *world)
{
    for (int i = 0; i < MAX_CLIENTS; i++) {
        if (world->clients->all[i].fd >= 0)
            hear(world->clients, &world->clients->all[i]);
    }
}

/* -- A history's ----------------------------------------------------------*/

struct clients *clients_create(struct history *history)
{
    struct clients *clients = mem_zero(sizeof(*clients));

    clients->history = history;
    for (int i = 0; i < MAX_CLIENTS; i++)
        clients->all[i].fd = -1;
    return clients;
}

void clients_forget(struct clients *clients)
{
    for (int i = 0; i < MAX_CLIENTS; i++) {
        if (clients->all[i].trial > 0)
            history_reopen_doubt(clients->history);
        hang_up(&clients->all[i]);
    }
    clients->is_paused = false;
    clients->paused_ms = 0;
    world_cancel_all(world_of(clients), clients);
}

void clients_destroy(struct clients *clients)
{
    for (int i = 0; i < MAX_CLIENTS; i++)
        hang_up(&clients->all[i]);
    free(clients);
}

bool clients_have_paused(const struct world *world)
{
    return world->clients->is_paused;
}

int64_t clients_paused_ms(const struct clients *clients)
{
    return clients->paused_ms +
           (clients->is_paused
                ? world_of(clients)->now_ms - clients->paused_at_ms
                : 0);
}

int64_t clients_enqueued(const struct clients *clients)
{
    return clients->enqueued;
}

bool clients_may_have_enqueued(const struct clients *clients)
{
    return clients->may_have_enqueued;
}
