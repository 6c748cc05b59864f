/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/agent.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "executors/attempt/agent_message.h"
#include "executors/shim/queue.h"

/*
 * The engine learns a moment later of what began and ended: while enough wait
 * in the queue it could start nothing anyway, so what it is told is gathered,
 * and it is woken once for many.
 */

enum { GATHER_MS = 5, AHEAD_ENOUGH = 4 /* times as many as may run */ };

struct agent {
    struct queue queue;
    int64_t transmit_ms; /* when to tell what was gathered; 0: nothing was */
    struct buf in;
    struct buf out;
    int fd; /* -1 once the engine is gone */
};

/* -- What the supervisor tells --------------------------------------------*/

static void on_ended(void *user, const struct attempt_exit *end)
{
    struct agent *agent = user;

    queue_ended(&agent->queue, end);
}

/* A signal to the agent is none to the attempts: whoever wants them ended
 * tells the engine, or sends it to them. */
static void on_signal(void *user, int signal_number)
{
    (void)user;
    (void)signal_number;
}

/* -- What the engine tells ------------------------------------------------*/

/* The engine has raised its own limit, perhaps; a command should find the one
 * that the user has set. */
static void limit_files(rlim_t files_max)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || files_max > limit.rlim_max)
        return;
    limit.rlim_cur = files_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* 0 when it is not known. */
static pid_t engine_pid(int fd)
{
    struct ucred engine = {.pid = 0};
    socklen_t length = sizeof(engine);

    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &engine, &length);
    return engine.pid;
}

static int on_setup(struct agent *agent, const struct agent_message *message)
{
    struct agent_setup setup;

    if (agent->queue.slots != NULL ||
        agent_get(message, &setup, sizeof(setup)) != 0 ||
        setup.gpu_count > GPUS_MAX)
        return -1;
    limit_files(setup.files_max);
    if (setup.without_cgroups == 0)
        supervisor_use_cgroups(agent->queue.supervisor, engine_pid(agent->fd));
    agent->queue.parallel = setup.parallel > 0 ? (size_t)setup.parallel : 1;
    agent->queue.slots = slots_open(setup.slots_directory, setup.cpus,
                                    setup.gpus, setup.gpu_count);
    return 0;
}

/* -- The socket -----------------------------------------------------------*/

static void leave_engine(struct agent *agent)
{
    close(agent->fd);
    agent->fd = -1;
    queue_drop(&agent->queue);
    buf_clear(&agent->in);
    buf_clear(&agent->out);
}

static int handle_messages(struct agent *agent)
{
    struct agent_message message;
    size_t at = 0;
    ptrdiff_t taken;

    while ((taken = agent_next(buf_text(&agent->in) + at, agent->in.length - at,
                               &message)) > 0) {
        if ((message.kind == AGENT_SETUP
                 ? on_setup(agent, &message)
                 : queue_take(&agent->queue, &message)) != 0)
            return -1;
        at += (size_t)taken;
    }
    if (at > 0)
        buf_consume(&agent->in, at);
    return taken < 0 ? -1 : 0;
}

static void receive(struct agent *agent)
{
    enum { STEP = 65536 };
    ssize_t length =
        recv(agent->fd, buf_reserve(&agent->in, STEP), STEP, MSG_DONTWAIT);

    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (length <= 0) {
        leave_engine(agent);
        return;
    }
    agent->in.length += (size_t)length;
    agent->in.data[agent->in.length] = '\0';
    if (handle_messages(agent) != 0)
        leave_engine(agent);
}

static void transmit(struct agent *agent)
{
    ssize_t length;

    if (agent->fd < 0) {
        buf_clear(&agent->out);
        return;
    }
    length = send(agent->fd, agent->out.data, agent->out.length,
                  MSG_DONTWAIT | MSG_NOSIGNAL);
    if (length >= 0)
        buf_consume(&agent->out, (size_t)length);
    else if (errno != EAGAIN && errno != EINTR)
        leave_engine(agent);
}

/* Whether the engine shall be told now, or sets the time. */
static bool transmits_now(struct agent *agent)
{
    int64_t now_ms;

    if (agent->queue.waiting < AHEAD_ENOUGH * agent->queue.parallel)
        return true;
    now_ms = clock_monotonic_ms();
    if (agent->transmit_ms == 0)
        agent->transmit_ms = now_ms + GATHER_MS;
    return now_ms >= agent->transmit_ms;
}

static void tell(struct agent *agent)
{
    if (agent->out.length == 0 || !transmits_now(agent))
        return;
    agent->transmit_ms = 0;
    transmit(agent);
}

static int64_t wake_ms(const struct agent *agent)
{
    int64_t queue_ms = queue_wake_ms(&agent->queue);

    if (agent->transmit_ms == 0 || queue_ms == 0)
        return agent->transmit_ms + queue_ms;
    return agent->transmit_ms < queue_ms ? agent->transmit_ms : queue_ms;
}

static void serve(struct agent *agent)
{
    struct supervisor *supervisor = agent->queue.supervisor;

    while (agent->fd >= 0 || !supervisor_is_idle(supervisor)) {
        bool is_blocked = agent->out.length > 0 && agent->transmit_ms == 0;
        short events = is_blocked ? POLLIN | POLLOUT : POLLIN;
        short came =
            supervisor_turn(supervisor, agent->fd, events, wake_ms(agent));

        if ((came & ~POLLOUT) != 0)
            receive(agent);
        queue_turn(&agent->queue);
        tell(agent);
    }
}

int agent_run(int socket_fd, struct err *err)
{
    struct agent agent = {.fd = socket_fd};
    const struct supervisor_events events = {
        .ended = on_ended, .signalled = on_signal, .user = &agent};

    agent.queue.out = &agent.out;
    agent.queue.supervisor = supervisor_create(&events, err);
    if (agent.queue.supervisor == NULL)
        return -1;
    serve(&agent);
    supervisor_destroy(agent.queue.supervisor);
    slots_close(agent.queue.slots);
    buf_clear(&agent.in);
    buf_clear(&agent.out);
    return 0;
}
