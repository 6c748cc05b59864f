/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/stream.h"

#include "dashboard/dashboard_impl.h"
#include "dashboard/route/auth.h"
#include "dashboard/route/sessions.h"
#include "dashboard/streams.h"
#include "tests/unit/dashboard/dashboard_test.h"

enum { EVENT_BYTES = 64 << 10 };

static const char *run_state(void *user, const struct store *store,
                             const struct run_row *run)
{
    (void)user;
    (void)store;
    return run->state[0] == 'f' ? "finished" : "running";
}

static const struct dashboard_source source = {.run_state = run_state};

/* Goes on until there are so many streams of the run. */
static void wait_for_count(struct fixture *fixture, int64_t run, int count)
{
    int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;

    while (stream_count(fixture->streams, run) != count) {
        if (clock_monotonic_ms() > end_ms)
            fail_msg("there are %d streams, not %d",
                     stream_count(fixture->streams, run), count);
        uv_run(&fixture->loop, UV_RUN_NOWAIT);
    }
}

/* As a program, with a token. */
static int must_listen_with(const struct fixture *fixture, enum role role,
                            int64_t run, const char *headers)
{
    const char *token = auth_token(dashboard_auth(fixture->dashboard), role);
    char *text = mem_printf("GET /api/v1/events?run=%lld HTTP/1.1\r\n"
                            "Host: localhost\r\n"
                            "Authorization: Bearer %s\r\n%s\r\n",
                            (long long)run, token, headers);
    int fd = must_ask(fixture, text);

    free(text);
    return fd;
}

/* As a browser that came in by an address. */
static int must_listen_as(const struct fixture *fixture, enum role role)
{
    const struct session *session =
        sessions_add(dashboard_sessions(fixture->dashboard), role);
    char *text =
        mem_printf("GET /s/%s/api/v1/events HTTP/1.1\r\nHost: localhost\r\n"
                   "Cookie: " SESSION_COOKIE "=%s\r\n\r\n",
                   session->key, session->secret);
    int fd = must_ask(fixture, text);

    free(text);
    return fd;
}

static int must_listen(const struct fixture *fixture, int64_t run)
{
    return must_listen_with(fixture, ROLE_VIEWER, run, "");
}

static void send_filler(struct fixture *fixture, int64_t run)
{
    char *data = mem_alloc(EVENT_BYTES);

    memset(data, 'x', EVENT_BYTES);
    data[EVENT_BYTES - 1] = '\0';
    stream_send(fixture->streams, run, stream_event("filler", 0, data));
    free(data);
}

static void test_stream__is_sent_what_is_of_its_run(void **state)
{
    struct fixture fixture;
    int of_one, of_list;

    set_up(&fixture, *state, &source);
    of_one = must_listen(&fixture, 1);
    of_list = must_listen(&fixture, 0);
    wait_for_count(&fixture, -1, 2);
    assert_int_equal(stream_count(fixture.streams, 1), 1);
    stream_send(fixture.streams, 1, stream_event("one", 7, "{\"a\":1}"));
    stream_send(fixture.streams, 0, stream_event("all", 0, "{}"));
    must_read(&fixture, of_one, "event: one\nid: 7\ndata: {\"a\":1}\n\n");
    stream_send(fixture.streams, 0, stream_event("more", 0, "{}"));
    must_read(&fixture, of_one, "event: more\ndata: {}\n\n");
    must_read(&fixture, of_list, "retry: 1000\n\n");
    stream_send(fixture.streams, 1, stream_event("one", 8, "{}"));
    stream_send(fixture.streams, 0, stream_event("last", 0, "{}"));
    must_read(&fixture, of_list, "event: last");
    close(of_one);
    close(of_list);
    tear_down(&fixture);
}

static void test_stream__is_cut_when_it_is_not_read(void **state)
{
    struct fixture fixture;
    int reader, sleeper;

    set_up(&fixture, *state, &source);
    reader = must_listen(&fixture, 1);
    sleeper = must_listen(&fixture, 1);
    wait_for_count(&fixture, 1, 2);
    /* What the sockets hold besides is less than as much again. */
    for (int i = 0; i < 4 * STREAM_BEHIND_MAX_BYTES / EVENT_BYTES; i++) {
        send_filler(&fixture, 1);
        stream_send(fixture.streams, 1, stream_event("end", i + 1, "{}"));
        must_read(&fixture, reader, "event: end");
    }
    wait_for_count(&fixture, 1, 1);
    stream_send(fixture.streams, 1, stream_event("still", 0, "{}"));
    must_read(&fixture, reader, "event: still");
    close(reader);
    close(sleeper);
    tear_down(&fixture);
}

static void test_stream__ends_with_its_client(void **state)
{
    struct fixture fixture;
    int gone, half;

    set_up(&fixture, *state, &source);
    gone = must_listen(&fixture, 1);
    half = must_listen(&fixture, 1);
    wait_for_count(&fixture, 1, 2);
    close(gone);
    shutdown(half, SHUT_WR);
    stream_send(fixture.streams, 1, stream_event("one", 0, "{}"));
    wait_for_count(&fixture, 1, 1);
    must_read(&fixture, half, "event: one");
    close(half);
    /* The heartbeat finds out. */
    wait_for_count(&fixture, 1, 0);
    tear_down(&fixture);
}

/* Programs have a token, which is not the link. */
static void test_stream__ends_with_the_link_that_it_is_of(void **state)
{
    struct fixture fixture;
    int viewer, operator_fd, program;

    set_up(&fixture, *state, &source);
    viewer = must_listen_as(&fixture, ROLE_VIEWER);
    operator_fd = must_listen_as(&fixture, ROLE_OPERATOR);
    program = must_listen(&fixture, 0);
    wait_for_count(&fixture, 0, 3);
    streams_end_viewers(fixture.streams);
    wait_for_count(&fixture, 0, 2);
    stream_send(fixture.streams, 0, stream_event("still", 0, "{}"));
    must_read(&fixture, operator_fd, "event: still");
    must_read(&fixture, program, "event: still");
    close(viewer);
    close(operator_fd);
    close(program);
    tear_down(&fixture);
}

static void must_be_refused(struct fixture *fixture, enum role role,
                            const char *who)
{
    int fd = must_listen_with(fixture, role, 1, "Connection: close\r\n");
    char *answer = read_to(fixture, fd, NULL);

    assert_memory_equal(answer, "HTTP/1.1 503 ", 13);
    assert_non_null(strstr(answer, "\r\nRetry-After: 2\r\n"));
    assert_non_null(strstr(answer, who));
    free(answer);
    close(fd);
}

/* Viewers, programs and browsers together, leave some to operators. */
static void test_stream__there_are_only_so_many(void **state)
{
    struct fixture fixture;
    int fds[STREAMS_MAX];

    set_up(&fixture, *state, &source);
    for (int i = 0; i < STREAMS_MAX; i++) {
        enum role role = i < STREAMS_GUESTS_MAX ? ROLE_VIEWER : ROLE_OPERATOR;

        fds[i] = i % 2 == 0 ? must_listen_with(&fixture, role, 1, "")
                            : must_listen_as(&fixture, role);
        wait_for_count(&fixture, -1, i + 1);
        if (i + 1 == STREAMS_GUESTS_MAX)
            must_be_refused(&fixture, ROLE_VIEWER, "too many viewers: 192");
    }
    must_be_refused(&fixture, ROLE_OPERATOR, "too many clients: 256");
    close(fds[0]);
    close(fds[STREAMS_GUESTS_MAX]);
    stream_send(fixture.streams, 0, stream_event("one", 0, "{}"));
    wait_for_count(&fixture, -1, STREAMS_MAX - 2);
    fds[0] = must_listen(&fixture, 1);
    wait_for_count(&fixture, -1, STREAMS_MAX - 1);
    must_be_refused(&fixture, ROLE_VIEWER, "too many viewers: 192");
    fds[STREAMS_GUESTS_MAX] = must_listen_with(&fixture, ROLE_OPERATOR, 1, "");
    wait_for_count(&fixture, -1, STREAMS_MAX);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
    tear_down(&fixture);
}

/* One that comes back hears what it missed, if it says where it left. */
static void test_stream__sends_what_was_missed_once(void **state)
{
    static const char *const ids[] = {
        "Last-Event-ID: 12\r\n",  "",
        "Last-Event-ID: 0\r\n",   "Last-Event-ID: -12\r\n",
        "Last-Event-ID: x\r\n",   "Last-Event-ID: 12x\r\n",
        "Last-Event-ID: 012\r\n", "Last-Event-ID: 9007199254740993\r\n",
        "Last-Event-ID: 13\r\n",
    };
    struct fixture fixture;
    int fds[ARRAY_LEN(ids)], other;

    set_up(&fixture, *state, &source);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        fds[i] = must_listen_with(&fixture, ROLE_VIEWER, 0, ids[i]);
        wait_for_count(&fixture, 0, (int)i + 1);
    }
    other = must_listen(&fixture, 1);
    wait_for_count(&fixture, -1, ARRAY_LEN(ids) + 1);
    for (int i = 1; i <= 2; i++)
        stream_send_missed(fixture.streams, 0, 12,
                           stream_event("missed", i, "{}"));
    stream_send(fixture.streams, 0, stream_event("end", 0, "{}"));
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        char *text = read_to(&fixture, fds[i], "event: end");

        assert_int_equal(
            strstr(text, "event: missed\nid: 1\ndata: {}\n\n") != NULL, i == 0);
        assert_null(strstr(text, "id: 2"));
        free(text);
        close(fds[i]);
    }
    must_read(&fixture, other, "event: end");
    close(other);
    tear_down(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_stream__is_sent_what_is_of_its_run),
        STORE_TEST(test_stream__sends_what_was_missed_once),
        STORE_TEST(test_stream__is_cut_when_it_is_not_read),
        STORE_TEST(test_stream__ends_with_its_client),
        STORE_TEST(test_stream__ends_with_the_link_that_it_is_of),
        STORE_TEST(test_stream__there_are_only_so_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
