/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One loop over poll(): read from whoever has something, answer, commit, and
 * only then write. A client with answers to take is not read from, and gets no
 * further answers beyond a bound, so memory stays bounded. Nothing is written
 * that would block: sockets do not wait, and a pipe that is writable has room
 * for a piece of PIPE_BUF bytes. A line that is too long is skipped to its end
 * and answered by an error.
 */
#include "orchestrator/ask_tell/serve.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/ask_tell/ask_tell.h"
#include "orchestrator/run/local_socket.h"

enum {
    CLIENTS_MAX = 512,
    READ_BYTES = 1 << 16,
    OUT_BYTES = 1 << 20, /* with more to take, a client has to wait */
    LOOK_EVERY_MS = 200  /* whether there are files again */
};

/* Which of the files is what. */
enum { STOP, LISTENER, COMMANDS, FIRST_CLIENT };

struct client {
    int64_t id;
    int in, out;
    bool is_socket;
    bool is_command; /* of smtune itself */
    bool has_ended;  /* its input */
    bool is_gone;    /* its output, too */
    bool is_skipped; /* the line is too long: its rest is passed over */
    struct buf text; /* what has not been answered yet */
    size_t scanned;  /* of it, without a newline */
    struct buf answers;
};

struct server {
    struct ask_tell *ask_tell;
    const struct serve_door *door;
    struct client **clients; /* [count] */
    size_t count, capacity;
    struct pollfd *files; /* [FIRST_CLIENT + count] */
    size_t files_capacity;
    int64_t last_id;
    bool has_no_files; /* nobody can be let in for a while */
    bool is_over;
};

/* ---- lines ---- */

static void answer(struct server *server, struct client *client,
                   const char *line, size_t length)
{
    bool is_asked = !client->is_skipped && !text_is_blank(line, length);

    if (is_asked && client->is_command)
        ask_tell_command(server->ask_tell, line, length, &client->answers);
    else if (is_asked)
        ask_tell_answer(server->ask_tell, client->id, line, length,
                        &client->answers);
    client->is_skipped = false;
}

static void skip_long_line(struct client *client)
{
    if (!client->is_skipped)
        buf_printf(&client->answers,
                   "{\"error\":\"line too long: more than %d bytes\"}\n",
                   ASK_TELL_MAX_LINE);
    client->is_skipped = true;
    buf_truncate(&client->text, 0);
    client->scanned = 0;
}

/* Answers whole lines as long as the client takes the answers; at the end of
 * its input also the last one. */
static void answer_lines(struct server *server, struct client *client)
{
    struct buf *in = &client->text;
    size_t start = 0, from = client->scanned;
    const char *newline = NULL;

    while (client->answers.length < OUT_BYTES && from < in->length &&
           (newline = memchr(in->data + from, '\n', in->length - from)) !=
               NULL) {
        answer(server, client, in->data + start,
               (size_t)(newline - in->data) - start);
        start = from = (size_t)(newline - in->data) + 1;
    }
    buf_consume(in, start);
    client->scanned = client->answers.length < OUT_BYTES ? in->length : 0;
    if (client->scanned > ASK_TELL_MAX_LINE)
        skip_long_line(client);
    if (client->has_ended && client->scanned > 0) {
        answer(server, client, in->data, in->length);
        buf_truncate(in, 0);
        client->scanned = 0;
    }
}

/* ---- clients ---- */

static struct client *add_client(struct server *server, int in, int out)
{
    struct client *client = mem_zero(sizeof(*client));

    client->id = ++server->last_id;
    client->in = in;
    client->out = out;
    server->clients = mem_grow(server->clients, server->count,
                               &server->capacity, sizeof(struct client *));
    server->clients[server->count++] = client;
    return client;
}

static void free_client(struct client *client)
{
    if (client->is_socket)
        close(client->in);
    buf_clear(&client->text);
    buf_clear(&client->answers);
    free(client);
}

static void accept_client(struct server *server, int listener, bool is_command)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct client *client;

    if (fd < 0) {
        server->has_no_files = errno == EMFILE || errno == ENFILE;
        return;
    }
    if (!local_socket_is_own(fd)) {
        close(fd);
        return;
    }
    client = add_client(server, fd, fd);
    client->is_socket = true;
    client->is_command = is_command;
}

static int read_client(struct server *server, struct client *client,
                       struct err *err)
{
    ssize_t size =
        read(client->in, buf_reserve(&client->text, READ_BYTES), READ_BYTES);

    if (size < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (size < 0 && !client->is_socket)
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot read standard input");
    if (size > 0)
        client->text.length += (size_t)size;
    client->has_ended = size <= 0;
    answer_lines(server, client);
    return 0;
}

/* Sockets do not wait in any case. */
static bool is_writable(const struct client *client)
{
    struct pollfd file = {client->out, POLLOUT, 0};

    return client->is_socket || poll(&file, 1, 0) > 0;
}

static int write_client(struct client *client, struct err *err)
{
    size_t size = client->answers.length;
    ssize_t written;

    if (size == 0 || !is_writable(client))
        return 0;
    if (!client->is_socket && size > PIPE_BUF)
        size = PIPE_BUF;
    written = write(client->out, client->answers.data, size);
    if (written > 0)
        buf_consume(&client->answers, (size_t)written);
    if (written >= 0 || errno == EINTR || errno == EAGAIN)
        return 0;
    if (client->is_socket) {
        client->is_gone = true;
        return 0;
    }
    err_set_errno(err, ERR_FAILED, errno, "cannot write to standard output");
    if (errno == EPIPE)
        err->text[0] = '\0';
    return -1;
}

static bool is_done(const struct client *client)
{
    return client->is_gone ||
           (client->has_ended && client->answers.length == 0 &&
            client->text.length == 0);
}

/* Their trials are others' now. */
static void drop_done(struct server *server)
{
    size_t kept = 0;

    for (size_t i = 0; i < server->count; i++) {
        struct client *client = server->clients[i];

        if (!is_done(client)) {
            server->clients[kept++] = client;
            continue;
        }
        ask_tell_leave(server->ask_tell, client->id);
        server->is_over |= !client->is_socket;
        free_client(client);
    }
    server->count = kept;
}

/* ---- the loop ---- */

static void fill_files(struct server *server)
{
    const struct serve_door *door = server->door;
    bool is_full = server->count >= CLIENTS_MAX || server->has_no_files;

    while (server->files_capacity < server->count + FIRST_CLIENT)
        server->files =
            mem_grow(server->files, server->files_capacity,
                     &server->files_capacity, sizeof(*server->files));
    server->files[STOP] = (struct pollfd){door->stop, POLLIN, 0};
    server->files[LISTENER] =
        (struct pollfd){is_full ? -1 : door->listener, POLLIN, 0};
    server->files[COMMANDS] =
        (struct pollfd){is_full ? -1 : door->commands, POLLIN, 0};
    for (size_t i = 0; i < server->count; i++) {
        const struct client *client = server->clients[i];

        server->files[i + FIRST_CLIENT] =
            client->answers.length > 0
                ? (struct pollfd){client->out, POLLOUT, 0}
                : (struct pollfd){client->in, POLLIN, 0};
    }
}

/* Reads, answers and writes what was ready. */
static int turn(struct server *server, struct err *err)
{
    size_t count = server->count;

    if (server->files[LISTENER].revents != 0)
        accept_client(server, server->door->listener, false);
    if (server->files[COMMANDS].revents != 0)
        accept_client(server, server->door->commands, true);
    for (size_t i = 0; i < count; i++) {
        struct client *client = server->clients[i];
        short ready = server->files[i + FIRST_CLIENT].revents;
        bool was_writing =
            (server->files[i + FIRST_CLIENT].events & POLLOUT) != 0;

        if (ready != 0 && was_writing && write_client(client, err) != 0)
            return -1;
        if (ready != 0 && !was_writing && read_client(server, client, err) != 0)
            return -1;
        if (was_writing && client->answers.length == 0 && !client->is_gone)
            answer_lines(server, client); /* those that had to wait */
    }
    if (ask_tell_commit(server->ask_tell, err) != 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        bool was_writing =
            (server->files[i + FIRST_CLIENT].events & POLLOUT) != 0;

        if (!was_writing && write_client(server->clients[i], err) != 0)
            return -1;
    }
    drop_done(server);
    return ask_tell_commit(server->ask_tell, err);
}

int serve_clients(struct ask_tell *ask_tell, const struct serve_door *door,
                  struct err *err)
{
    struct server server = {.ask_tell = ask_tell, .door = door};
    int status = 0;

    if (door->in >= 0)
        add_client(&server, door->in, door->out);
    while (status == 0 && !server.is_over) {
        int patience_ms = server.has_no_files ? LOOK_EVERY_MS : -1;

        fill_files(&server);
        server.has_no_files = false;
        if (poll(server.files, server.count + FIRST_CLIENT, patience_ms) < 0) {
            if (errno != EINTR)
                status = err_set_errno(err, ERR_FAILED, errno,
                                       "cannot wait for requests");
            continue;
        }
        if (server.files[STOP].revents != 0)
            break;
        status = turn(&server, err);
    }
    for (size_t i = 0; i < server.count; i++)
        free_client(server.clients[i]);
    free(server.clients);
    free(server.files);
    return status;
}
