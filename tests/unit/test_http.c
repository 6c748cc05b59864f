/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
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

/*
 * A server and its clients in one loop. What it does with a request is the
 * test's; a client reads only when the test has it read.
 */

enum { PATIENCE_MS = 30000, EXCHANGES_MAX = 8, SECOND_MS = 1000 };

/* ---- what the linker puts in place ---- */

/* By so much the loop's time is ahead, for the server. */
static uint64_t ahead_ms;

uint64_t __real_uv_now(const uv_loop_t *loop);
uint64_t __wrap_uv_now(const uv_loop_t *loop);
uint64_t __wrap_uv_now(const uv_loop_t *loop)
{
    return __real_uv_now(loop) + ahead_ms;
}

/* A header that the server does not get to see; NULL: none. */
static const char *hidden;

const char *__real_MHD_lookup_connection_value(struct MHD_Connection *mhd,
                                               enum MHD_ValueKind kind,
                                               const char *name);
const char *__wrap_MHD_lookup_connection_value(struct MHD_Connection *mhd,
                                               enum MHD_ValueKind kind,
                                               const char *name);
const char *__wrap_MHD_lookup_connection_value(struct MHD_Connection *mhd,
                                               enum MHD_ValueKind kind,
                                               const char *name)
{
    if (hidden != NULL && strcmp(name, hidden) == 0)
        return NULL;
    return __real_MHD_lookup_connection_value(mhd, kind, name);
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

static void on_asked(void *user, struct http_exchange *exchange, int status)
{
    struct fixture *fixture = user;

    assert_true(fixture->asked < EXCHANGES_MAX);
    fixture->exchanges[fixture->asked++] = exchange;
    fixture->status = status;
    if (fixture->answer != NULL)
        fixture->answer(fixture, exchange);
}

static int must_listen(struct sockaddr_in *address)
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

static void set_up(struct fixture *fixture,
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

static void on_closed(void *user)
{
    struct fixture *fixture = user;

    fixture->is_closed = true;
}

static void tear_down(struct fixture *fixture)
{
    if (!fixture->is_closed)
        http_close(fixture->http, on_closed, fixture);
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    assert_true(fixture->is_closed);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
}

/* Goes on, for as long as there is something to do. */
static void run(struct fixture *fixture, int64_t end_ms)
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

static void reply_text(struct http_exchange *exchange, const char *text)
{
    struct http_reply reply = {.status = 200,
                               .type = "text/plain",
                               .bytes = blob_of_static(text, strlen(text))};

    http_reply(exchange, &reply);
}

static void say_hello(struct fixture *fixture, struct http_exchange *exchange)
{
    (void)fixture;
    reply_text(exchange, "hello");
}

/* With the status that the server found, if it did. */
static void say_status(struct fixture *fixture, struct http_exchange *exchange)
{
    struct http_reply reply = {.status = fixture->status};

    if (fixture->status == 0)
        reply.status = 204;
    http_reply(exchange, &reply);
}

/* ---- clients ---- */

static int must_connect(const struct fixture *fixture)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (const struct sockaddr *)&fixture->address,
                             sizeof(fixture->address)),
                     0);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

/* To the server, which takes it in when it comes to it. */
static void say(struct fixture *fixture, int fd, const char *text)
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

static int must_ask(struct fixture *fixture, const char *text)
{
    int fd = must_connect(fixture);

    say(fixture, fd, text);
    return fd;
}

/* What comes until `text` does, or (NULL) until the end; the caller's to free.
 */
static char *read_until(struct fixture *fixture, int fd, const char *text)
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

static void must_read(struct fixture *fixture, int fd, const char *text)
{
    free(read_until(fixture, fd, text));
}

static void must_end(struct fixture *fixture, int fd)
{
    free(read_until(fixture, fd, NULL));
    close(fd);
}

#define LINES "Host: localhost\r\n"
#define GET   "GET / HTTP/1.1\r\n" LINES "\r\n"
#define LAST  "GET / HTTP/1.1\r\n" LINES "Connection: close\r\n\r\n"

/* ---- what is asked, and answered ---- */

static void check_request(struct fixture *fixture,
                          struct http_exchange *exchange)
{
    size_t length = 1;

    assert_string_equal(http_method(exchange), "GET");
    assert_string_equal(http_target(exchange), "/a%20b?c=%41&d=+");
    assert_string_equal(http_header(exchange, "x-one"), "1");
    assert_null(http_header(exchange, "X-None"));
    assert_false(http_header_repeats(exchange, "X-None"));
    assert_false(http_header_repeats(exchange, "X-One"));
    assert_true(http_header_repeats(exchange, "X-Two"));
    assert_string_equal(http_body(exchange, &length), "");
    assert_int_equal(length, 0);
    http_reply(exchange,
               &(struct http_reply){
                   .status = 200,
                   .type = "text/plain",
                   .bytes = blob_of_static("hello", 5),
                   .headers = {{"X-Three", "3"}, {NULL, NULL}, {"X-Four", "4"}},
               });
    (void)fixture;
}

static void test_http__shows_what_is_asked_and_sends_the_answer(void **state)
{
    static const char *const lines[] = {
        "HTTP/1.1 200 OK\r\n",
        "\r\nX-Three: 3\r\n",
        "\r\nX-Four: 4\r\n",
        "\r\nContent-Type: text/plain\r\n",
        "\r\nX-Content-Type-Options: nosniff\r\n",
        "\r\nContent-Security-Policy: default-src 'none'; ",
        "\r\nContent-Length: 5\r\n",
        "\r\n\r\nhello",
    };
    struct fixture fixture;
    char *answer;
    int fd;

    (void)state;
    set_up(&fixture, check_request);
    fd = must_ask(&fixture, "GET /a%20b?c=%41&d=+ HTTP/1.1\r\n" LINES
                            "X-One: 1\r\nX-Two: 2\r\nx-two: 2\r\n\r\n");
    answer = read_until(&fixture, fd, "hello");
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        if (strstr(answer, lines[i]) == NULL)
            fail_msg("no '%s' in %s", lines[i], answer);
    }
    assert_int_equal(fixture.asked, 1);
    assert_int_equal(fixture.status, 0);
    free(answer);
    close(fd);
    tear_down(&fixture);
}

static void test_http__answers_without_content(void **state)
{
    struct fixture fixture;
    char *answer;
    int fd;

    (void)state;
    set_up(&fixture, say_status);
    fd = must_ask(&fixture, LAST);
    answer = read_until(&fixture, fd, NULL);
    assert_non_null(strstr(answer, "HTTP/1.1 204 "));
    assert_null(strstr(answer, "\r\nContent-Type:"));
    assert_string_equal(answer + strlen(answer) - 4, "\r\n\r\n");
    free(answer);
    close(fd);
    tear_down(&fixture);
}

/* ---- bodies ---- */

/* A request with a body of that many bytes, all 'b'; the caller's to free. */
static char *with_body(size_t length)
{
    struct buf text = BUF_INIT;

    buf_printf(&text,
               "POST / HTTP/1.1\r\n" LINES
               "Connection: close\r\nContent-Length: %zu\r\n\r\n",
               length);
    for (size_t i = 0; i < length; i++)
        buf_add_char(&text, 'b');
    return buf_take(&text);
}

static void check_longest(struct fixture *fixture,
                          struct http_exchange *exchange)
{
    size_t length;
    const char *body = http_body(exchange, &length);

    assert_int_equal(length, HTTP_BODY_MAX_BYTES);
    assert_int_equal(strspn(body, "b"), HTTP_BODY_MAX_BYTES);
    say_status(fixture, exchange);
}

static void test_http__takes_a_body_up_to_its_limit(void **state)
{
    char *text = with_body(HTTP_BODY_MAX_BYTES);
    struct fixture fixture;
    int fd;

    (void)state;
    set_up(&fixture, check_longest);
    fd = must_ask(&fixture, text);
    must_read(&fixture, fd, "HTTP/1.1 204 ");
    close(fd);
    free(text);
    tear_down(&fixture);
}

static void check_no_body(struct fixture *fixture,
                          struct http_exchange *exchange)
{
    size_t length;

    assert_string_equal(http_body(exchange, &length), "");
    assert_int_equal(length, 0);
    say_status(fixture, exchange);
}

static void test_http__refuses_bodies_by_what_is_said_of_them(void **state)
{
    static const struct {
        const char *headers;
        int status;
    } cases[] = {
        {"Content-Length: 65537", 413},
        {"Content-Length: 18446744073709551615", 413},
        {"Content-Length: 0\r\nContent-Length: 2", 400},
        {"Content-Length: 2\r\nContent-Length: 2", 400},
        {"Transfer-Encoding: chunked", 411},
        {"Transfer-Encoding: gzip", 411},
        {"Content-Length: 2\r\nTransfer-Encoding: chunked", 411},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = mem_printf("POST / HTTP/1.1\r\n" LINES
                                "%s\r\nConnection: close\r\n\r\n",
                                cases[i].headers);
        char *line = mem_printf("HTTP/1.1 %d ", cases[i].status);
        struct fixture fixture;
        int fd;

        set_up(&fixture, check_no_body);
        fd = must_ask(&fixture, text);
        must_read(&fixture, fd, line);
        assert_int_equal(fixture.asked, 1);
        assert_int_equal(fixture.status, cases[i].status);
        must_end(&fixture, fd);
        free(text);
        free(line);
        tear_down(&fixture);
    }
}

/* What is no length at all, or no request, does not get as far. */
static void test_http__is_not_asked_by_what_is_no_request(void **state)
{
    static const char *const requests[] = {
        "POST / HTTP/1.1\r\n" LINES "Content-Length: x\r\n\r\n",
        "POST / HTTP/1.1\r\n" LINES "Content-Length:\r\n\r\n",
        "POST / HTTP/1.1\r\n" LINES "Content-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\n" LINES "Content-Length: 2x\r\n\r\n",
        "POST / HTTP/1.1\r\n" LINES
        "Content-Length: 99999999999999999999\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET \r\n\r\n",
        "GET\r\n\r\n",
        "GET  HTTP/1.1\r\n" LINES "\r\n",
    };
    struct fixture fixture;

    (void)state;
    set_up(&fixture, say_status);
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        int fd = must_ask(&fixture, requests[i]);
        char *answer;

        shutdown(fd, SHUT_WR);
        answer = read_until(&fixture, fd, NULL);
        if (answer[0] != '\0' && strstr(answer, "HTTP/1.1 4") != answer)
            fail_msg("%s: %s", requests[i], answer);
        free(answer);
        close(fd);
    }
    assert_int_equal(fixture.asked, 0);
    tear_down(&fixture);
}

/* What comes is counted as well as what is said. */
static void test_http__ends_a_body_that_goes_beyond_its_limit(void **state)
{
    char *text = with_body(HTTP_BODY_MAX_BYTES + 40000);
    struct fixture fixture;
    int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    size_t sent = 0;
    ssize_t length;
    int fd;

    (void)state;
    set_up(&fixture, say_status);
    hidden = "Content-Length";
    fd = must_connect(&fixture);
    do {
        length = send(fd, text + sent, strlen(text) - sent, MSG_NOSIGNAL);
        sent += length > 0 ? (size_t)length : 0;
        run(&fixture, end_ms);
    } while (text[sent] != '\0' && (length > 0 || errno == EAGAIN));
    must_end(&fixture, fd);
    hidden = NULL;
    assert_int_equal(fixture.asked, 0);
    free(text);
    tear_down(&fixture);
}

static void test_http__hears_of_a_refused_body_once(void **state)
{
    struct fixture fixture;
    int fd;

    (void)state;
    set_up(&fixture, NULL);
    fd = must_ask(&fixture,
                  "POST / HTTP/1.1\r\n" LINES "Content-Length: 70000\r\n\r\n"
                  "some of it");
    run_until(&fixture, fixture.asked == 1);
    say(&fixture, fd, "and more");
    say_status(&fixture, fixture.exchanges[0]);
    must_read(&fixture, fd, "HTTP/1.1 413 ");
    must_end(&fixture, fd);
    assert_int_equal(fixture.asked, 1);
    tear_down(&fixture);
}

/* ---- exchanges that end otherwise ---- */

static void on_released(void *kept)
{
    struct fixture *fixture = kept;

    fixture->released++;
}

static void keep(struct fixture *fixture, struct http_exchange *exchange)
{
    http_keep(exchange, fixture, on_released);
}

static void test_http__forgets_who_leaves_before_all_is_said(void **state)
{
    struct fixture fixture;
    int fd, other;

    (void)state;
    set_up(&fixture, say_hello);
    fd = must_ask(&fixture,
                  "POST / HTTP/1.1\r\n" LINES "Content-Length: 10\r\n\r\nhalf");
    other = must_ask(&fixture, GET);
    must_read(&fixture, other, "hello");
    close(fd);
    say(&fixture, other, LAST);
    must_read(&fixture, other, "hello");
    must_end(&fixture, other);
    assert_int_equal(fixture.asked, 2);
    tear_down(&fixture);
}

static void test_http__keeps_an_exchange_until_it_is_answered(void **state)
{
    struct fixture fixture;
    int fd;

    (void)state;
    set_up(&fixture, keep);
    fd = must_ask(&fixture, GET);
    run_until(&fixture, fixture.asked == 1);
    close(fd);
    fd = must_ask(&fixture, GET);
    run_until(&fixture, fixture.asked == 2);
    assert_int_equal(fixture.released, 0);
    reply_text(fixture.exchanges[0], "nobody hears it");
    run_until(&fixture, fixture.released == 1);
    reply_text(fixture.exchanges[1], "hello");
    must_read(&fixture, fd, "hello");
    run_until(&fixture, fixture.released == 2);
    close(fd);
    tear_down(&fixture);
}

/* The second question is answered with the first. */
static void answer_both(struct fixture *fixture, struct http_exchange *exchange)
{
    if (fixture->asked == 2) {
        reply_text(fixture->exchanges[0], "first");
        reply_text(exchange, "second");
    }
}

static void test_http__answers_one_while_another_asks(void **state)
{
    struct fixture fixture;
    int one, other;

    (void)state;
    set_up(&fixture, answer_both);
    one = must_ask(&fixture, GET);
    run_until(&fixture, fixture.asked == 1);
    other = must_ask(&fixture, GET);
    must_read(&fixture, other, "second");
    must_read(&fixture, one, "first");
    close(one);
    close(other);
    tear_down(&fixture);
}

/* ---- streams ---- */

static ssize_t on_read(void *user, char *bytes, size_t size)
{
    struct fixture *fixture = user;
    size_t length;

    if (fixture->to_stream == NULL)
        return -1;
    length = strlen(fixture->to_stream);
    assert_true(length <= size);
    memcpy(bytes, fixture->to_stream, length);
    fixture->to_stream = "";
    return (ssize_t)length;
}

static void on_ended(void *user)
{
    struct fixture *fixture = user;

    fixture->ended++;
}

static void stream(struct fixture *fixture, struct http_exchange *exchange)
{
    http_stream(exchange, "text/event-stream",
                &(struct http_source){fixture, on_read, on_ended});
}

static void send_more(struct fixture *fixture, const char *text)
{
    fixture->to_stream = text;
    http_stream_wake(fixture->exchanges[0]);
}

static void test_http__streams_until_its_source_ends(void **state)
{
    struct fixture fixture;
    char *answer;
    int fd;

    (void)state;
    set_up(&fixture, stream);
    fixture.to_stream = "first";
    fd = must_ask(&fixture, LAST);
    answer = read_until(&fixture, fd, "first");
    assert_non_null(strstr(answer, "\r\nContent-Type: text/event-stream\r\n"));
    assert_non_null(strstr(answer, "\r\nCache-Control: no-store\r\n"));
    free(answer);
    send_more(&fixture, "second");
    must_read(&fixture, fd, "second");
    assert_int_equal(fixture.ended, 0);
    send_more(&fixture, NULL);
    must_end(&fixture, fd);
    assert_int_equal(fixture.ended, 1);
    tear_down(&fixture);
}

/* ---- limits ---- */

static bool is_over(int fd)
{
    char byte;
    ssize_t length = recv(fd, &byte, 1, MSG_PEEK);

    return length == 0 || (length < 0 && errno != EAGAIN);
}

/* The one that waits to be answered stays, and so does who came last. */
static void test_http__makes_room_by_who_waits_longest_to_ask(void **state)
{
    enum { COUNT = HTTP_CONNECTIONS_MAX + 2 };
    struct fixture fixture;
    int fds[COUNT];

    (void)state;
    set_up(&fixture, NULL);
    fds[0] = must_ask(&fixture, GET);
    run_until(&fixture, fixture.asked == 1);
    fixture.answer = say_hello;
    /* These have asked something, and may again. */
    for (int i = 1; i < HTTP_CONNECTIONS_MAX; i++) {
        fds[i] = must_ask(&fixture, GET);
        must_read(&fixture, fds[i], "hello");
        fixture.asked = 1;
        ahead_ms++;
    }
    for (int i = HTTP_CONNECTIONS_MAX; i < COUNT; i++)
        fds[i] = must_connect(&fixture);
    run_until(&fixture, is_over(fds[1]) && is_over(fds[2]));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(is_over(fds[i]), i == 1 || i == 2);
    reply_text(fixture.exchanges[0], "hello");
    must_read(&fixture, fds[0], "hello");
    for (int i = 0; i < COUNT; i++)
        close(fds[i]);
    tear_down(&fixture);
}

static void count_timer(uv_handle_t *handle, void *count)
{
    if (uv_handle_get_type(handle) == UV_TIMER && uv_is_active(handle))
        ++*(int *)count;
}

static int active_timers(struct fixture *fixture)
{
    int count = 0;

    uv_walk(&fixture->loop, count_timer, &count);
    return count;
}

/* A byte now and then does not help. */
static void test_http__cuts_who_does_not_ask_in_time(void **state)
{
    struct fixture fixture;
    int silent, slow, asking, late;

    (void)state;
    set_up(&fixture, NULL);
    asking = must_ask(&fixture, GET);
    run_until(&fixture, fixture.asked == 1);
    silent = must_connect(&fixture);
    slow = must_ask(&fixture, "GET / HTTP/1.1\r\nHost: ");
    /* Who came later is asked for, so that those are there, too. */
    fixture.answer = say_hello;
    late = must_ask(&fixture, GET);
    must_read(&fixture, late, "hello");
    ahead_ms = HTTP_REQUEST_MAX_MS + SECOND_MS;
    say(&fixture, slow, "loc");
    must_end(&fixture, silent);
    must_end(&fixture, slow);
    assert_false(is_over(late));
    reply_text(fixture.exchanges[0], "hello");
    must_read(&fixture, asking, "hello");
    ahead_ms += HTTP_IDLE_MAX_MS;
    must_end(&fixture, late);
    must_end(&fixture, asking);
    /* Nothing is looked for any more. */
    run_until(&fixture, active_timers(&fixture) == 0);
    tear_down(&fixture);
}

/* ---- beginning and end ---- */

static void test_http__says_that_it_cannot_serve(void **state)
{
    struct http_handler handler = {.asked = on_asked};
    struct err err = {0};
    uv_loop_t loop;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)state;
    uv_loop_init(&loop);
    assert_null(http_create(&loop, fd, &handler, &err));
    assert_int_equal(err.kind, ERR_FAILED);
    assert_non_null(strstr(err.text, "cannot serve HTTP"));
    assert_int_equal(uv_loop_close(&loop), 0);
    close(fd);
}

static void test_http__closes_when_those_who_asked_are_answered(void **state)
{
    struct fixture fixture;
    int waiting, idle, half;

    (void)state;
    set_up(&fixture, NULL);
    waiting = must_ask(&fixture, GET);
    half = must_ask(&fixture, "GET / HTTP/1.1\r\n");
    run_until(&fixture, fixture.asked == 1);
    fixture.answer = say_hello;
    idle = must_ask(&fixture, GET);
    must_read(&fixture, idle, "hello");
    http_close(fixture.http, on_closed, &fixture);
    say(&fixture, half, LINES "\r\n");
    /* It is too late to ask. */
    must_end(&fixture, half);
    assert_int_equal(fixture.asked, 2);
    assert_false(fixture.is_closed);
    reply_text(fixture.exchanges[0], "goodbye");
    must_read(&fixture, waiting, "goodbye");
    must_end(&fixture, waiting);
    must_end(&fixture, idle);
    run_until(&fixture, fixture.is_closed);
    tear_down(&fixture);
}

static void test_http__closes_streams(void **state)
{
    struct fixture fixture;
    int fd, late;

    (void)state;
    set_up(&fixture, stream);
    fixture.to_stream = "first";
    fd = must_ask(&fixture, GET);
    must_read(&fixture, fd, "first");
    http_close(fixture.http, on_closed, &fixture);
    late = must_connect(&fixture);
    must_end(&fixture, fd);
    must_end(&fixture, late);
    assert_int_equal(fixture.ended, 1);
    tear_down(&fixture);
}

/* Who comes in at the end is let go with the others. */
static void test_http__closes_before_anybody_came(void **state)
{
    struct fixture fixture;
    int fd;

    (void)state;
    set_up(&fixture, say_hello);
    fd = must_ask(&fixture, GET);
    http_close(fixture.http, on_closed, &fixture);
    run_until(&fixture, fixture.is_closed);
    must_end(&fixture, fd);
    assert_int_equal(fixture.asked, 0);
    tear_down(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http__shows_what_is_asked_and_sends_the_answer),
        cmocka_unit_test(test_http__answers_without_content),
        cmocka_unit_test(test_http__takes_a_body_up_to_its_limit),
        cmocka_unit_test(test_http__refuses_bodies_by_what_is_said_of_them),
        cmocka_unit_test(test_http__is_not_asked_by_what_is_no_request),
        cmocka_unit_test(test_http__ends_a_body_that_goes_beyond_its_limit),
        cmocka_unit_test(test_http__hears_of_a_refused_body_once),
        cmocka_unit_test(test_http__forgets_who_leaves_before_all_is_said),
        cmocka_unit_test(test_http__keeps_an_exchange_until_it_is_answered),
        cmocka_unit_test(test_http__answers_one_while_another_asks),
        cmocka_unit_test(test_http__streams_until_its_source_ends),
        cmocka_unit_test(test_http__makes_room_by_who_waits_longest_to_ask),
        cmocka_unit_test(test_http__cuts_who_does_not_ask_in_time),
        cmocka_unit_test(test_http__says_that_it_cannot_serve),
        cmocka_unit_test(test_http__closes_when_those_who_asked_are_answered),
        cmocka_unit_test(test_http__closes_streams),
        cmocka_unit_test(test_http__closes_before_anybody_came),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
