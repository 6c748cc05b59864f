/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <uv.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "dashboard/dashboard.h"
#include "dashboard/stream.h"
#include "dashboard/streams.h"
#include "store/store.h"
#include "tests/unit/store_test.h"

/*
 * A dashboard on a unix socket and its clients in one loop: a client reads only
 * when the test has it read.
 */

enum { PATIENCE_MS = 60000, EVENT_BYTES = 64 << 10 };

struct fixture {
    uv_loop_t loop;
    struct dashboard *dashboard;
    struct streams *streams;
    char *path;
};

static const char *run_state(void *user, const struct store *store,
                             const struct run_row *run)
{
    (void)user;
    (void)store;
    return run->state[0] == 'f' ? "finished" : "running";
}

static void set_up(struct fixture *fixture, const char *folder)
{
    struct err err = {0};
    static const struct dashboard_source source = {.run_state = run_state};
    struct dashboard_options options = {.store = folder, .source = &source};

    store_close(must_fill(folder, 3));
    fixture->path = mem_printf("%s/socket", folder);
    options.socket_path = fixture->path;
    uv_loop_init(&fixture->loop);
    fixture->dashboard = dashboard_open(&fixture->loop, &options, &err);
    if (fixture->dashboard == NULL)
        fail_msg("%s", err.text);
    fixture->streams = dashboard_streams(fixture->dashboard);
}

static void tear_down(struct fixture *fixture)
{
    dashboard_close(fixture->dashboard);
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
    assert_int_not_equal(access(fixture->path, F_OK), 0);
    free(fixture->path);
}

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

static int must_connect(const struct fixture *fixture)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    memcpy(to.sun_path, fixture->path, strlen(fixture->path));
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static int must_listen(const struct fixture *fixture, int64_t run)
{
    const char *token =
        strstr(dashboard_login_url(fixture->dashboard, false), "token=") + 6;
    char *text = mem_printf("GET /api/v1/events?run=%lld HTTP/1.1\r\n"
                            "Host: localhost\r\n"
                            "Authorization: Bearer %s\r\n\r\n",
                            (long long)run, token);
    int fd = must_connect(fixture);

    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    free(text);
    return fd;
}

/* Reads until the text is there. */
static void must_read(struct fixture *fixture, int fd, const char *text)
{
    int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    struct buf bytes = BUF_INIT;

    while (strstr(buf_text(&bytes), text) == NULL) {
        ssize_t length = read(fd, buf_reserve(&bytes, 65536), 65536);

        if (length > 0)
            buf_add(&bytes, bytes.data + bytes.length, (size_t)length);
        if (clock_monotonic_ms() > end_ms)
            fail_msg("'%s' did not come, but: %s", text, buf_text(&bytes));
        uv_run(&fixture->loop, UV_RUN_NOWAIT);
    }
    buf_clear(&bytes);
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

    set_up(&fixture, *state);
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

    set_up(&fixture, *state);
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

    set_up(&fixture, *state);
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

static void test_stream__there_are_only_so_many(void **state)
{
    struct fixture fixture;
    int fds[STREAMS_MAX], more;

    set_up(&fixture, *state);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = must_listen(&fixture, 1);
        wait_for_count(&fixture, -1, (int)i + 1);
    }
    more = must_listen(&fixture, 1);
    must_read(&fixture, more, "HTTP/1.1 503 ");
    close(more);
    close(fds[0]);
    stream_send(fixture.streams, 0, stream_event("one", 0, "{}"));
    wait_for_count(&fixture, -1, STREAMS_MAX - 1);
    fds[0] = must_listen(&fixture, 1);
    wait_for_count(&fixture, -1, STREAMS_MAX);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
    tear_down(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_stream__is_sent_what_is_of_its_run),
        STORE_TEST(test_stream__is_cut_when_it_is_not_read),
        STORE_TEST(test_stream__ends_with_its_client),
        STORE_TEST(test_stream__there_are_only_so_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
