/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/net/fetch.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "tests/unit/folder.h"

/* A server on a unix socket that answers what it was sent, and "long" with
 * more than the bound. */

enum { ANSWER_MAX_BYTES = 4096, TIMEOUT_MS = 20000, TICK_MS = 20 };

struct server {
    uv_loop_t loop;
    uv_pipe_t pipe;
    uv_timer_t tick; /* requests do not keep the loop turning */
    char *folder, *path;
    int connections;
    struct fetcher *fetcher;
    int answers;
    int status;
    struct buf body, text;
};

struct peer {
    uv_pipe_t pipe;
    struct buf request;
    char room[1024];
};

static void free_peer(uv_handle_t *handle)
{
    struct peer *peer = handle->data;

    buf_clear(&peer->request);
    free(peer);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *room)
{
    struct peer *peer = handle->data;

    (void)suggested;
    *room = uv_buf_init(peer->room, sizeof(peer->room));
}

/* Whether all of the request is there, the body as well. */
static bool is_whole(const struct buf *request)
{
    const char *end = strstr(buf_text(request), "\r\n\r\n");
    const char *length = strstr(buf_text(request), "Content-Length: ");

    if (end == NULL)
        return false;
    return length == NULL ||
           strlen(end + 4) >=
               (size_t)strtol(length + sizeof("Content-Length: ") - 1, NULL,
                              10);
}

static void answer(struct peer *peer)
{
    struct buf out = BUF_INIT;
    size_t length = strstr(buf_text(&peer->request), "/long") != NULL
                        ? (size_t)ANSWER_MAX_BYTES * 2
                        : peer->request.length;
    uv_buf_t bytes;

    buf_printf(&out, "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n\r\n",
               strstr(buf_text(&peer->request), "/bad") != NULL ? 500 : 200,
               length);
    buf_add(&out, peer->request.data, peer->request.length);
    while (length > peer->request.length) {
        buf_add_char(&out, 'x');
        length--;
    }
    bytes = uv_buf_init(out.data, (unsigned)out.length);
    uv_try_write((uv_stream_t *)&peer->pipe, &bytes, 1);
    buf_truncate(&peer->request, 0);
    buf_clear(&out);
}

static void on_bytes(uv_stream_t *stream, ssize_t count, const uv_buf_t *room)
{
    struct peer *peer = stream->data;

    if (count < 0) {
        uv_close((uv_handle_t *)stream, free_peer);
        return;
    }
    buf_add(&peer->request, room->base, (size_t)count);
    if (is_whole(&peer->request))
        answer(peer);
}

static void on_connection(uv_stream_t *stream, int status)
{
    struct server *server = stream->loop->data;
    struct peer *peer = mem_zero(sizeof(*peer));

    assert_int_equal(status, 0);
    server->connections++;
    uv_pipe_init(&server->loop, &peer->pipe, 0);
    peer->pipe.data = peer;
    assert_int_equal(uv_accept(stream, (uv_stream_t *)&peer->pipe), 0);
    uv_read_start((uv_stream_t *)&peer->pipe, on_room, on_bytes);
    uv_unref((uv_handle_t *)&peer->pipe);
}

static void on_tick(uv_timer_t *handle)
{
    (void)handle;
}

static int set_up(void **state)
{
    struct server *server = mem_zero(sizeof(*server));
    struct err err;

    assert_int_equal(make_folder((void **)&server->folder), 0);
    server->path = fs_join(server->folder, "socket");
    uv_loop_init(&server->loop);
    server->loop.data = server;
    uv_pipe_init(&server->loop, &server->pipe, 0);
    uv_timer_init(&server->loop, &server->tick);
    uv_timer_start(&server->tick, on_tick, TICK_MS, TICK_MS);
    assert_int_equal(uv_pipe_bind(&server->pipe, server->path), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&server->pipe, 8, on_connection),
                     0);
    server->fetcher = fetcher_create(&server->loop, &err);
    assert_non_null(server->fetcher);
    *state = server;
    return 0;
}

/* Those of the peers alone have data. */
static void close_it(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle))
        uv_close(handle, handle->data != NULL ? free_peer : NULL);
}

static int tear_down(void **state)
{
    struct server *server = *state;

    fetcher_destroy(server->fetcher);
    uv_run(&server->loop, UV_RUN_NOWAIT);
    uv_walk(&server->loop, close_it, NULL);
    uv_run(&server->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&server->loop), 0);
    buf_clear(&server->body);
    buf_clear(&server->text);
    free(server->path);
    remove_folder((void **)&server->folder);
    free(server);
    return 0;
}

static void on_done(void *user, const struct fetch_answer *found)
{
    struct server *server = user;

    server->answers++;
    server->status = found->status;
    buf_truncate(&server->body, 0);
    buf_add(&server->body, found->body, found->body_bytes);
    buf_truncate(&server->text, 0);
    buf_add_string(&server->text, found->text);
}

/* Through the socket, or by an address without one. */
static void ask_by(struct server *server, const char *socket,
                   enum fetch_method method, const char *url, const char *body)
{
    int before = server->answers;
    struct err err;

    assert_int_equal(fetch(server->fetcher,
                           &(struct fetch_request){
                               .method = method,
                               .url = url,
                               .socket = socket,
                               .body = body,
                               .body_bytes = body == NULL ? 0 : strlen(body),
                               .timeout_ms = TIMEOUT_MS,
                               .answer_max_bytes = ANSWER_MAX_BYTES,
                           },
                           on_done, server, &err),
                     0);
    while (server->answers == before)
        uv_run(&server->loop, UV_RUN_ONCE);
    assert_int_equal(server->answers, before + 1);
}

static void ask(struct server *server, enum fetch_method method,
                const char *url, const char *body)
{
    ask_by(server, server->path, method, url, body);
}

static void test_fetch__hands_the_answer_over(void **state)
{
    struct server *server = *state;

    ask(server, FETCH_GET, "http://localhost/here?a=b", NULL);
    assert_int_equal(server->status, 200);
    assert_ptr_equal(strstr(buf_text(&server->body), "GET /here?a=b HTTP"),
                     buf_text(&server->body));
    assert_string_equal(buf_text(&server->text), "");
}

static void test_fetch__posts_and_deletes(void **state)
{
    struct server *server = *state;

    ask(server, FETCH_POST, "http://localhost/x", "{\"a\": 1}");
    assert_non_null(strstr(buf_text(&server->body), "POST /x HTTP"));
    assert_non_null(strstr(buf_text(&server->body), "\r\n\r\n{\"a\": 1}"));
    ask(server, FETCH_DELETE, "http://localhost/x?signal=9", NULL);
    assert_non_null(strstr(buf_text(&server->body), "DELETE /x?signal=9 HTTP"));
}

static void test_fetch__keeps_the_connection(void **state)
{
    struct server *server = *state;

    for (int i = 0; i < 5; i++)
        ask(server, FETCH_GET, "http://localhost/", NULL);
    assert_int_equal(server->connections, 1);
}

static void test_fetch__says_what_the_status_was(void **state)
{
    struct server *server = *state;

    ask(server, FETCH_GET, "http://localhost/bad", NULL);
    assert_int_equal(server->status, 500);
    assert_non_null(strstr(buf_text(&server->body), "/bad"));
}

static void test_fetch__takes_no_answer_over_the_bound(void **state)
{
    struct server *server = *state;

    ask(server, FETCH_GET, "http://localhost/long", NULL);
    assert_int_equal(server->status, 0);
    assert_int_equal(server->body.length, 0);
    assert_string_equal(buf_text(&server->text), "the answer is too long");
}

static void test_fetch__says_why_there_is_no_answer(void **state)
{
    struct server *server = *state;

    unlink(server->path);
    ask(server, FETCH_GET, "http://localhost/", NULL);
    assert_int_equal(server->status, 0);
    assert_string_not_equal(buf_text(&server->text), "");
}

/* Whether libcurl names that port: "host port 1 after 0 ms", later "host:1
 * after 0 ms". */
static bool names_port(const char *text, char port)
{
    const char older[] = {'p', 'o', 'r', 't', ' ', port, ' ', '\0'};
    const char newer[] = {':', port, ' ', '\0'};

    return strstr(text, older) != NULL || strstr(text, newer) != NULL;
}

/* Nobody listens at port 1, the address, and port 2, the proxy: libcurl's text
 * names the one that it tried. */
static void test_fetch__asks_this_machine_without_a_proxy(void **state)
{
    static const struct {
        const char *url;
        char port;
    } cases[] = {
        {"http://localhost:1/x", '1'},
        {"http://LocalHost:1", '1'},
        {"http://127.0.0.1:1/x?a@b", '1'},
        {"http://user:secret@127.9.9.9:1/", '1'},
        {"http://[::1]:1/", '1'},
        {"http://localhost.example.org:1/", '2'},
        {"http://127.example.org:1/", '2'},
        {"http://example.org:1/@localhost", '2'},
        {"http://localhost@example.org:1/", '2'},
    };
    static const char *const names[] = {"http_proxy", "all_proxy"};
    struct server *server = *state;

    unsetenv("no_proxy");
    unsetenv("NO_PROXY");
    for (size_t n = 0; n < ARRAY_LEN(names); n++) {
        assert_int_equal(setenv(names[n], "http://127.0.0.1:2", 1), 0);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            ask_by(server, NULL, FETCH_GET, cases[i].url, NULL);
            assert_int_equal(server->status, 0);
            if (!names_port(buf_text(&server->text), cases[i].port))
                fail_msg("%s: %s", cases[i].url, buf_text(&server->text));
        }
        unsetenv(names[n]);
    }
}

/* `done` is not called any more. */
static void test_fetch__gives_up_what_is_on_its_way(void **state)
{
    struct server *server = *state;
    struct err err;

    assert_int_equal(fetch(server->fetcher,
                           &(struct fetch_request){
                               .url = "http://localhost/",
                               .socket = server->path,
                               .timeout_ms = TIMEOUT_MS,
                           },
                           on_done, server, &err),
                     0);
    uv_run(&server->loop, UV_RUN_NOWAIT);
    fetcher_destroy(server->fetcher);
    uv_run(&server->loop, UV_RUN_NOWAIT);
    assert_int_equal(server->answers, 0);
    server->fetcher = fetcher_create(&server->loop, &err);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_fetch__hands_the_answer_over),
        CASE(test_fetch__posts_and_deletes),
        CASE(test_fetch__keeps_the_connection),
        CASE(test_fetch__says_what_the_status_was),
        CASE(test_fetch__takes_no_answer_over_the_bound),
        CASE(test_fetch__says_why_there_is_no_answer),
        CASE(test_fetch__asks_this_machine_without_a_proxy),
        CASE(test_fetch__gives_up_what_is_on_its_way),
    };
#undef CASE

    signal(SIGPIPE, SIG_IGN); /* one that asked may be gone */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
