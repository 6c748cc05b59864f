/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/control_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/run/control_address.h"
#include "store/engine_lock.h"

enum {
    ANSWER_MS = 20000, /* a disk may be slow, or the engine very busy */
    START_MS = 10000,  /* between an engine's lock and its socket */
    AGAIN_MS = 20,
    PIECE_BYTES = 64 * 1024
};

struct control_link {
    int fd;
    struct buf in;
    size_t taken; /* of it, lines given out */
};

/* ---- connecting ---- */

/* How long is waited for an engine that starts, and then for its reply. */
struct patience {
    int start_ms, answer_ms;
};

static int try_connect(const char *run_directory,
                       const struct patience *patience, int *error,
                       struct err *err)
{
    const struct timeval wait = {.tv_sec = patience->answer_ms / 1000,
                                 .tv_usec = patience->answer_ms % 1000 * 1000};
    struct sockaddr_un address;
    int directory = control_address(run_directory, &address, err);
    int fd;

    *error = 0;
    if (directory < 0)
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        err_set_errno(err, ERR_FAILED, errno, "cannot create a socket");
    } else {
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
        if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) !=
            0) {
            *error = errno;
            err_set_errno(err, ERR_FAILED, errno, "cannot reach the engine");
            close(fd);
            fd = -1;
        }
    }
    close(directory);
    return fd;
}

static void wait_a_little(void)
{
    struct timespec time = {.tv_nsec = AGAIN_MS * 1000000L};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/* 1: there is no engine. */
static int dial(const char *run_directory, const struct patience *patience,
                struct control_link **link, struct err *err)
{
    int64_t end_ms = clock_monotonic_ms() + patience->start_ms;

    for (;;) {
        int64_t pid;
        int error, fd;
        int held = engine_lock_probe(run_directory, &pid, err);

        if (held <= 0)
            return held < 0 ? -1 : 1;
        if (engine_lock_check_owner(run_directory, err) != 0)
            return -1;
        fd = try_connect(run_directory, patience, &error, err);
        if (fd >= 0) {
            *link = mem_zero(sizeof(**link));
            (*link)->fd = fd;
            return 0;
        }
        if ((error != ENOENT && error != ECONNREFUSED) ||
            clock_monotonic_ms() > end_ms)
            return -1;
        wait_a_little();
    }
}

void control_hang_up(struct control_link *link)
{
    if (link == NULL)
        return;
    close(link->fd);
    buf_clear(&link->in);
    free(link);
}

/* ---- lines ---- */

int control_descriptor(const struct control_link *link)
{
    return link->fd;
}

int control_take(struct control_link *link)
{
    ssize_t length;

    buf_consume(&link->in, link->taken);
    link->taken = 0;
    do {
        length =
            recv(link->fd, buf_reserve(&link->in, PIECE_BYTES), PIECE_BYTES, 0);
    } while (length < 0 && errno == EINTR);
    if (length <= 0)
        return -1;
    link->in.length += (size_t)length;
    return 0;
}

const char *control_next_line(struct control_link *link, size_t *length)
{
    const char *line = buf_text(&link->in) + link->taken;
    const char *end = memchr(line, '\n', link->in.length - link->taken);

    if (end == NULL)
        return NULL;
    *length = (size_t)(end - line);
    link->taken += *length + 1;
    return line;
}

/* ---- requests ---- */

/* It may hang up before it has read all; then it has said why. */
static void send_line(struct control_link *link, const json_t *request)
{
    struct buf line = BUF_INIT;
    size_t sent = 0;

    json_print(request, &line);
    buf_add_char(&line, '\n');
    while (sent < line.length) {
        ssize_t length =
            send(link->fd, line.data + sent, line.length - sent, MSG_NOSIGNAL);

        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            break;
        sent += (size_t)length;
    }
    buf_clear(&line);
}

/* As in ERR_KINDS. */
static enum err_kind kind_of_status(int status)
{
    for (int kind = ERR_FAILED; kind <= ERR_UNMET; kind++) {
        if (err_exit_status((enum err_kind)kind) == status)
            return (enum err_kind)kind;
    }
    return ERR_FAILED;
}

static int check_reply(const json_t *reply, struct err *err)
{
    const char *error = json_string_value(json_object_get(reply, "error"));

    if (reply == NULL)
        return err_set(err, ERR_FAILED,
                       "the engine sent an answer that this version does not "
                       "support");
    if (error == NULL)
        return 0;
    return err_set(err,
                   kind_of_status((int)json_integer_value(
                       json_object_get(reply, "status"))),
                   "%s", error);
}

/* As call_one. */
static int ask(struct control_link *link, const json_t *request, json_t **reply,
               struct err *err)
{
    const char *line;
    json_t *answer;
    size_t length;
    int result;

    send_line(link, request);
    while ((line = control_next_line(link, &length)) == NULL) {
        errno = 0;
        if (control_take(link) != 0)
            return errno == EAGAIN ? err_set(err, ERR_BUSY,
                                             "the engine does not answer, but "
                                             "may still act on the "
                                             "request")
                                   : 2;
    }
    answer = json_parse(line, length, NULL);
    result = check_reply(answer, err);
    if (reply != NULL && result == 0)
        *reply = json_incref(answer);
    json_decref(answer);
    return result;
}

/* 2: the engine has ended before it answered. */
static int call_one(const char *run_directory, const struct patience *patience,
                    const json_t *request, struct control_link **link,
                    json_t **reply, struct err *err)
{
    struct control_link *called;
    int result = dial(run_directory, patience, &called, err);

    if (result != 0)
        return result;
    result = ask(called, request, reply, err);
    if (result == 0 && link != NULL)
        *link = called;
    else
        control_hang_up(called);
    return result;
}

static int call(const char *run_directory, const struct patience *patience,
                json_t *request, struct control_link **link, json_t **reply,
                struct err *err)
{
    int result;

    while ((result = call_one(run_directory, patience, request, link, reply,
                              err)) == 2)
        wait_a_little();
    json_decref(request);
    return result;
}

int control_call(const char *run_directory, json_t *request,
                 struct control_link **link, json_t **reply, struct err *err)
{
    const struct patience patience = {START_MS, ANSWER_MS};

    return call(run_directory, &patience, request, link, reply, err);
}

int control_call_within(const char *run_directory, json_t *request,
                        int limit_ms, json_t **reply, struct err *err)
{
    const struct patience patience = {limit_ms, limit_ms};

    return call(run_directory, &patience, request, NULL, reply, err);
}

int control_call_one(const char *run_directory, const json_t *request,
                     int limit_ms, json_t **reply, struct err *err)
{
    const struct patience patience = {limit_ms, limit_ms};

    return call_one(run_directory, &patience, request, NULL, reply, err);
}
