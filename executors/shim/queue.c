/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/queue.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/count.h"
#include "executors/attempt/backlog.h"
#include "executors/attempt/order_file.h"

/* A turn starts attempts for so long; then it is told who ended meanwhile, and
 * who ended since is seen. With thousands of slots many may be free at once. */
enum { STARTS_MS = 2 };

/* -- Starting -------------------------------------------------------------*/

static struct attempt_request *unqueue(struct queue *queue,
                                       struct attempt_request **link)
{
    struct attempt_request *request = *link;

    *link = request->next;
    queue->waiting--;
    if (request->next == NULL)
        queue->last = link;
    if (queue->first == NULL && queue->slots != NULL)
        slots_give_up(queue->slots);
    return request;
}

void queue_drop(struct queue *queue)
{
    while (queue->first != NULL)
        attempt_request_destroy(unqueue(queue, &queue->first));
    queue->retry_ms = 0;
    queue->has_more = false;
}

static const char *visible_gpus(const struct queue *queue,
                                const struct attempt_spec *spec, char *names,
                                size_t size)
{
    slots_gpu_names(queue->slots, spec->attempt, names, size);
    return spec->gpus > 0 || queue->hides_gpus ? names : NULL;
}

/* The command inherits the CPUs that this process has at its start: `before`
 * are those to go back to. Returns whether they are others now. */
static bool pin(const struct queue *queue, const struct attempt_spec *spec,
                cpu_set_t *before)
{
    cpu_set_t set;

    if (!spec->pins || sched_getaffinity(0, sizeof(*before), before) != 0)
        return false;
    slots_cpu_set(queue->slots, spec->attempt, &set);
    return sched_setaffinity(0, sizeof(set), &set) == 0;
}

static pid_t start_command(struct queue *queue, const struct attempt_spec *spec,
                           struct attempt_exit *end)
{
    char names[GPUS_MAX * GPU_NAME_MAX];
    const char *gpus = visible_gpus(queue, spec, names, sizeof(names));
    struct attempt_spec complete = *spec;
    char **envp = NULL;
    cpu_set_t before;
    bool is_pinned;
    pid_t pid;

    if (queue->programs != NULL)
        complete.envp = envp =
            order_environment(spec->envp, environ, queue->programs);
    is_pinned = pin(queue, spec, &before);
    pid = supervisor_start(queue->supervisor, &complete, gpus,
                           queue->waiting > 0, end);
    if (is_pinned)
        sched_setaffinity(0, sizeof(before), &before);
    for (char **at = envp; at != NULL && *at != NULL; at++)
        free(*at);
    free(envp);
    return pid;
}

static void start(struct queue *queue, const struct attempt_spec *spec)
{
    struct agent_started started = {.attempt = spec->attempt};
    struct attempt_exit end;

    started.pid = start_command(queue, spec, &end);
    if (started.pid > 0) {
        agent_put(queue->out, AGENT_STARTED, &started, sizeof(started));
        return;
    }
    slots_release(queue->slots, spec->attempt);
    agent_put(queue->out, AGENT_ENDED, &end, sizeof(end));
}

static bool may_start(const struct queue *queue)
{
    return queue->first != NULL &&
           supervisor_count(queue->supervisor) < queue->parallel;
}

static bool has_time_to_start(struct queue *queue)
{
    int64_t now_ms = clock_monotonic_ms();

    if (queue->starts_ms == 0)
        queue->starts_ms = now_ms + STARTS_MS;
    return now_ms < queue->starts_ms;
}

static void add_memory(void *user, const struct supervised *attempt)
{
    int64_t *sum_bytes = user;

    *sum_bytes = count_add(*sum_bytes, attempt->memory_bytes);
}

/* As there is no slot of memory, one that lacks some lacks its CPUs. */
static bool has_memory(const struct queue *queue, struct attempt_request *wants)
{
    int64_t sum_bytes = wants->spec.memory_bytes;

    if (queue->memory_bytes == 0 || wants->spec.memory_bytes == 0)
        return true;
    supervisor_each(queue->supervisor, add_memory, &sum_bytes);
    if (sum_bytes > queue->memory_bytes)
        wants->lacks |= LACKS_CPUS;
    return sum_bytes <= queue->memory_bytes;
}

/* Returns where in the queue to go on; NULL: nowhere. */
static struct attempt_request **try_next(struct queue *queue,
                                         struct attempt_request **link,
                                         struct backlog *backlog, bool is_turn)
{
    struct attempt_request *request = *link;

    if (backlog_hold_back(backlog, &request->spec))
        return &request->next;
    if (!has_memory(queue, request) ||
        !slots_take(queue->slots, &request->spec, is_turn, &request->lacks))
        return backlog_add(backlog, &request->spec, request->lacks)
                   ? &request->next
                   : NULL;
    unqueue(queue, link);
    start(queue, &request->spec);
    attempt_request_destroy(request);
    return link;
}

static void start_waiting(struct queue *queue, bool is_turn)
{
    struct attempt_request **link = &queue->first;
    struct backlog backlog = {.count = 0};

    queue->has_more = false;
    while (link != NULL && *link != NULL && may_start(queue) &&
           !queue->has_more) {
        if (has_time_to_start(queue))
            link = try_next(queue, link, &backlog, is_turn);
        else
            queue->has_more = true;
    }
    /* Not all who wait should come at the same moment. */
    if (backlog.count > 0 && (queue->retry_ms == 0 || is_turn))
        queue->retry_ms = clock_monotonic_ms() + SLOTS_RETRY_MS +
                          getpid() % (SLOTS_RETRY_MS / 4);
    else if (backlog.count == 0 && !queue->has_more)
        queue->retry_ms = 0;
}

void queue_turn(struct queue *queue)
{
    start_waiting(queue, queue->retry_ms != 0 &&
                             queue->retry_ms <= clock_monotonic_ms());
    queue->starts_ms = 0;
}

int64_t queue_wake_ms(const struct queue *queue)
{
    return queue->has_more ? 1 : queue->retry_ms; /* 1: that moment is past */
}

void queue_ended(struct queue *queue, const struct attempt_exit *end)
{
    slots_release(queue->slots, end->attempt);
    agent_put(queue->out, AGENT_ENDED, end, sizeof(*end));
    start_waiting(queue, false);
}

/* -- What the engine tells ------------------------------------------------*/

static int on_start(struct queue *queue, const struct agent_message *message)
{
    struct attempt_request *request = agent_get_start(message);

    if (request == NULL || queue->slots == NULL) {
        attempt_request_destroy(request);
        return -1;
    }
    if (queue->last == NULL)
        queue->last = &queue->first;
    if (queue->programs != NULL && request->spec.cpus == 0)
        request->spec.cpus = 1; /* the engine counts with one, too */
    *queue->last = request;
    queue->last = &request->next;
    queue->waiting++;
    return 0;
}

/* One that waits is withdrawn without a trace in its directory. */
static void cancel_waiting(struct queue *queue, struct attempt_request **link)
{
    struct attempt_request *request = unqueue(queue, link);
    struct attempt_exit end = {.attempt = request->spec.attempt,
                               .cause = CAUSE_CANCELLED,
                               .exit_code = -1,
                               .started_ms = clock_wall_ms()};

    end.ended_ms = end.started_ms;
    agent_put(queue->out, AGENT_ENDED, &end, sizeof(end));
    attempt_request_destroy(request);
    slots_give_up(queue->slots); /* the others, if any, are to wait anew */
}

static int on_cancel(struct queue *queue, const struct agent_message *message)
{
    struct attempt_request **link = &queue->first;
    struct agent_cancel cancel;

    if (agent_get(message, &cancel, sizeof(cancel)) != 0)
        return -1;
    while (*link != NULL && (*link)->spec.attempt != cancel.attempt)
        link = &(*link)->next;
    if (*link != NULL)
        cancel_waiting(queue, link);
    else
        supervisor_cancel(queue->supervisor, cancel.attempt,
                          (enum cancel_mode)cancel.mode);
    return 0;
}

int queue_take(struct queue *queue, const struct agent_message *message)
{
    if (message->kind == AGENT_START)
        return on_start(queue, message);
    if (message->kind == AGENT_CANCEL)
        return on_cancel(queue, message);
    return -1;
}
