/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "executors/attempt/kind.h"
#include "executors/executor_impl.h"
#include "tests/fault/sim/site.h"

/*
 * In place of the local executor (and the fake one): hands attempts to the
 * world's site, and its words to the engine, if it is still there.
 */

enum { CPUS = 64 };

struct simulated {
    struct executor base;
    struct executor_events events;
    uv_timer_t room; /* is also what keeps the loop until it is closed */
    int64_t starts;
    bool is_broken;
    void (*done)(void *user);
    void *done_user;
};

static struct site *site(void)
{
    return world_get()->site;
}

static void on_started(void *user, int64_t attempt)
{
    struct simulated *executor = user;

    executor->events.started(
        executor->events.user, attempt,
        &(struct attempt_place){(1 << 23) + attempt, "", ""});
}

static void on_ended(void *user, const struct attempt_exit *end)
{
    struct simulated *executor = user;

    executor->events.ended(executor->events.user, end);
}

static void on_room(uv_timer_t *timer)
{
    struct simulated *executor = timer->data;
    struct err err;

    if (!executor->is_broken) {
        executor->events.room(executor->events.user);
        return;
    }
    err_set(&err, ERR_FAILED, "the agent died");
    executor->events.broken(executor->events.user, &err);
}

static struct executor *create(uv_loop_t *loop,
                               const struct executor_options *options,
                               const struct executor_events *events,
                               struct err *err)
{
    struct simulated *executor = mem_zero(sizeof(*executor));

    (void)err;
    world_step();
    if (options->parallel != site_habits_of(site())->parallel)
        world_fail("the executor is told to run %d at once, not %d",
                   options->parallel, site_habits_of(site())->parallel);
    executor->base.type = &executor_local;
    executor->events = *events;
    uv_timer_init(loop, &executor->room);
    executor->room.data = executor;
    site_attach(site(), &(struct site_events){on_started, on_ended, executor});
    return &executor->base;
}

static void on_closed(uv_handle_t *handle)
{
    struct simulated *executor = handle->data;

    executor->done(executor->done_user);
    free(executor);
}

static void destroy(struct executor *base, void (*done)(void *user), void *user)
{
    struct simulated *executor = (struct simulated *)base;

    executor->done = done;
    executor->done_user = user;
    site_lose_engine(site(), false);
    uv_close((uv_handle_t *)&executor->room, on_closed);
}

/* It says not what it refuses for: then nothing else is tried. */
static enum start_result start(struct executor *base,
                               const struct attempt_spec *spec, uint32_t *lacks,
                               struct err *err)
{
    struct simulated *executor = (struct simulated *)base;
    const struct site_habits *habits = site_habits_of(site());
    struct rng *rng = &world_get()->rng;

    (void)lacks;
    world_step();
    if (executor->is_broken)
        return err_set(err, ERR_FAILED, "there is no agent any more");
    if (habits->break_every > 0 && ++executor->starts > habits->break_every) {
        world_trace("the agent breaks");
        executor->is_broken = true;
        uv_timer_start(&executor->room, on_room, 0, 0);
        return START_FULL;
    }
    if (rng_percent(rng, habits->full)) {
        world_trace("attempt %" PRId64 ": refused", spec->attempt);
        uv_timer_start(&executor->room, on_room,
                       (uint64_t)rng_magnitude(rng, 1, 2000), 0);
        return START_FULL;
    }
    if (rng_percent(rng, habits->error)) {
        world_trace("attempt %" PRId64 ": an error", spec->attempt);
        return err_set(err, ERR_FAILED, "no such thing");
    }
    site_start(site(), spec);
    world_step();
    return START_OK;
}

static void cancel(struct executor *base, int64_t attempt,
                   enum cancel_mode mode)
{
    (void)base;
    world_step();
    site_cancel(site(), attempt, mode);
}

static int reattach(struct executor *base, const struct attempt_spec *spec,
                    struct err *err)
{
    (void)base, (void)err;
    world_step();
    return site_reattach(site(), spec);
}

static int count_cpus(const struct executor *base)
{
    (void)base;
    return CPUS;
}

static int count_gpus(const struct executor *base)
{
    (void)base;
    return 0;
}

#define SIMULATED(word)                                                        \
    {                                                                          \
        .name = word, .create = create, .destroy = destroy, .start = start,    \
        .cancel = cancel, .reattach = reattach, .avoid = executor_avoid_none,  \
        .cpus = count_cpus, .gpus = count_gpus,                                \
    }

const struct executor_type executor_local = SIMULATED("local");
const struct executor_type executor_fake = SIMULATED("fake");
