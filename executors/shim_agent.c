/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim_agent.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "executors/agent_message.h"
#include "executors/refusals.h"
#include "executors/shim_supervisor.h"
#include "executors/slots.h"

/*
 * Starts wait in a queue and begin in the order in which they came, as soon
 * as fewer than `parallel` run and their slots are there; where slots of one
 * are not, those behind it that want none of these go on. So the next command
 * begins the moment one ends, and the engine learns of both
 * later: while enough wait it could start nothing anyway, so what it is told
 * is gathered for a moment, and it is woken once for many.
 */

enum { GATHER_MS = 5, AHEAD_ENOUGH = 4 /* times as many as may run */ };

/* A turn starts attempts for so long; then it is told who ended meanwhile, and
 * who ended since is seen. With thousands of slots many may be free at once. */
enum { STARTS_MS = 2 };

struct agent {
    struct supervisor *supervisor;
    struct slots *slots;
    struct attempt_request *first; /* the queue */
    struct attempt_request **last;
    size_t waiting; /* in the queue */
    size_t parallel;
    int64_t retry_ms;    /* when to try for slots again; 0: not waiting */
    int64_t starts_ms;   /* when this turn starts no more; 0: not begun */
    bool has_more;       /* which that turn did not get to */
    int64_t transmit_ms; /* when to tell what was gathered; 0: nothing was */
    struct buf in;
    struct buf out;
    int fd; /* -1 once the engine is gone */
};

/* -- The queue ------------------------------------------------------------*/

static struct attempt_request *unqueue(struct agent *agent,
                                       struct attempt_request **link)
{
    struct attempt_request *request = *link;

    *link = request->next;
    agent->waiting--;
    if (request->next == NULL)
        agent->last = link;
    if (agent->first == NULL && agent->slots != NULL)
        slots_give_up(agent->slots);
    return request;
}

static void drop_queue(struct agent *agent)
{
    while (agent->first != NULL)
        attempt_request_destroy(unqueue(agent, &agent->first));
    agent->retry_ms = 0;
    agent->has_more = false;
}

static void start(struct agent *agent, const struct attempt_spec *spec)
{
    char gpus[GPUS_MAX * GPU_NAME_MAX];
    struct agent_started started = {.attempt = spec->attempt};
    struct attempt_exit end;

    slots_gpu_names(agent->slots, spec->attempt, gpus, sizeof(gpus));
    started.pid =
        supervisor_start(agent->supervisor, spec, spec->gpus > 0 ? gpus : NULL,
                         agent->waiting > 0, &end);
    if (started.pid > 0) {
        agent_put(&agent->out, AGENT_STARTED, &started, sizeof(started));
        return;
    }
    slots_release(agent->slots, spec->attempt);
    agent_put(&agent->out, AGENT_ENDED, &end, sizeof(end));
}

static bool may_start(const struct agent *agent)
{
    return agent->first != NULL &&
           supervisor_count(agent->supervisor) < agent->parallel;
}

static bool has_time_to_start(struct agent *agent)
{
    int64_t now_ms = clock_monotonic_ms();

    if (agent->starts_ms == 0)
        agent->starts_ms = now_ms + STARTS_MS;
    return now_ms < agent->starts_ms;
}

/* Returns where in the queue to go on; NULL: nowhere. */
static struct attempt_request **try_next(struct agent *agent,
                                         struct attempt_request **link,
                                         struct refusals *refusals,
                                         bool is_turn)
{
    struct attempt_request *request = *link;

    if (refusals_hold_back(refusals, &request->spec))
        return &request->next;
    if (!slots_take(agent->slots, &request->spec, is_turn, &request->lacks))
        return refusals_add(refusals, &request->spec, request->lacks)
                   ? &request->next
                   : NULL;
    unqueue(agent, link);
    start(agent, &request->spec);
    attempt_request_destroy(request);
    return link;
}

static void start_waiting(struct agent *agent, bool is_turn)
{
    struct attempt_request **link = &agent->first;
    struct refusals refusals = {.count = 0};

    agent->has_more = false;
    while (link != NULL && *link != NULL && may_start(agent) &&
           !agent->has_more) {
        if (has_time_to_start(agent))
            link = try_next(agent, link, &refusals, is_turn);
        else
            agent->has_more = true;
    }
    /* Not all who wait should come at the same moment. */
    if (refusals.count > 0 && (agent->retry_ms == 0 || is_turn))
        agent->retry_ms = clock_monotonic_ms() + SLOTS_RETRY_MS +
                          getpid() % (SLOTS_RETRY_MS / 4);
    else if (refusals.count == 0 && !agent->has_more)
        agent->retry_ms = 0;
}

/* -- What the supervisor tells --------------------------------------------*/

static void on_ended(void *user, const struct attempt_exit *end)
{
    struct agent *agent = user;

    slots_release(agent->slots, end->attempt);
    agent_put(&agent->out, AGENT_ENDED, end, sizeof(*end));
    start_waiting(agent, false);
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

    if (agent->slots != NULL ||
        agent_get(message, &setup, sizeof(setup)) != 0 ||
        setup.gpu_count > GPUS_MAX)
        return -1;
    limit_files(setup.files_max);
    if (setup.without_cgroups == 0)
        supervisor_use_cgroups(agent->supervisor, engine_pid(agent->fd));
    agent->parallel = setup.parallel > 0 ? (size_t)setup.parallel : 1;
    agent->slots = slots_open(setup.slots_directory, setup.cpus, setup.gpus,
                              setup.gpu_count);
    return 0;
}

static int on_start(struct agent *agent, const struct agent_message *message)
{
    struct attempt_request *request = agent_get_start(message);

    if (request == NULL || agent->slots == NULL)
        return -1;
    *agent->last = request;
    agent->last = &request->next;
    agent->waiting++;
    return 0;
}

/* One that waits is withdrawn without a trace in its directory. */
static void cancel_waiting(struct agent *agent, struct attempt_request **link)
{
    struct attempt_request *request = unqueue(agent, link);
    struct attempt_exit end = {.attempt = request->spec.attempt,
                               .cause = CAUSE_CANCELLED,
                               .exit_code = -1,
                               .started_ms = clock_wall_ms()};

    end.ended_ms = end.started_ms;
    agent_put(&agent->out, AGENT_ENDED, &end, sizeof(end));
    attempt_request_destroy(request);
    slots_give_up(agent->slots); /* the others, if any, are to wait anew */
}

static int on_cancel(struct agent *agent, const struct agent_message *message)
{
    struct attempt_request **link = &agent->first;
    struct agent_cancel cancel;

    if (agent_get(message, &cancel, sizeof(cancel)) != 0)
        return -1;
    while (*link != NULL && (*link)->spec.attempt != cancel.attempt)
        link = &(*link)->next;
    if (*link != NULL)
        cancel_waiting(agent, link);
    else
        supervisor_cancel(agent->supervisor, cancel.attempt,
                          (enum cancel_mode)cancel.mode);
    return 0;
}

static int on_message(struct agent *agent, const struct agent_message *message)
{
    switch (message->kind) {
    case AGENT_SETUP:
        return on_setup(agent, message);
    case AGENT_START:
        return on_start(agent, message);
    case AGENT_CANCEL:
        return on_cancel(agent, message);
    case AGENT_STARTED:
    case AGENT_ENDED:
    case AGENT_READY:
    case AGENT_DRAIN:
        break;
    }
    return -1;
}

/* -- The socket -----------------------------------------------------------*/

static void leave_engine(struct agent *agent)
{
    close(agent->fd);
    agent->fd = -1;
    drop_queue(agent);
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
        if (on_message(agent, &message) != 0)
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

    if (agent->waiting < AHEAD_ENOUGH * agent->parallel)
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
    if (agent->has_more)
        return 1; /* at once: that moment is past */
    if (agent->transmit_ms == 0 || agent->retry_ms == 0)
        return agent->transmit_ms + agent->retry_ms;
    return agent->transmit_ms < agent->retry_ms ? agent->transmit_ms
                                                : agent->retry_ms;
}

static void serve(struct agent *agent)
{
    while (agent->fd >= 0 || !supervisor_is_idle(agent->supervisor)) {
        bool is_blocked = agent->out.length > 0 && agent->transmit_ms == 0;
        short events = is_blocked ? POLLIN | POLLOUT : POLLIN;
        short came = supervisor_turn(agent->supervisor, agent->fd, events,
                                     wake_ms(agent));
        bool is_turn =
            agent->retry_ms != 0 && agent->retry_ms <= clock_monotonic_ms();

        if ((came & ~POLLOUT) != 0)
            receive(agent);
        start_waiting(agent, is_turn);
        agent->starts_ms = 0;
        tell(agent);
    }
}

int agent_run(int socket_fd, struct err *err)
{
    struct agent agent = {.fd = socket_fd};
    const struct supervisor_events events = {
        .ended = on_ended, .signalled = on_signal, .user = &agent};

    agent.last = &agent.first;
    agent.supervisor = supervisor_create(&events, err);
    if (agent.supervisor == NULL)
        return -1;
    serve(&agent);
    supervisor_destroy(agent.supervisor);
    slots_close(agent.slots);
    buf_clear(&agent.in);
    buf_clear(&agent.out);
    return 0;
}
