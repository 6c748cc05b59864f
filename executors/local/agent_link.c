/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/local/agent_link.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/system/close_from.h"
#include "executors/attempt/shim_path.h"

enum { AGENT_FD = 3 };

struct agent_link {
    struct agent_link_events events;
    uv_poll_t poll;
    uv_idle_t flush; /* active while `out` is not empty */
    struct buf in;
    struct buf out;
    void (*closed)(void *user);
    void *closed_user;
    int fd;
    int open_handles;
    bool is_blocked; /* the socket takes no more at present */
    bool is_closing;
};

/* -- Starting an agent ----------------------------------------------------*/

static int spawn_agent(char *program, int socket_fd, pid_t *pid)
{
    static char agent[] = "--agent", number[] = "3";
    char *argv[] = {program, agent, number, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int error;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, socket_fd, AGENT_FD);
    error = spawn_close_from(&files, AGENT_FD + 1);
    if (error == 0)
        error = posix_spawn(pid, program, &files, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* Returns our end of the socket. The process spawned here only forks the
 * agent, which so is not our child, and ends at once. */
static int start_agent(struct err *err)
{
    char *program = shim_path(err);
    int ends[2], error, status = 0;
    pid_t pid;

    if (program == NULL)
        return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        free(program);
        return err_set_errno(err, ERR_FAILED, errno, "cannot open a socket");
    }
    error = spawn_agent(program, ends[1], &pid);
    close(ends[1]);
    if (error == 0) {
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    if (error != 0 || status != 0) {
        close(ends[0]);
        ends[0] = error != 0
                      ? err_set_errno(err, ERR_FAILED, error,
                                      "cannot start '%s'", program)
                      : err_set(err, ERR_FAILED, "'%s' did not start", program);
    }
    free(program);
    return ends[0];
}

/* -- The socket -----------------------------------------------------------*/

static void on_writable_or_readable(uv_poll_t *poll, int status, int events);

static void watch(struct agent_link *link, bool writable)
{
    link->is_blocked = writable;
    uv_poll_start(&link->poll, UV_READABLE | (writable ? UV_WRITABLE : 0),
                  on_writable_or_readable);
}

static void transmit(struct agent_link *link)
{
    while (link->out.length > 0) {
        ssize_t length = send(link->fd, link->out.data, link->out.length,
                              MSG_DONTWAIT | MSG_NOSIGNAL);

        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0 && errno == EAGAIN) {
            if (!link->is_blocked)
                watch(link, true);
            return;
        }
        if (length < 0) /* gone: the reading side will tell */
            buf_truncate(&link->out, 0);
        else
            buf_consume(&link->out, (size_t)length);
    }
    if (link->is_blocked)
        watch(link, false);
}

/* An idle handle, because the loop waits for nothing while one is active: also
 * what is put into the buffer just before it would wait leaves at once. */
static void on_flush(uv_idle_t *idle)
{
    struct agent_link *link = idle->data;

    uv_idle_stop(idle);
    if (!link->is_blocked)
        transmit(link);
}

static bool handle_messages(struct agent_link *link)
{
    struct agent_message message;
    size_t at = 0;
    ptrdiff_t taken = 0;

    while (!link->is_closing &&
           (taken = agent_next(buf_text(&link->in) + at, link->in.length - at,
                               &message)) > 0) {
        at += (size_t)taken;
        link->events.message(link->events.user, &message);
    }
    buf_consume(&link->in, at);
    return taken >= 0;
}

static bool receive(struct agent_link *link)
{
    enum { STEP = 65536 };
    ssize_t length =
        recv(link->fd, buf_reserve(&link->in, STEP), STEP, MSG_DONTWAIT);

    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (length <= 0)
        return false;
    link->in.length += (size_t)length;
    link->in.data[link->in.length] = '\0';
    if (!handle_messages(link))
        return false;
    if (!link->is_closing)
        link->events.idle(link->events.user);
    return true;
}

/* An agent that died with messages unread is an error, upon which the loop no
 * longer watches the socket, although what the agent said last may fill more
 * than one read before its end comes. */
static void on_writable_or_readable(uv_poll_t *poll, int status, int events)
{
    struct agent_link *link = poll->data;
    bool alive = true;

    if (status != 0 || (events & UV_READABLE) != 0)
        alive = receive(link);
    if (link->is_closing)
        return;
    if (!alive) {
        uv_poll_stop(poll);
        link->events.gone(link->events.user);
        return;
    }
    if (status != 0)
        watch(link, link->is_blocked);
    if ((events & UV_WRITABLE) != 0)
        transmit(link);
}

/* -- The interface --------------------------------------------------------*/

struct agent_link *agent_link_create(uv_loop_t *loop,
                                     const struct agent_link_events *events,
                                     struct err *err)
{
    struct agent_link *link;
    int fd = start_agent(err);

    if (fd < 0)
        return NULL;
    link = mem_zero(sizeof(*link));
    link->events = *events;
    link->fd = fd;
    if (uv_poll_init(loop, &link->poll, fd) != 0) {
        close(fd);
        free(link);
        err_set(err, ERR_FAILED, "cannot watch the agent's socket");
        return NULL;
    }
    uv_idle_init(loop, &link->flush);
    link->open_handles = 2;
    link->poll.data = link;
    link->flush.data = link;
    watch(link, false);
    return link;
}

static void on_closed(uv_handle_t *handle)
{
    struct agent_link *link = handle->data;

    if (--link->open_handles > 0)
        return;
    close(link->fd);
    if (link->closed != NULL)
        link->closed(link->closed_user);
    buf_clear(&link->in);
    buf_clear(&link->out);
    free(link);
}

void agent_link_close(struct agent_link *link, void (*closed)(void *user),
                      void *user)
{
    transmit(link);
    link->is_closing = true;
    link->closed = closed;
    link->closed_user = user;
    uv_close((uv_handle_t *)&link->poll, on_closed);
    uv_close((uv_handle_t *)&link->flush, on_closed);
}

struct buf *agent_link_out(struct agent_link *link)
{
    uv_idle_start(&link->flush, on_flush);
    return &link->out;
}
