/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/clients_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"

/*
 * A request reaches the engine in the turn of its loop in which it is sent, and
 * its reply is read in the same turn: so what it says is how things stand.
 */

enum { MAX_CALLS = 5 };

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

bool clients_call(struct clients *clients, const struct request_kind *kind)
{
    struct client *client = find_free(clients);
    json_t *request;

    if (client == NULL)
        return false;
    client->kind = kind;
    client->ends = clients->history->end_count;
    request = json_pack("{ss}", "op", kind->name);
    if (kind->flag != NULL)
        json_object_set_new(request, kind->flag, json_true());
    if (!dial(clients, client) ||
        (kind->fill != NULL && !kind->fill(clients, client, request)))
        hang_up(client);
    else
        send_request(client, request);
    if (client->fd >= 0)
        history_disturb(clients->history, kind->lost != NULL);
    json_decref(request);
    return true;
}

static void on_call(void *user)
{
    struct clients *clients = user;

    clients_call(clients,
                 request_draw(&world_of(clients)->rng,
                              clients->history->scenario.step_count > 0));
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
    if (error != NULL && client->kind->refused != NULL)
        client->kind->refused(clients, client, reply);
    if (error != NULL)
        return;
    if (!json_is_true(json_object_get(reply, "ok")))
        world_fail("the engine says neither yes nor no");
    if (client->kind->done != NULL)
        client->kind->done(clients, client, reply);
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

/* The engine hangs up, or its process is gone. */
static void lose(struct clients *clients, struct client *client)
{
    if (client->fd >= 0 && !client->is_answered && client->kind->lost != NULL)
        client->kind->lost(clients, client);
    hang_up(client);
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
        lose(clients, client);
        return;
    }
    while (client->in.length > 0 &&
           (end = memchr(client->in.data, '\n', client->in.length)) != NULL) {
        size_t line = (size_t)(end - client->in.data);

        on_line(clients, client, client->in.data, line);
        buf_consume(&client->in, line + 1);
    }
    if (client->is_answered && !client->kind->stays)
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
    for (int i = 0; i < MAX_CLIENTS; i++)
        lose(clients, &clients->all[i]);
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
