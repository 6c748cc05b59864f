/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/loop.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <uv.h>

#include "base/mem.h"
#include "tests/fault/sim/clients.h"

/*
 * In place of libuv: those of its functions that the engine calls, as one
 * thread in the world's time. Handles are libuv's own structs. A turn of the
 * loop is as there: timers, idle, prepare, poll, closing; in `poll` the world
 * goes on until its next event or the next timer. What is due at one time
 * comes in an order by the seed.
 */

enum {
    FLAG_ACTIVE = 1,
    FLAG_CLOSING = 2,
    FLAG_CLOSED = 4,
    FLAG_UNREFERENCED = 8,
};

/* More turns of the loop than this mean that it runs round in circles. */
enum { MAX_TURNS = 400000, MAX_TURNS_AT_ONCE = 5000 };

struct loop {
    uv_loop_t *uv;
    uv_handle_t **handles; /* those that are not closed */
    size_t count, capacity;
    int64_t now_ms; /* as of the turn's beginning */
    int64_t turns, turns_at_once;
};

static struct loop *loop_of(const uv_loop_t *uv)
{
    struct loop *loop = world_get()->loop;

    if (loop == NULL || loop->uv != uv)
        world_fail("a loop is used that is closed");
    return loop;
}

int uv_loop_init(uv_loop_t *uv)
{
    struct loop *loop = mem_zero(sizeof(*loop));

    if (world_get()->loop != NULL)
        world_fail("a second loop is opened");
    loop->uv = uv;
    loop->now_ms = world_get()->now_ms;
    world_get()->loop = loop;
    return 0;
}

int uv_loop_close(uv_loop_t *uv)
{
    struct loop *loop = loop_of(uv);

    if (loop->count > 0)
        world_fail("the loop is closed while %zu handles are open",
                   loop->count);
    loop_forget(world_get());
    return 0;
}

void loop_forget(struct world *world)
{
    if (world->loop == NULL)
        return;
    free(world->loop->handles);
    free(world->loop);
    world->loop = NULL;
}

/* -- Handles --------------------------------------------------------------*/

static int init(uv_loop_t *uv, uv_handle_t *handle, uv_handle_type type)
{
    struct loop *loop = loop_of(uv);

    handle->loop = uv;
    handle->type = type;
    handle->flags = 0;
    loop->handles = mem_grow(loop->handles, loop->count, &loop->capacity,
                             sizeof(uv_handle_t *));
    loop->handles[loop->count++] = handle;
    return 0;
}

static int set_active(uv_handle_t *handle, bool active)
{
    if (handle->flags & FLAG_CLOSING)
        return UV_EINVAL;
    handle->flags &= ~(unsigned)FLAG_ACTIVE;
    handle->flags |= active ? FLAG_ACTIVE : 0;
    return 0;
}

static bool is_active(const uv_handle_t *handle, uv_handle_type type)
{
    return handle->type == type && (handle->flags & FLAG_ACTIVE) != 0;
}

int uv_prepare_init(uv_loop_t *uv, uv_prepare_t *handle)
{
    return init(uv, (uv_handle_t *)handle, UV_PREPARE);
}

int uv_prepare_start(uv_prepare_t *handle, uv_prepare_cb run)
{
    handle->prepare_cb = run;
    return set_active((uv_handle_t *)handle, true);
}

int uv_idle_init(uv_loop_t *uv, uv_idle_t *handle)
{
    return init(uv, (uv_handle_t *)handle, UV_IDLE);
}

int uv_idle_start(uv_idle_t *handle, uv_idle_cb run)
{
    handle->idle_cb = run;
    return set_active((uv_handle_t *)handle, true);
}

int uv_idle_stop(uv_idle_t *handle)
{
    return set_active((uv_handle_t *)handle, false);
}

int uv_timer_init(uv_loop_t *uv, uv_timer_t *handle)
{
    return init(uv, (uv_handle_t *)handle, UV_TIMER);
}

int uv_timer_start(uv_timer_t *handle, uv_timer_cb run, uint64_t timeout_ms,
                   uint64_t repeat_ms)
{
    handle->timer_cb = run;
    handle->timeout = (uint64_t)loop_of(handle->loop)->now_ms + timeout_ms;
    handle->repeat = repeat_ms;
    return set_active((uv_handle_t *)handle, true);
}

int uv_timer_stop(uv_timer_t *handle)
{
    return set_active((uv_handle_t *)handle, false);
}

void uv_timer_set_repeat(uv_timer_t *handle, uint64_t repeat_ms)
{
    handle->repeat = repeat_ms;
}

/* The engine's socket, and who talks to it there, are real. */
int uv_poll_init(uv_loop_t *uv, uv_poll_t *handle, int fd)
{
    handle->io_watcher.fd = fd;
    return init(uv, (uv_handle_t *)handle, UV_POLL);
}

int uv_poll_start(uv_poll_t *handle, int events, uv_poll_cb run)
{
    handle->io_watcher.pevents = (unsigned)events;
    handle->poll_cb = run;
    return set_active((uv_handle_t *)handle, true);
}

int uv_poll_stop(uv_poll_t *handle)
{
    return set_active((uv_handle_t *)handle, false);
}

const char *uv_strerror(int code)
{
    (void)code;
    return "an error";
}

int uv_signal_init(uv_loop_t *uv, uv_signal_t *handle)
{
    return init(uv, (uv_handle_t *)handle, UV_SIGNAL);
}

int uv_signal_start(uv_signal_t *handle, uv_signal_cb run, int number)
{
    handle->signal_cb = run;
    handle->signum = number;
    return set_active((uv_handle_t *)handle, true);
}

void uv_ref(uv_handle_t *handle)
{
    handle->flags &= ~FLAG_UNREFERENCED;
}

void uv_unref(uv_handle_t *handle)
{
    handle->flags |= FLAG_UNREFERENCED;
}

int uv_is_closing(const uv_handle_t *handle)
{
    return (handle->flags & (FLAG_CLOSING | FLAG_CLOSED)) != 0;
}

int uv_is_active(const uv_handle_t *handle)
{
    return (handle->flags & FLAG_ACTIVE) != 0;
}

void uv_close(uv_handle_t *handle, uv_close_cb closed)
{
    if (uv_is_closing(handle))
        world_fail("a handle is closed twice");
    set_active(handle, false);
    handle->flags |= FLAG_CLOSING;
    handle->close_cb = closed;
}

/* Work that a thread would do is done when it is over. */
struct errand {
    uv_timer_t timer;
    uv_work_t *work;
    uv_work_cb run;
    uv_after_work_cb done;
};

static void free_errand(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_errand(uv_timer_t *timer)
{
    struct errand *errand = timer->data;

    uv_close((uv_handle_t *)timer, free_errand);
    errand->run(errand->work);
    errand->done(errand->work, 0);
}

int uv_queue_work(uv_loop_t *uv, uv_work_t *work, uv_work_cb run,
                  uv_after_work_cb done)
{
    struct errand *errand = mem_zero(sizeof(*errand));

    errand->work = work;
    errand->run = run;
    errand->done = done;
    uv_timer_init(uv, &errand->timer);
    errand->timer.data = errand;
    return uv_timer_start(&errand->timer, on_errand,
                          (uint64_t)rng_magnitude(&world_get()->rng, 1, 1000),
                          0);
}

/* -- A turn ---------------------------------------------------------------*/

static void run_timers(struct loop *loop)
{
    struct rng *rng = &world_get()->rng;

    for (;;) {
        uv_timer_t *first = NULL;

        for (size_t i = 0; i < loop->count; i++) {
            uv_timer_t *timer = (uv_timer_t *)loop->handles[i];

            if (!is_active(loop->handles[i], UV_TIMER) ||
                (int64_t)timer->timeout > loop->now_ms)
                continue;
            if (first == NULL || timer->timeout < first->timeout ||
                (timer->timeout == first->timeout && rng_percent(rng, 50)))
                first = timer;
        }
        if (first == NULL)
            return;
        if (first->repeat > 0)
            first->timeout = (uint64_t)loop->now_ms + first->repeat;
        else
            uv_timer_stop(first);
        first->timer_cb(first);
    }
}

static void run_each(struct loop *loop, uv_handle_type type)
{
    for (size_t i = 0; i < loop->count; i++) {
        uv_handle_t *handle = loop->handles[i];

        if (!is_active(handle, type))
            continue;
        if (type == UV_IDLE)
            ((uv_idle_t *)handle)->idle_cb((uv_idle_t *)handle);
        else
            ((uv_prepare_t *)handle)->prepare_cb((uv_prepare_t *)handle);
    }
}

static const struct {
    int event;
    short polled;
} poll_events[] = {
    {UV_READABLE, POLLIN},
    {UV_WRITABLE, POLLOUT},
    {UV_DISCONNECT, POLLRDHUP},
};

/* What has come for a handle, as libuv says it. */
static int look_at(const uv_poll_t *handle)
{
    struct pollfd file = {.fd = handle->io_watcher.fd};
    int wanted = (int)handle->io_watcher.pevents, came = 0;

    for (size_t i = 0; i < ARRAY_LEN(poll_events); i++) {
        if (wanted & poll_events[i].event)
            file.events |= poll_events[i].polled;
    }
    if (poll(&file, 1, 0) <= 0)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(poll_events); i++) {
        if (file.revents & poll_events[i].polled)
            came |= poll_events[i].event;
    }
    return came != 0 ? came : wanted; /* an error alone: all are told */
}

/* In the turn in which somebody writes it is heard. */
static void run_files(struct loop *loop)
{
    if (!clients_are_there(world_get()))
        return;
    for (size_t i = 0; i < loop->count; i++) {
        uv_poll_t *handle = (uv_poll_t *)loop->handles[i];
        int came = is_active(loop->handles[i], UV_POLL) ? look_at(handle) : 0;

        if (came != 0)
            handle->poll_cb(handle, 0, came);
    }
    clients_hear(world_get());
}

static void run_closing(struct loop *loop)
{
    size_t kept = 0, count = loop->count;
    uv_handle_t **closing = mem_array(count, sizeof(uv_handle_t *));
    size_t closing_count = 0;

    for (size_t i = 0; i < count; i++) {
        uv_handle_t *handle = loop->handles[i];

        if (handle->flags & FLAG_CLOSING)
            closing[closing_count++] = handle;
        else
            loop->handles[kept++] = handle;
    }
    loop->count = kept;
    for (size_t i = 0; i < closing_count; i++) {
        closing[i]->flags = FLAG_CLOSED;
        if (closing[i]->close_cb != NULL)
            closing[i]->close_cb(closing[i]);
    }
    free(closing);
}

static bool has(const struct loop *loop, unsigned flag)
{
    for (size_t i = 0; i < loop->count; i++) {
        unsigned flags = loop->handles[i]->flags;

        if ((flags & flag) != 0 && (flags & FLAG_UNREFERENCED) == 0)
            return true;
    }
    return false;
}

/* Closing ones count whether they are referenced or not. */
static bool has_closing(const struct loop *loop)
{
    for (size_t i = 0; i < loop->count; i++) {
        if (loop->handles[i]->flags & FLAG_CLOSING)
            return true;
    }
    return false;
}

static bool has_idle(const struct loop *loop)
{
    for (size_t i = 0; i < loop->count; i++) {
        if (is_active(loop->handles[i], UV_IDLE))
            return true;
    }
    return false;
}

/* When `poll` ends at the latest. */
static int64_t wait_until_ms(const struct loop *loop)
{
    struct world *world = world_get();
    int64_t until_ms = world_next_ms(world);

    if (has_idle(loop) || has_closing(loop) || !has(loop, FLAG_ACTIVE))
        return world->now_ms;
    for (size_t i = 0; i < loop->count; i++) {
        const uv_timer_t *timer = (const uv_timer_t *)loop->handles[i];

        if (is_active(loop->handles[i], UV_TIMER) &&
            (int64_t)timer->timeout < until_ms)
            until_ms = (int64_t)timer->timeout;
    }
    if (until_ms == INT64_MAX)
        world_fail("the loop waits for nothing");
    return until_ms;
}

static void poll_world(struct loop *loop)
{
    struct world *world = world_get();
    int64_t before_ms = loop->now_ms, until_ms = wait_until_ms(loop);

    if (until_ms > world->now_ms && rng_percent(&world->rng, 10))
        until_ms += rng_magnitude(&world->rng, 1, 30); /* a busy machine */
    world_advance(world, until_ms);
    loop->now_ms = world->now_ms;
    loop->turns_at_once =
        loop->now_ms > before_ms ? 0 : loop->turns_at_once + 1;
    if (++loop->turns > MAX_TURNS || loop->turns_at_once > MAX_TURNS_AT_ONCE)
        world_fail("the loop goes round and round: %" PRId64 " turns",
                   loop->turns);
}

int uv_run(uv_loop_t *uv, uv_run_mode mode)
{
    struct loop *loop = loop_of(uv);

    if (mode != UV_RUN_DEFAULT)
        world_fail("uv_run: mode %d is not simulated", (int)mode);
    while (has(loop, FLAG_ACTIVE) || has_closing(loop)) {
        loop->now_ms = world_get()->now_ms;
        run_timers(loop);
        run_each(loop, UV_IDLE);
        run_each(loop, UV_PREPARE);
        poll_world(loop);
        run_files(loop);
        run_closing(loop);
    }
    return 0;
}

void loop_signal(struct world *world, int signal)
{
    for (size_t i = 0; world->loop != NULL && i < world->loop->count; i++) {
        uv_signal_t *handle = (uv_signal_t *)world->loop->handles[i];

        if (!is_active(world->loop->handles[i], UV_SIGNAL) ||
            handle->signum != signal)
            continue;
        handle->signal_cb(handle, signal);
        return;
    }
}
