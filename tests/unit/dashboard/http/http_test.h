/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_DASHBOARD_HTTP_HTTP_TEST_H
#define SMTUNE_TESTS_UNIT_DASHBOARD_HTTP_HTTP_TEST_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "dashboard/http/http.h"

/*
 * A server and its clients in one loop. What it does with a request is the
 * test's; a client reads only when the test has it read.
 */

enum { PATIENCE_MS = 30000, EXCHANGES_MAX = 8, SECOND_MS = 1000 };

/* ---- what the linker puts in place ---- */

/* By so much the loop's time is ahead, for the server. */
UNUSED static uint64_t ahead_ms;

uint64_t __real_uv_now(const uv_loop_t *loop);
uint64_t __wrap_uv_now(const uv_loop_t *loop);
uint64_t __wrap_uv_now(const uv_loop_t *loop)
{
    return __real_uv_now(loop) + ahead_ms;
}

/* ---- the server ---- */

struct fixture {
    uv_loop_t loop;
    struct http *http;
    struct sockaddr_in address;
    /* What is done with a request; NULL: nothing, for now. */
    void (*answer)(struct fixture *fixture, struct http_exchange *exchange);
    struct http_exchange *exchanges[EXCHANGES_MAX];
    size_t asked;
    int status; /* of the last one */
    int released, ended;
    const char *to_stream; /* what a stream sends next; NULL: its end */
    bool is_closed;
};

UNUSED static void on_asked(void *user, struct http_exchange *exchange,
                            int status)
{
    struct fixture *fixture = user;

    assert_true(fixture->asked < EXCHANGES_MAX);
    fixture->exchanges[fixture->asked++] = exchange;
    fixture->status = status;
    if (fixture->answer != NULL)
        fixture->answer(fixture, exchange);
}

UNUSED static int must_listen(struct sockaddr_in *address)
{
    socklen_t length = sizeof(*address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    *address = (struct sockaddr_in){.sin_family = AF_INET};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(
        bind(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
    assert_int_equal(listen(fd, SOMAXCONN), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &length), 0);
    return fd;
}

UNUSED static void set_up(struct fixture *fixture,
                          void (*answer)(struct fixture *fixture,
                                         struct http_exchange *exchange))
{
    struct http_handler handler = {.user = fixture, .asked = on_asked};
    struct err err = {0};

    ahead_ms = 0;
    *fixture = (struct fixture){.answer = answer};
    uv_loop_init(&fixture->loop);
    fixture->http = http_create(&fixture->loop, must_listen(&fixture->address),
                                &handler, &err);
    if (fixture->http == NULL)
        fail_msg("%s", err.text);
}

UNUSED static void on_closed(void *user)
{
    struct fixture *fixture = user;

    fixture->is_closed = true;
}

UNUSED static void tear_down(struct fixture *fixture)
{
    if (!fixture->is_closed)
        http_close(fixture->http, on_closed, fixture);
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    assert_true(fixture->is_closed);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
}

/* Goes on, for as long as there is something to do. */
UNUSED static void run(struct fixture *fixture, int64_t end_ms)
{
    if (clock_monotonic_ms() > end_ms)
        fail_msg("it does not come");
    if (uv_run(&fixture->loop, UV_RUN_NOWAIT) != 0)
        poll(NULL, 0, 1);
}

#define run_until(fixture, condition)                                          \
    do {                                                                       \
        int64_t end_at_ms = clock_monotonic_ms() + PATIENCE_MS;                \
                                                                               \
        while (!(condition))                                                   \
            run(fixture, end_at_ms);                                           \
    } while (0)

UNUSED static void reply_text(struct http_exchange *exchange, const char *text)
{
    struct http_reply reply = {.status = 200,
                               .type = "text/plain",
                               .bytes = blob_of_static(text, strlen(text))};

    http_reply(exchange, &reply);
}

UNUSED static void say_hello(struct fixture *fixture,
                             struct http_exchange *exchange)
{
    (void)fixture;
    reply_text(exchange, "hello");
}

/* With the status that the server found, if it did. */
UNUSED static void say_status(struct fixture *fixture,
                              struct http_exchange *exchange)
{
    struct http_reply reply = {.status = fixture->status};

    if (fixture->status == 0)
        reply.status = 204;
    http_reply(exchange, &reply);
}

/* ---- clients ---- */

UNUSED static int must_connect(const struct fixture *fixture)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (const struct sockaddr *)&fixture->address,
                             sizeof(fixture->address)),
                     0);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

/* To the server, which takes it in when it comes to it. */
UNUSED static void say(struct fixture *fixture, int fd, const char *text)
{
    int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    size_t left = strlen(text);

    while (left > 0) {
        ssize_t length = send(fd, text, left, MSG_NOSIGNAL);

        if (length > 0) {
            text += length;
            left -= (size_t)length;
        } else {
            run(fixture, end_ms);
        }
    }
}

UNUSED static int must_ask(struct fixture *fixture, const char *text)
{
    int fd = must_connect(fixture);

    say(fixture, fd, text);
    return fd;
}

/* What comes until `text` does, or (NULL) until the end; the caller's to free.
 */
UNUSED static char *read_until(struct fixture *fixture, int fd,
                               const char *text)
{
    int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    struct buf bytes = BUF_INIT;
    ssize_t length;

    while (text == NULL || strstr(buf_text(&bytes), text) == NULL) {
        length = read(fd, buf_reserve(&bytes, 65536), 65536);
        bytes.length += length > 0 ? (size_t)length : 0;
        bytes.data[bytes.length] = '\0';
        if (length == 0 || (length < 0 && errno != EAGAIN)) {
            if (text != NULL)
                fail_msg("'%s' did not come, but: %s", text, buf_text(&bytes));
            break;
        }
        if (length < 0)
            run(fixture, end_ms);
    }
    return buf_take(&bytes);
}

UNUSED static void must_read(struct fixture *fixture, int fd, const char *text)
{
    free(read_until(fixture, fd, text));
}

UNUSED static void must_end(struct fixture *fixture, int fd)
{
    free(read_until(fixture, fd, NULL));
    close(fd);
}

#define LINES "Host: localhost\r\n"
#define GET   "GET / HTTP/1.1\r\n" LINES "\r\n"
#define LAST  "GET / HTTP/1.1\r\n" LINES "Connection: close\r\n\r\n"

#endif
