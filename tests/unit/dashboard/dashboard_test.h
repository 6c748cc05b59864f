/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_DASHBOARD_DASHBOARD_TEST_H
#define SMTUNE_TESTS_UNIT_DASHBOARD_DASHBOARD_TEST_H

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <uv.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "dashboard/dashboard.h"
#include "store/store.h"
#include "tests/unit/store/store_test.h"

/*
 * A dashboard on a unix socket and its clients in one loop: a client reads only
 * when the test has it read.
 */

enum { PATIENCE_MS = 60000 };

struct fixture {
    uv_loop_t loop;
    struct dashboard *dashboard;
    struct streams *streams;
    char *path;
};

/* Of a store with a run of three trials. */
UNUSED static void set_up(struct fixture *fixture, const char *folder,
                          const struct dashboard_source *source)
{
    struct err err = {0};
    struct dashboard_options options = {
        .store = folder, .presences = folder, .source = source};

    store_close(must_fill(folder, 3));
    fixture->path = mem_printf("%s/socket", folder);
    options.socket_path = fixture->path;
    uv_loop_init(&fixture->loop);
    fixture->dashboard = dashboard_open(&fixture->loop, &options, &err);
    if (fixture->dashboard == NULL)
        fail_msg("%s", err.text);
    fixture->streams = dashboard_streams(fixture->dashboard);
}

UNUSED static void tear_down(struct fixture *fixture)
{
    dashboard_close(fixture->dashboard);
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
    assert_int_not_equal(access(fixture->path, F_OK), 0);
    free(fixture->path);
}

UNUSED static int must_connect(const struct fixture *fixture)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    memcpy(to.sun_path, fixture->path, strlen(fixture->path));
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

/* A client that has sent the text. */
UNUSED static int must_ask(const struct fixture *fixture, const char *text)
{
    int fd = must_connect(fixture);

    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    return fd;
}

/* What comes until `text` does, or (NULL) until the end; the caller's to free.
 */
UNUSED static char *read_to(struct fixture *fixture, int fd, const char *text)
{
    int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    struct buf bytes = BUF_INIT;
    bool is_over;

    while (text == NULL || strstr(buf_text(&bytes), text) == NULL) {
        ssize_t length = read(fd, buf_reserve(&bytes, 65536), 65536);

        bytes.length += length > 0 ? (size_t)length : 0;
        bytes.data[bytes.length] = '\0';
        is_over = length == 0 || (length < 0 && errno != EAGAIN);
        if (is_over && text == NULL)
            break;
        if (is_over || clock_monotonic_ms() > end_ms)
            fail_msg("'%s' did not come, but: %s", text == NULL ? "" : text,
                     buf_text(&bytes));
        uv_run(&fixture->loop, UV_RUN_NOWAIT);
    }
    return buf_take(&bytes);
}

UNUSED static void must_read(struct fixture *fixture, int fd, const char *text)
{
    free(read_to(fixture, fd, text));
}

#endif
