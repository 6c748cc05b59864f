/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: uv_now */
#include "dashboard/http/http.h"

#include "tests/unit/dashboard/http/http_test.h"

/* How a server's exchanges, streams and connections end, and itself. */

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

static void test_http__cuts_a_stream_once(void **state)
{
    struct fixture fixture;
    int fd;

    (void)state;
    set_up(&fixture, stream);
    fixture.to_stream = "first";
    fd = must_ask(&fixture, GET);
    must_read(&fixture, fd, "first");
    http_cut(fixture.exchanges[0]);
    http_cut(fixture.exchanges[0]);
    must_end(&fixture, fd);
    run_until(&fixture, fixture.ended == 1);
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

static void stream_protecting_the_first(struct fixture *fixture,
                                        struct http_exchange *exchange)
{
    if (fixture->asked == 1)
        http_protect(exchange);
    stream(fixture, exchange);
}

/* Reads what there is. */
static bool is_over_in_the_end(int fd)
{
    char bytes[256];
    ssize_t length;

    do
        length = read(fd, bytes, sizeof(bytes));
    while (length > 0);
    return length == 0 || errno != EAGAIN;
}

/* Where all are being sent something, who is not protected gives way. */
static void test_http__makes_room_by_who_is_not_protected(void **state)
{
    enum { COUNT = HTTP_CONNECTIONS_MAX + 2 };
    struct fixture fixture;
    int fds[COUNT];

    (void)state;
    set_up(&fixture, stream_protecting_the_first);
    for (int i = 0; i < HTTP_CONNECTIONS_MAX; i++) {
        fixture.to_stream = "first";
        fds[i] = must_ask(&fixture, GET);
        must_read(&fixture, fds[i], "first");
        fixture.asked = 1;
        ahead_ms++;
    }
    fixture.answer = say_hello;
    for (int i = HTTP_CONNECTIONS_MAX; i < COUNT; i++) {
        fds[i] = must_ask(&fixture, GET);
        must_read(&fixture, fds[i], "hello");
        fixture.asked = 1;
    }
    /* The second new one takes the place of the first, which asks no more. */
    run_until(&fixture, is_over_in_the_end(fds[COUNT - 2]));
    run_until(&fixture, is_over_in_the_end(fds[1]) && fixture.ended == 1);
    assert_false(is_over(fds[0]));
    assert_false(is_over(fds[2]));
    assert_false(is_over(fds[COUNT - 1]));
    for (int i = 0; i < COUNT; i++)
        close(fds[i]);
    tear_down(&fixture);
}

static void stream_protected(struct fixture *fixture,
                             struct http_exchange *exchange)
{
    http_protect(exchange);
    stream(fixture, exchange);
}

static void test_http__lets_nobody_in_where_all_are_protected(void **state)
{
    struct fixture fixture;
    int fds[HTTP_CONNECTIONS_MAX + 1];

    (void)state;
    set_up(&fixture, stream_protected);
    for (int i = 0; i < HTTP_CONNECTIONS_MAX; i++) {
        fixture.to_stream = "first";
        fds[i] = must_ask(&fixture, GET);
        must_read(&fixture, fds[i], "first");
        fixture.asked = 0;
    }
    fds[HTTP_CONNECTIONS_MAX] = must_connect(&fixture);
    run_until(&fixture, is_over(fds[HTTP_CONNECTIONS_MAX]));
    for (int i = 0; i < HTTP_CONNECTIONS_MAX; i++)
        assert_false(is_over(fds[i]));
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
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
        cmocka_unit_test(test_http__forgets_who_leaves_before_all_is_said),
        cmocka_unit_test(test_http__keeps_an_exchange_until_it_is_answered),
        cmocka_unit_test(test_http__answers_one_while_another_asks),
        cmocka_unit_test(test_http__streams_until_its_source_ends),
        cmocka_unit_test(test_http__cuts_a_stream_once),
        cmocka_unit_test(test_http__makes_room_by_who_waits_longest_to_ask),
        cmocka_unit_test(test_http__makes_room_by_who_is_not_protected),
        cmocka_unit_test(test_http__lets_nobody_in_where_all_are_protected),
        cmocka_unit_test(test_http__cuts_who_does_not_ask_in_time),
        cmocka_unit_test(test_http__says_that_it_cannot_serve),
        cmocka_unit_test(test_http__closes_when_those_who_asked_are_answered),
        cmocka_unit_test(test_http__closes_streams),
        cmocka_unit_test(test_http__closes_before_anybody_came),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
