/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "executors/attempt/attempt_file.h"
#include "executors/attempt/in_flight.h"
#include "executors/attempt/kind.h"
#include "executors/executor_impl.h"
#include "executors/local/adopted.h"
#include "executors/local/agent_link.h"
#include "executors/machine/cpus.h"
#include "executors/machine/gpu_models.h"
#include "executors/machine/gpus.h"
#include "executors/machine/slots.h"

/*
 * Attempts on this machine, through an agent process (smtune-shim --agent)
 * that starts them and looks after them, and outlives us. What is kept here
 * is which attempts the agent has been given. Should it die, those that it
 * had started are watched through their files, and the others are given to a
 * new agent.
 *
 * An attempt that must wait for a slot is refused, so that the owner can
 * still change its mind. But while attempts are so short that the way to the
 * owner and back would leave the machine idle, some are taken ahead.
 */

enum {
    SHORT_MS = 100,    /* attempts shorter than this are taken ahead */
    AHEAD_MAX = 64,    /* so many, beyond the slots */
    WAITING_MAX = 256, /* and never more than this in the agent's queue */
    DEATHS_MAX = 3,    /* agents that may die within ... */
    DEATHS_MS = 10000, /* ... this time */
    PACE_WEIGHT = 8    /* of the past in the mean duration */
};

struct local {
    struct executor base;
    struct executor_events events;
    uv_loop_t *loop;
    struct agent_link *link; /* NULL when no agent can be had */
    struct adopted_list *adopted;
    struct agent_setup setup;
    int machine_cpus; /* that can be pinned to; 0: nothing has asked yet */
    bool has_models;
    struct gpu_models models; /* of the setup's GPUs, once one is asked for */
    struct in_flight in_flight;
    int64_t mean_ms; /* duration of the last attempts */
    int64_t death_ms;
    int deaths;
    bool was_refused; /* a start, since `room` was last called */
    bool is_closing;
    int open_parts;
    void (*done)(void *user);
    void *done_user;
};

/* -- What the agent says --------------------------------------------------*/

static void tell_started(const struct local *local, int64_t attempt,
                         int64_t pid)
{
    const struct attempt_place place = {pid, "", ""};

    local->events.started(local->events.user, attempt, &place);
}

static void on_started(struct local *local, const struct agent_message *message)
{
    struct agent_started started;
    struct flight *flight;

    if (agent_get(message, &started, sizeof(started)) != 0)
        return;
    flight = in_flight_find(&local->in_flight, started.attempt);
    if (flight == NULL)
        return;
    in_flight_note_start(&local->in_flight, flight);
    tell_started(local, started.attempt, started.pid);
}

static void on_ended(struct local *local, const struct agent_message *message)
{
    struct attempt_exit end;
    struct flight *flight;

    if (agent_get_ended(message, &end) != 0)
        return;
    flight = in_flight_find(&local->in_flight, end.attempt);
    if (flight == NULL)
        return;
    if (flight->has_started)
        local->mean_ms +=
            (end.ended_ms - end.started_ms - local->mean_ms) / PACE_WEIGHT;
    in_flight_remove(&local->in_flight, flight);
    local->events.ended(local->events.user, &end);
}

static void on_message(void *user, const struct agent_message *message)
{
    struct local *local = user;

    if (message->kind == AGENT_STARTED)
        on_started(local, message);
    else if (message->kind == AGENT_ENDED)
        on_ended(local, message);
}

static void on_idle(void *user)
{
    struct local *local = user;

    if (!local->was_refused)
        return;
    local->was_refused = false;
    local->events.room(local->events.user);
}

static void on_adopted_ended(void *user, const struct attempt_exit *end)
{
    struct local *local = user;

    if (local->is_closing)
        return;
    local->events.ended(local->events.user, end);
    if (!local->is_closing)
        on_idle(local);
}

/* -- The agent's life -----------------------------------------------------*/

static void on_gone(void *user);

static int connect_agent(struct local *local, struct err *err)
{
    const struct agent_link_events events = {
        .message = on_message, .idle = on_idle, .gone = on_gone, .user = local};

    local->link = agent_link_create(local->loop, &events, err);
    if (local->link == NULL)
        return -1;
    agent_put(agent_link_out(local->link), AGENT_SETUP, &local->setup,
              sizeof(local->setup));
    return 0;
}

static void put_cancel(struct local *local, const struct flight *flight)
{
    const struct agent_cancel cancel = {.attempt = flight->attempt,
                                        .mode = flight->cancel_mode};

    agent_put(agent_link_out(local->link), AGENT_CANCEL, &cancel,
              sizeof(cancel));
}

/* An attempt that the dead agent had may have been started even though we
 * were not told. One that was not goes to the next agent. Returns whether it
 * does. */
static bool resend(struct local *local, const struct flight *flight)
{
    bool is_untouched =
        !flight->has_started && !claim_exists(flight->directory);

    if (!is_untouched || local->link == NULL)
        return false;
    buf_add(agent_link_out(local->link), flight->start.data,
            flight->start.length);
    if (flight->is_cancelled)
        put_cancel(local, flight);
    return true;
}

/* Returns whether that it started is still to be told. */
static bool adopt(struct local *local, const struct flight *flight)
{
    const struct attempt_spec spec = {.attempt = flight->attempt,
                                      .directory = flight->directory,
                                      .time_ms = flight->time_ms,
                                      .grace_ms = flight->grace_ms,
                                      .warn_signal = flight->warn_signal,
                                      .warn_before_ms = flight->warn_before_ms};

    int result = adopted_add(local->adopted, &spec, NULL);

    if (result < 0)
        adopted_add_unseen(local->adopted, &spec);
    else if (result > 0)
        adopted_add_lost(local->adopted, flight->attempt);
    if (flight->is_cancelled)
        adopted_cancel(local->adopted, flight->attempt, flight->cancel_mode);
    return result == 0 && !flight->has_started;
}

/* What is told may lead to any call, so it is told last. */
static void rescue_flights(struct local *local)
{
    struct flight *flight, *next;
    struct buf started = BUF_INIT;

    for (flight = local->in_flight.first; flight != NULL; flight = next) {
        next = flight->next;
        if (resend(local, flight))
            continue;
        if (adopt(local, flight))
            buf_add(&started, &flight->attempt, sizeof(flight->attempt));
        in_flight_remove(&local->in_flight, flight);
    }
    for (size_t at = 0; at < started.length && !local->is_closing;
         at += sizeof(int64_t)) {
        int64_t attempt;

        memcpy(&attempt, started.data + at, sizeof(attempt));
        tell_started(local, attempt, adopted_pid(local->adopted, attempt));
    }
    buf_clear(&started);
}

static void on_gone(void *user)
{
    struct local *local = user;
    int64_t now_ms = clock_monotonic_ms();
    struct err err = {.kind = ERR_NONE};

    agent_link_close(local->link, NULL, NULL);
    local->link = NULL;
    if (now_ms - local->death_ms > DEATHS_MS)
        local->deaths = 0;
    local->death_ms = now_ms;
    if (++local->deaths > DEATHS_MAX)
        err_set(&err, ERR_FAILED, "smtune-shim crashed %d times in %d s",
                local->deaths, DEATHS_MS / 1000);
    else
        connect_agent(local, &err);
    rescue_flights(local);
    if (local->is_closing)
        return;
    if (local->link == NULL)
        local->events.broken(local->events.user, &err);
    else
        on_idle(local);
}

/* -- The interface --------------------------------------------------------*/

static int fill_setup(struct local *local,
                      const struct executor_options *options, struct err *err)
{
    struct agent_setup *setup = &local->setup;
    size_t found = gpus_find("", getenv("CUDA_VISIBLE_DEVICES"), setup->gpus);
    struct rlimit files;

    if (options->gpus > 0 && (size_t)options->gpus > found)
        return err_set(
            err, ERR_FILE,
            "out of range: executor.gpus is %d, and this machine has %zu",
            options->gpus, found);
    if (options->cpus > SLOTS_CPUS_MAX)
        return err_set(err, ERR_FILE,
                       "out of range: executor.cpus is %d, at most %d",
                       options->cpus, SLOTS_CPUS_MAX);
    getrlimit(RLIMIT_NOFILE, &files);
    setup->files_max = files.rlim_cur;
    setup->parallel = options->parallel;
    setup->without_cgroups = options->without_cgroups;
    setup->cpus = options->cpus >= 0 ? options->cpus : cpus_find("");
    setup->gpu_count =
        options->gpus >= 0 ? (uint32_t)options->gpus : (uint32_t)found;
    return slots_directory(setup->slots_directory, err);
}

static struct executor *local_create(uv_loop_t *loop,
                                     const struct executor_options *options,
                                     const struct executor_events *events,
                                     struct err *err)
{
    struct local *local = mem_zero(sizeof(*local));

    local->base.type = &executor_local;
    local->events = *events;
    local->loop = loop;
    local->mean_ms = INT64_C(10) * SHORT_MS;
    if (fill_setup(local, options, err) != 0 ||
        connect_agent(local, err) != 0) {
        free(local);
        return NULL;
    }
    local->adopted = adopted_create(loop, on_adopted_ended, local);
    return &local->base;
}

static void on_part_closed(void *user)
{
    struct local *local = user;

    if (--local->open_parts > 0)
        return;
    local->done(local->done_user);
    free(local);
}

static void local_destroy(struct executor *executor, void (*done)(void *user),
                          void *user)
{
    struct local *local = (struct local *)executor;

    local->is_closing = true;
    local->done = done;
    local->done_user = user;
    in_flight_clear(&local->in_flight);
    local->open_parts = local->link != NULL ? 2 : 1;
    if (local->link != NULL)
        agent_link_close(local->link, on_part_closed, local);
    adopted_close(local->adopted, on_part_closed, local);
}

/* The setup's CPUs are the machine's, or what the file says. */
static int machine_cpus(struct local *local)
{
    if (local->machine_cpus == 0)
        local->machine_cpus = cpus_find("");
    return local->machine_cpus;
}

static int check_spec(struct local *local, const struct attempt_spec *spec,
                      struct err *err)
{
    if (local->link == NULL)
        return err_set(err, ERR_FAILED,
                       "the executor lost its agent, smtune-shim");
    if (spec->cpus > local->setup.cpus)
        return err_set(err, ERR_FAILED, "needs %d CPU%s, the executor has %d",
                       spec->cpus, units_plural(spec->cpus), local->setup.cpus);
    if (spec->pins && local->setup.cpus > machine_cpus(local))
        return err_set(err, ERR_FAILED,
                       "cannot pin: the executor has %d CPUs, and this machine "
                       "has %d",
                       local->setup.cpus, machine_cpus(local));
    if (spec->gpus > (int)local->setup.gpu_count)
        return err_set(err, ERR_FAILED, "needs %d GPU%s, the executor has %u",
                       spec->gpus, units_plural(spec->gpus),
                       local->setup.gpu_count);
    return executor_check_pools(spec, err);
}

/* Which GPUs are of the type that it asks for, if it does. */
static int find_gpu_set(struct local *local, struct attempt_spec *spec,
                        struct err *err)
{
    const char *type = spec->slurm != NULL ? spec->slurm->gpu_type : NULL;

    if (type == NULL || spec->gpus == 0)
        return 0;
    if (!local->has_models &&
        gpu_models_find(local->setup.gpus, local->setup.gpu_count,
                        &local->models, err) != 0)
        return -1;
    local->has_models = true;
    return gpu_models_choose(&local->models, type, spec->gpus, &spec->gpu_set,
                             err);
}

static bool lacks_gpus(const struct local *local,
                       const struct attempt_spec *spec)
{
    const struct in_flight *in_flight = &local->in_flight;

    if (spec->gpus == 0)
        return false;
    if (spec->gpu_set != 0 &&
        in_flight_of_gpus(in_flight, spec->gpu_set) + spec->gpus >
            __builtin_popcountll(spec->gpu_set))
        return true;
    return in_flight->gpu_permille + executor_gpu_permille(spec) >
           INT64_C(1000) * local->setup.gpu_count;
}

/* What others of ours hold, or wait for. */
static uint32_t lacking(const struct local *local,
                        const struct attempt_spec *spec)
{
    const struct in_flight *in_flight = &local->in_flight;
    uint32_t lacks = 0;

    if (spec->cpus > 0 && in_flight->cpus + spec->cpus > local->setup.cpus)
        lacks |= LACKS_CPUS;
    if (lacks_gpus(local, spec))
        lacks |= LACKS_GPUS;
    for (size_t i = 0; i < spec->pool_count; i++) {
        const struct attempt_pool *pool = &spec->pools[i];

        if (in_flight_of_pool(in_flight, pool->directory) + pool->amount >
            pool->size)
            lacks |= (uint32_t)LACKS_POOL << i;
    }
    return lacks;
}

static bool is_full(const struct local *local, const struct attempt_spec *spec,
                    uint32_t *lacks)
{
    size_t ahead = local->mean_ms < SHORT_MS ? AHEAD_MAX : 0;
    uint32_t short_of;

    if (local->in_flight.waiting >= WAITING_MAX)
        return true;
    short_of = lacking(local, spec);
    if (short_of == 0 || local->in_flight.waiting < ahead)
        return false;
    *lacks |= short_of;
    return true;
}

static enum start_result local_start(struct executor *executor,
                                     const struct attempt_spec *spec,
                                     uint32_t *lacks, struct err *err)
{
    struct local *local = (struct local *)executor;
    struct attempt_spec own = *spec;
    struct buf message = BUF_INIT;

    if (check_spec(local, spec, err) != 0 ||
        find_gpu_set(local, &own, err) != 0)
        return START_ERROR;
    if (is_full(local, &own, lacks)) {
        local->was_refused = true;
        return START_FULL;
    }
    if (agent_put_start(&message, &own, err) != 0) {
        buf_clear(&message);
        return START_ERROR;
    }
    buf_add(agent_link_out(local->link), message.data, message.length);
    in_flight_add(&local->in_flight, &own, &message);
    return START_OK;
}

static void local_cancel(struct executor *executor, int64_t attempt,
                         enum cancel_mode mode)
{
    struct local *local = (struct local *)executor;
    struct flight *flight = in_flight_find(&local->in_flight, attempt);

    if (adopted_cancel(local->adopted, attempt, mode) || flight == NULL ||
        local->link == NULL)
        return;
    flight->is_cancelled = true;
    flight->cancel_mode = mode;
    put_cancel(local, flight);
}

static int local_reattach(struct executor *executor,
                          const struct attempt_spec *spec, struct err *err)
{
    return adopted_add(((struct local *)executor)->adopted, spec, err);
}

static int local_cpus(const struct executor *executor)
{
    return ((const struct local *)executor)->setup.cpus;
}

static int local_gpus(const struct executor *executor)
{
    return (int)((const struct local *)executor)->setup.gpu_count;
}

const struct executor_type executor_local = {
    .name = "local",
    .create = local_create,
    .destroy = local_destroy,
    .start = local_start,
    .cancel = local_cancel,
    .reattach = local_reattach,
    .avoid = executor_avoid_none,
    .cpus = local_cpus,
    .gpus = local_gpus,
};
