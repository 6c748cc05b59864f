/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/site_impl.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/fault/sim/checkpoint.h"
#include "tests/fault/sim/fate.h"
#include "tests/fault/sim/temps.h"

/* The life of an attempt: it begins, writes its log, ends, and the engine is
 * told. */

/* -- Words to the engine --------------------------------------------------*/

static bool is_heard(const struct site_attempt *attempt)
{
    return attempt->site->is_attached &&
           attempt->engine == attempt->site->engine;
}

static void say_started(void *user)
{
    struct site_attempt *attempt = user;
    struct site *site = attempt->site;

    attempt->next_word = NULL;
    site->events.started(site->events.user, attempt->id);
}

static void say_ended(void *user)
{
    struct site_attempt *attempt = user;
    struct site *site = attempt->site;
    struct attempt_exit end = attempt->end;

    attempt->next_word = NULL;
    if (!attempt->has_exit && attempt->began) {
        end.cause = CAUSE_LOST;
        end.exit_code = -1;
        end.signal = 0;
    }
    attempt->end = end;
    attempt->told_ms = site->world->now_ms;
    attempt->told_engine = site->engine;
    attempt->told_wall_offset_ms = site->world->wall_offset_ms;
    site->events.ended(site->events.user, &end);
}

/* After a while, and in place of what was not said yet. */
static void say(struct site_attempt *attempt, void (*word)(void *user))
{
    struct world *world = attempt->site->world;
    int64_t delay_ms =
        rng_between(&world->rng, 0, attempt->site->habits.max_delay_ms);

    if (!is_heard(attempt))
        return;
    world_cancel(world, attempt->next_word);
    attempt->next_word =
        world_schedule(world, world->now_ms + delay_ms, word, attempt);
}

void life_tell_end(struct site_attempt *attempt)
{
    say(attempt, say_ended);
}

/* -- The life of an attempt -----------------------------------------------*/

static int64_t count_running(const struct site *site, int64_t agent)
{
    int64_t count = 0;

    for (const struct site_attempt *a = site->first; a != NULL; a = a->next)
        count += a->phase == SITE_RUNNING && (agent == 0 || a->agent == agent);
    return count;
}

static void write_log(struct site_attempt *attempt, size_t until)
{
    char *path = mem_printf("%s/log", attempt->directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    size_t length = until - attempt->log_written;

    if (fd < 0 || write(fd, attempt->log + attempt->log_written, length) !=
                      (ssize_t)length)
        world_fail("attempt %" PRId64 " has no directory to write to",
                   attempt->id);
    close(fd);
    free(path);
    attempt->log_written = until;
    attempt->has_spoken |= length > 0;
}

static void on_write(void *user)
{
    struct site_attempt *attempt = user;
    struct world *world = attempt->site->world;
    size_t rest = attempt->log_length - attempt->log_written;

    attempt->next_write = NULL;
    write_log(attempt, attempt->log_written +
                           (size_t)rng_between(&world->rng, 0, (int64_t)rest));
}

void life_finish(struct site_attempt *attempt)
{
    struct world *world = attempt->site->world;

    world_cancel(world, attempt->next_event);
    world_cancel(world, attempt->next_write);
    attempt->next_event = attempt->next_write = NULL;
    attempt->phase = SITE_ENDED;
    attempt->end_ms = world->now_ms;
    attempt->end.ended_ms = world->now_ms + world->wall_offset_ms;
}

static void on_end(void *user)
{
    struct site_attempt *attempt = user;

    attempt->next_event = NULL;
    if (attempt->end.cause != CAUSE_CANCELLED)
        write_log(attempt, attempt->log_length);
    checkpoint_leave(attempt, fate_level(attempt, &attempt->site->habits,
                                         attempt->site->world->seed));
    life_finish(attempt);
    if (attempt->end.cause == CAUSE_OK)
        temps_leave(attempt);
    attempt->has_exit = attempt->end.cause != CAUSE_LOST;
    world_trace("attempt %" PRId64 ": ends (%s)", attempt->id,
                attempt_cause_names[attempt->end.cause]);
    life_tell_end(attempt);
    life_begin_queued(attempt->site);
}

void life_end_at(struct site_attempt *attempt, int64_t time_ms)
{
    struct world *world = attempt->site->world;

    attempt->end_ms = time_ms;
    world_cancel(world, attempt->next_event);
    attempt->next_event = world_schedule(world, time_ms, on_end, attempt);
}

static void check_begin(const struct site_attempt *attempt)
{
    const struct site *site = attempt->site;
    int64_t running = count_running(site, 0);

    if (attempt->began || attempt->phase != SITE_QUEUED)
        world_fail("attempt %" PRId64 " begins twice", attempt->id);
    for (const struct site_attempt *a = site->first; a != NULL; a = a->next) {
        if (a->phase == SITE_RUNNING && a->trial == attempt->trial)
            world_fail("attempts %" PRId64 " and %" PRId64 " of trial %" PRId64
                       " run at once",
                       a->id, attempt->id, a->trial);
    }
    if (running >= site->habits.parallel)
        world_fail("%" PRId64 " attempts run at once, and %d may", running + 1,
                   site->habits.parallel);
}

/* Of its trial, the last one that began before it; or NULL. */
static const struct site_attempt *before(const struct site_attempt *attempt)
{
    const struct site_attempt *a = attempt->site->first, *last = NULL;

    for (; a != attempt; a = a->next)
        if (a->trial == attempt->trial && a->began)
            last = a;
    return last;
}

static void on_begin(void *user)
{
    struct site_attempt *attempt = user;
    struct world *world = attempt->site->world;
    int64_t length_ms = attempt->end_ms;

    attempt->next_event = NULL;
    check_begin(attempt);
    attempt->has_claim = true;
    if (attempt->end.cause == CAUSE_LAUNCH_ERROR) {
        life_finish(attempt);
        attempt->has_exit = true;
        life_tell_end(attempt);
        life_begin_queued(attempt->site);
        return;
    }
    world_trace("attempt %" PRId64 ": begins, trial %" PRId64 " (%s)",
                attempt->id, attempt->trial, attempt->setting);
    checkpoint_take_up(attempt, before(attempt));
    fate_speak(attempt, &attempt->site->habits, world->seed);
    attempt->began = true;
    attempt->phase = SITE_RUNNING;
    attempt->begun_ms = world->now_ms;
    attempt->end.started_ms = world->now_ms + world->wall_offset_ms;
    life_end_at(attempt, world->now_ms + length_ms);
    if (rng_percent(&world->rng, 60))
        attempt->next_write = world_schedule(
            world, world->now_ms + rng_between(&world->rng, 0, length_ms),
            on_write, attempt);
    say(attempt, say_started);
}

void life_begin_queued(struct site *site)
{
    int64_t room = site->habits.parallel - count_running(site, site->engine);

    if (!site->is_attached)
        return;
    for (struct site_attempt *a = site->first; a != NULL && room > 0;
         a = a->next) {
        if (a->phase != SITE_QUEUED || a->engine != site->engine)
            continue;
        room--;
        if (a->next_event == NULL)
            a->next_event = world_schedule(
                site->world,
                site->world->now_ms + rng_between(&site->world->rng, 0, 5),
                on_begin, a);
    }
}
