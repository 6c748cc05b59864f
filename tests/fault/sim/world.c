/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/world.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/fault/sim/folders.h"

enum {
    STREAM_WORLD = 1,
    EPOCH_S = 1760000000, /* where the wall clock begins */
    STEPS_A_MS = 48       /* how many calls of the engine take a millisecond */
};

struct world_event {
    struct world_event *next;
    int64_t time_ms;
    void (*run)(void *user);
    void *user;
};

/* See world.h: what takes the place of clock_wall_ms() has no argument. */
static struct world *current;

struct world *world_create(uint64_t seed, enum world_sabotage sabotage,
                           bool is_traced)
{
    struct world *world = mem_zero(sizeof(*world));

    world->seed = seed;
    world->sabotage = sabotage;
    world->is_traced = is_traced;
    world->wall_offset_ms = INT64_C(1000) * EPOCH_S;
    rng_init(&world->rng, seed, 0, STREAM_WORLD);
    world->folders = folders_create();
    current = world;
    return world;
}

void world_destroy(struct world *world)
{
    while (world->events != NULL)
        world_cancel(world, world->events);
    current = NULL;
    folders_destroy(world->folders);
    free(world);
}

struct world *world_get(void)
{
    return current;
}

/* -- Chance ---------------------------------------------------------------*/

int64_t rng_between(struct rng *rng, int64_t low, int64_t high)
{
    return low + (int64_t)rng_below(rng, (uint64_t)(high - low) + 1);
}

int64_t rng_magnitude(struct rng *rng, int64_t low, int64_t high)
{
    double scale = log((double)high + 1.0) - log((double)low);

    return (int64_t)((double)low * exp(rng_uniform(rng) * scale));
}

bool rng_percent(struct rng *rng, int percent)
{
    return rng_below(rng, 100) < (uint64_t)percent;
}

/* -- Time -----------------------------------------------------------------*/

struct world_event *world_schedule(struct world *world, int64_t time_ms,
                                   void (*run)(void *user), void *user)
{
    struct world_event *event = mem_zero(sizeof(*event));
    struct world_event **link = &world->events;

    event->time_ms = time_ms > world->now_ms ? time_ms : world->now_ms;
    event->run = run;
    event->user = user;
    while (*link != NULL && ((*link)->time_ms < event->time_ms ||
                             ((*link)->time_ms == event->time_ms &&
                              rng_percent(&world->rng, 50))))
        link = &(*link)->next;
    event->next = *link;
    *link = event;
    return event;
}

void world_cancel(struct world *world, struct world_event *event)
{
    struct world_event **link = &world->events;

    if (event == NULL)
        return;
    while (*link != event)
        link = &(*link)->next;
    *link = event->next;
    free(event);
}

void world_cancel_all(struct world *world, const void *user)
{
    struct world_event *event = world->events, *next;

    for (; event != NULL; event = next) {
        next = event->next;
        if (event->user == user)
            world_cancel(world, event);
    }
}

int64_t world_next_ms(const struct world *world)
{
    return world->events != NULL ? world->events->time_ms : INT64_MAX;
}

void world_advance(struct world *world, int64_t time_ms)
{
    while (world_next_ms(world) <= time_ms) {
        struct world_event event = *world->events;

        world_cancel(world, world->events);
        if (event.time_ms > world->now_ms)
            world->now_ms = event.time_ms;
        event.run(event.user);
    }
    if (time_ms > world->now_ms)
        world->now_ms = time_ms;
}

/* -- Ends -----------------------------------------------------------------*/

void world_step(void)
{
    struct world *world = current;

    if (!world->is_armed)
        return;
    if (++world->steps == world->crash_at_step)
        world_crash(world);
    if (rng_below(&world->rng, STEPS_A_MS) == 0)
        world->now_ms++;
}

void world_crash(struct world *world)
{
    world_trace("the %s at step %" PRId64,
                world->crash == CRASH_POWER ? "power goes" : "engine is killed",
                world->steps);
    longjmp(world->crashed, 1);
}

void world_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(current->failure, sizeof(current->failure), format, arguments);
    va_end(arguments);
    longjmp(current->failed, 1);
}

void world_trace(const char *format, ...)
{
    va_list arguments;

    if (!current->is_traced)
        return;
    printf("%10.3f  ", (double)current->now_ms / 1e3);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}
