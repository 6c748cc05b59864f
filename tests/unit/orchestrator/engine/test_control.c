/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/engine/control.h"
#include "orchestrator/run/control_address.h"

/* An engine's socket with an owner that answers with the request's "n", and
 * clients that say what no well-meaning one does, all in one loop. */

enum { PATIENCE_MS = 400 };

struct place {
    char *folder;
    uv_loop_t loop;
    uv_idle_t owner; /* as the engine does: keeps the loop alive */
    struct control *control;
    int64_t requests;
};

static json_t *on_request(void *user, const json_t *request,
                          struct control_client *client)
{
    struct place *place = user;

    place->requests++;
    if (json_object_get(request, "subscribe") != NULL)
        control_subscribe(client);
    return json_pack("{s:O?}", "n", json_object_get(request, "n"));
}

static void open_control(struct place *place)
{
    struct control_events events = {
        .request = on_request, .user = place, .patience_ms = PATIENCE_MS};
    struct err err = {0};

    place->control = control_open(&place->loop, place->folder, &events, &err);
    if (place->control == NULL)
        fail_msg("%s", err.text);
}

static void on_idle(uv_idle_t *handle)
{
    (void)handle;
}

static void open_loop(struct place *place)
{
    uv_loop_init(&place->loop);
    uv_idle_init(&place->loop, &place->owner);
    uv_idle_start(&place->owner, on_idle);
}

static void close_loop(struct place *place)
{
    uv_close((uv_handle_t *)&place->owner, NULL);
    uv_run(&place->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&place->loop), 0);
}

static int open_place(void **state)
{
    struct place *place = mem_zero(sizeof(*place));

    place->folder = mem_copy_string("/tmp/smtune-control-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    open_loop(place);
    open_control(place);
    *state = place;
    return 0;
}

static int close_place(void **state)
{
    struct place *place = *state;

    control_close(place->control);
    close_loop(place);
    fs_remove_tree(place->folder, NULL);
    free(place->folder);
    free(place);
    return 0;
}

/* ---- clients ---- */

static int try_call(const struct place *place)
{
    struct sockaddr_un address;
    int directory = control_address(place->folder, &address, NULL);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        fd = -1;
    }
    close(directory);
    return fd;
}

static void turn(struct place *place)
{
    uv_run(&place->loop, UV_RUN_NOWAIT);
}

static int call(struct place *place)
{
    int fd = try_call(place);

    assert_true(fd >= 0);
    turn(place);
    return fd;
}

/* Sends all, the loop turning meanwhile; false when nobody listens any more. */
static bool say(struct place *place, int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

        if (sent < 0 && errno != EAGAIN)
            return false;
        bytes += sent > 0 ? sent : 0;
        length -= sent > 0 ? (size_t)sent : 0;
        turn(place);
    }
    turn(place);
    return true;
}

/* What comes until `count` lines are there or it hangs up; true: hung up. */
static bool hear(struct place *place, int fd, size_t count, struct buf *out)
{
    int64_t end_ms = clock_monotonic_ms() + 20000;
    size_t lines = 0;

    while (lines < count) {
        char piece[4096];
        ssize_t length = recv(fd, piece, sizeof(piece), 0);

        if (length == 0 || (length < 0 && errno != EAGAIN))
            return true;
        for (ssize_t i = 0; i < length; i++)
            lines += piece[i] == '\n';
        if (length > 0)
            buf_add(out, piece, (size_t)length);
        assert_true(clock_monotonic_ms() < end_ms);
        turn(place);
    }
    return false;
}

static void ask(struct place *place, int fd, const char *request,
                const char *reply)
{
    struct buf heard = BUF_INIT;

    assert_true(say(place, fd, request, strlen(request)));
    assert_false(hear(place, fd, 1, &heard));
    assert_string_equal(buf_text(&heard), reply);
    buf_clear(&heard);
}

/* ---- tests ---- */

static void test_control__answers_line_by_line(void **state)
{
    struct place *place = *state;
    struct buf heard = BUF_INIT;
    int fd = call(place);

    ask(place, fd, "{\"n\":1}\n", "{\"n\":1}\n");
    assert_true(say(place, fd, "{\"n\"", 4));
    assert_int_equal(place->requests, 1);
    assert_true(say(place, fd, ":2}\n{\"n\":3}\n{\"n\":4", 18));
    assert_false(hear(place, fd, 2, &heard));
    assert_string_equal(buf_text(&heard), "{\"n\":2}\n{\"n\":3}\n");
    ask(place, fd, "}\n", "{\"n\":4}\n");
    buf_clear(&heard);
    close(fd);
}

static void test_control__answers_who_says_no_more(void **state)
{
    struct place *place = *state;
    struct buf heard = BUF_INIT;
    int fd = try_call(place);

    assert_int_equal(send(fd, "{\"n\":1}\n", 8, 0), 8);
    shutdown(fd, SHUT_WR);
    assert_true(hear(place, fd, 2, &heard));
    assert_string_equal(buf_text(&heard), "{\"n\":1}\n");
    buf_clear(&heard);
    close(fd);
}

static void test_control__hostile_lines_are_errors(void **state)
{
    static const struct {
        const char *line;
        size_t length;
    } lines[] = {
        {"\n", 1},         {"nonsense\n", 9},     {"[1]\n", 4},
        {"{\"n\":\n", 6},  {"\0\0\0\n", 4},       {"{\"n\":1}\0\n", 9},
        {"\xff\xfe\n", 3}, {"{\"\xff\":1}\n", 8}, {"7\n", 2},
    };
    struct place *place = *state;
    struct buf deep = BUF_INIT;
    int fd = call(place);

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct buf heard = BUF_INIT;

        assert_true(say(place, fd, lines[i].line, lines[i].length));
        assert_false(hear(place, fd, 1, &heard));
        assert_true(strncmp(buf_text(&heard), "{\"error\":", 9) == 0);
        buf_clear(&heard);
    }
    for (int i = 0; i < 30000; i++)
        buf_add_char(&deep, '[');
    buf_add_char(&deep, '\n');
    assert_true(say(place, fd, deep.data, deep.length));
    buf_truncate(&deep, 0);
    assert_false(hear(place, fd, 1, &deep));
    assert_int_equal(place->requests, 0);
    ask(place, fd, "{\"n\":5}\n", "{\"n\":5}\n");
    buf_clear(&deep);
    close(fd);
}

static void test_control__endless_lines_are_cut_off(void **state)
{
    struct place *place = *state;
    struct buf heard = BUF_INIT;
    char *piece = mem_array(8192, 1);
    int fd = call(place), i = 0;

    memset(piece, ' ', 8192);
    while (i < 100 && say(place, fd, piece, 8192))
        i++;
    assert_true(i < 100);
    assert_true(hear(place, fd, 2, &heard));
    assert_non_null(strstr(buf_text(&heard), "65536 bytes"));
    buf_clear(&heard);
    free(piece);
    close(fd);
}

/* So many that most are turned away, with a reason; and none stays behind. */
static void test_control__a_thousand_connections(void **state)
{
    enum { MANY = 1000 };
    struct place *place = *state;
    struct rlimit files = {MANY + 200, MANY + 200};
    struct buf heard = BUF_INIT;
    int *fds = mem_array(MANY, sizeof(*fds)), served = 0, fd;

    setrlimit(RLIMIT_NOFILE, &files);
    for (int i = 0; i < MANY; i++)
        fds[i] = call(place);
    for (int i = 0; i < MANY; i++) {
        if (i < CONTROL_CLIENTS_MAX) {
            ask(place, fds[i], "{\"n\":1}\n", "{\"n\":1}\n");
            served++;
        } else {
            buf_truncate(&heard, 0);
            assert_true(hear(place, fds[i], 2, &heard));
            assert_non_null(strstr(buf_text(&heard), "too many"));
        }
    }
    assert_int_equal(place->requests, served);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    turn(place);
    fd = call(place);
    ask(place, fd, "{\"n\":2}\n", "{\"n\":2}\n");
    close(fd);
    buf_clear(&heard);
    free(fds);
}

static void test_control__survives_a_lack_of_descriptors(void **state)
{
    struct place *place = *state;
    struct rlimit old, none;
    int fd = try_call(place);

    getrlimit(RLIMIT_NOFILE, &old);
    none = (struct rlimit){(rlim_t)fd + 1, old.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    for (int i = 0; i < 50; i++)
        turn(place);
    setrlimit(RLIMIT_NOFILE, &old);
    ask(place, fd, "{\"n\":1}\n", "{\"n\":1}\n");
    close(fd);
}

/* Its replies wait in the kernel and in a bounded buffer, then its requests in
 * its own; in the end it gets them all. */
static void test_control__does_not_listen_to_who_does_not_read(void **state)
{
    struct place *place = *state;
    char request[2000] = "{\"n\":\"";
    struct buf heard = BUF_INIT;
    int fd = call(place);
    int64_t sent = 0, answered;

    memset(request + 6, 'x', sizeof(request) - 9);
    memcpy(request + sizeof(request) - 3, "\"}\n", 3);
    for (int idle = 0; idle < 200; idle++) {
        ssize_t length = send(fd, request, sizeof(request), MSG_NOSIGNAL);

        if (length == (ssize_t)sizeof(request)) {
            sent++;
            idle = 0;
        } else if (length > 0) {
            assert_true(say(place, fd, request + length,
                            sizeof(request) - (size_t)length) ||
                        true);
            break;
        }
        turn(place);
        assert_true(sent < 5000);
    }
    answered = place->requests;
    assert_true(answered < sent);
    for (int i = 0; i < 100; i++)
        turn(place);
    assert_int_equal(place->requests, answered);
    assert_false(hear(place, fd, (size_t)sent, &heard));
    assert_true(place->requests >= sent);
    buf_clear(&heard);
    close(fd);
}

static void test_control__who_says_nothing_has_to_go(void **state)
{
    struct place *place = *state;
    struct buf heard = BUF_INIT;
    int64_t start_ms = clock_monotonic_ms();
    int silent = call(place), half = call(place), other = call(place);

    assert_true(say(place, half, "{\"n\":", 5));
    ask(place, other, "{\"subscribe\":1,\"n\":1}\n", "{\"n\":1}\n");
    assert_true(hear(place, silent, 1, &heard));
    assert_true(hear(place, half, 1, &heard));
    assert_true(clock_monotonic_ms() - start_ms >= PATIENCE_MS);
    assert_int_equal(heard.length, 0);
    ask(place, other, "{\"n\":2}\n", "{\"n\":2}\n"); /* it may wait */
    buf_clear(&heard);
    close(silent);
    close(half);
    close(other);
}

static void test_control__subscribers_are_told(void **state)
{
    struct place *place = *state;
    struct buf heard = BUF_INIT;
    int first = call(place), other = call(place);

    assert_false(control_has_subscribers(place->control));
    ask(place, first, "{\"subscribe\":1}\n", "{\"n\":null}\n");
    ask(place, other, "{}\n", "{\"n\":null}\n");
    assert_true(control_has_subscribers(place->control));
    control_publish(place->control, json_pack("{s:i}", "event", 1));
    assert_false(hear(place, first, 1, &heard));
    assert_string_equal(buf_text(&heard), "{\"event\":1}\n");
    assert_int_equal(recv(other, (char[8]){0}, 8, 0), -1);
    close(first);
    turn(place);
    assert_false(control_has_subscribers(place->control));
    control_publish(place->control, json_pack("{s:i}", "event", 2));
    buf_clear(&heard);
    close(other);
}

static void test_control__a_subscriber_that_is_behind_misses_lines(void **state)
{
    struct place *place = *state;
    struct buf heard = BUF_INIT;
    int fd = call(place);
    size_t lines = 0;

    ask(place, fd, "{\"subscribe\":1}\n", "{\"n\":null}\n");
    for (int i = 0; i < 100000; i++)
        control_publish(place->control,
                        json_pack("{s:s, s:i}", "event", "something", "n", i));
    for (int i = 0; i < 2000; i++) {
        char piece[4096];
        ssize_t length = recv(fd, piece, sizeof(piece), 0);

        if (length > 0)
            buf_add(&heard, piece, (size_t)length);
        turn(place);
    }
    for (size_t i = 0; i < heard.length; i++)
        lines += heard.data[i] == '\n';
    assert_true(lines > 1000 && lines < 50000);
    assert_int_equal(heard.data[heard.length - 1], '\n');
    control_publish(place->control, json_pack("{s:s}", "event", "last"));
    buf_truncate(&heard, 0);
    assert_false(hear(place, fd, 1, &heard));
    assert_string_equal(buf_text(&heard), "{\"event\":\"last\"}\n");
    buf_clear(&heard);
    close(fd);
}

static void test_control__the_last_words_are_heard(void **state)
{
    struct place *place = *state;
    struct buf heard = BUF_INIT;
    int fd = call(place);
    char piece[4096];
    ssize_t length;

    ask(place, fd, "{\"subscribe\":1}\n", "{\"n\":null}\n");
    control_publish(place->control, json_pack("{s:s}", "event", "ended"));
    control_close(place->control);
    place->control = NULL;
    turn(place);
    while ((length = recv(fd, piece, sizeof(piece), 0)) > 0)
        buf_add(&heard, piece, (size_t)length);
    assert_int_equal(length, 0);
    assert_string_equal(buf_text(&heard), "{\"event\":\"ended\"}\n");
    assert_int_equal(try_call(place), -1);
    buf_clear(&heard);
    close(fd);
}

/* An engine that was killed leaves its socket. */
static void test_control__replaces_a_dead_engines_socket(void **state)
{
    struct place *place = *state;
    char *path = fs_join(place->folder, CONTROL_SOCKET_NAME);
    struct control *first = place->control;
    struct stat about;
    int fd;

    open_control(place); /* without closing the first */
    assert_int_equal(stat(path, &about), 0);
    assert_true(S_ISSOCK(about.st_mode));
    assert_int_equal(about.st_mode & 07777, 0600);
    fd = call(place);
    ask(place, fd, "{\"n\":1}\n", "{\"n\":1}\n");
    close(fd);
    control_close(first);
    free(path);
}

static void test_control__paths_may_be_long(void **state)
{
    struct place *place = *state, deep = {.folder = NULL};
    char name[200];
    int fd;

    memset(name, 'd', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    deep.folder = fs_join(place->folder, name);
    assert_int_equal(mkdir(deep.folder, 0700), 0);
    open_loop(&deep);
    open_control(&deep);
    fd = call(&deep);
    ask(&deep, fd, "{\"n\":1}\n", "{\"n\":1}\n");
    close(fd);
    control_close(deep.control);
    close_loop(&deep);
    free(deep.folder);
}

/* Where the file's mode would let them in, their user does not. */
static void test_control__lets_no_other_user_in(void **state)
{
    struct place *place = *state;
    char *path = fs_join(place->folder, CONTROL_SOCKET_NAME);
    char piece[256] = "";
    int status, ends[2];
    pid_t child;

    if (geteuid() != 0) {
        free(path);
        skip();
    }
    chmod(place->folder, 0755);
    chmod(path, 0666);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        int fd;
        ssize_t length;

        if (setuid(65534) != 0 || (fd = try_call(place)) < 0)
            _exit(1);
        fcntl(fd, F_SETFL, 0);
        length = recv(fd, piece, sizeof(piece), 0);
        _exit(length > 0 && write(ends[1], piece, (size_t)length) == length
                  ? 0
                  : 1);
    }
    while (waitpid(child, &status, WNOHANG) == 0)
        turn(place);
    assert_int_equal(status, 0);
    assert_true(read(ends[0], piece, sizeof(piece) - 1) > 0);
    assert_non_null(strstr(piece, "another user"));
    close(ends[0]);
    close(ends[1]);
    free(path);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_place, close_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_control__answers_line_by_line),
        TEST(test_control__answers_who_says_no_more),
        TEST(test_control__hostile_lines_are_errors),
        TEST(test_control__endless_lines_are_cut_off),
        TEST(test_control__a_thousand_connections),
        TEST(test_control__survives_a_lack_of_descriptors),
        TEST(test_control__does_not_listen_to_who_does_not_read),
        TEST(test_control__who_says_nothing_has_to_go),
        TEST(test_control__subscribers_are_told),
        TEST(test_control__a_subscriber_that_is_behind_misses_lines),
        TEST(test_control__the_last_words_are_heard),
        TEST(test_control__replaces_a_dead_engines_socket),
        TEST(test_control__paths_may_be_long),
        TEST(test_control__lets_no_other_user_in),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
