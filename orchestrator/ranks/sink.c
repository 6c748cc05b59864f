/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/ranks/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PENDING_MAX_BYTES = 256 << 10 };

static void on_writable(uv_poll_t *poll, int status, int events);

/* Pipes and terminals are opened anew: that their writes do not wait would
 * else hold for everybody who shares them with us. */
static int open_anew(int fd)
{
    struct stat status;
    char path[32];

    if (fstat(fd, &status) != 0 ||
        (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode)))
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

void rank_sink_init(struct rank_sink *sink, uv_loop_t *loop, int fd,
                    void (*drained)(void *user), void *user)
{
    int own_fd = open_anew(fd);

    *sink = (struct rank_sink){.fd = own_fd >= 0 ? own_fd : fd,
                               .is_own = own_fd >= 0,
                               .drained = drained,
                               .user = user};
    sink->is_polled =
        own_fd >= 0 && uv_poll_init(loop, &sink->poll, own_fd) == 0;
    sink->poll.data = sink;
}

void rank_sink_close(struct rank_sink *sink)
{
    if (sink->is_polled)
        uv_close((uv_handle_t *)&sink->poll, NULL);
}

void rank_sink_clear(struct rank_sink *sink)
{
    if (sink->is_own)
        close(sink->fd);
    buf_clear(&sink->pending);
}

static void write_pending(struct rank_sink *sink)
{
    while (sink->pending.length > 0) {
        ssize_t written =
            write(sink->fd, sink->pending.data, sink->pending.length);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN && sink->is_polled) {
            uv_poll_start(&sink->poll, UV_WRITABLE, on_writable);
            sink->is_waiting = true;
            return;
        }
        if (written < 0) { /* of a full disk, there may be more tomorrow */
            sink->is_broken = errno == EPIPE;
            buf_truncate(&sink->pending, 0);
            break;
        }
        buf_consume(&sink->pending, (size_t)written);
    }
    if (sink->is_waiting)
        uv_poll_stop(&sink->poll);
    sink->is_waiting = false;
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
    struct rank_sink *sink = poll->data;

    (void)status, (void)events;
    write_pending(sink);
    if (sink->is_waiting)
        return;
    sink->was_full = false;
    sink->drained(sink->user);
}

void rank_sink_add(struct rank_sink *sink, const char *bytes, size_t length)
{
    if (!sink->is_broken)
        buf_add(&sink->pending, bytes, length);
}

void rank_sink_flush(struct rank_sink *sink)
{
    if (!sink->is_waiting)
        write_pending(sink);
}

bool rank_sink_is_full(struct rank_sink *sink)
{
    sink->was_full |= sink->pending.length > PENDING_MAX_BYTES;
    return sink->was_full;
}

bool rank_sink_is_empty(const struct rank_sink *sink)
{
    return sink->pending.length == 0;
}
