/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/site.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/fault/sim/checkpoint.h"
#include "tests/fault/sim/clients.h"
#include "tests/fault/sim/fate.h"
#include "tests/fault/sim/folders.h"
#include "tests/fault/sim/record.h"

struct site {
    struct world *world;
    struct site_habits habits;
    struct site_attempt *first, **last;
    struct site_events events;
    bool is_attached;        /* an engine listens */
    struct witness *witness; /* as long as it does */
    int64_t engine;          /* how many there were */
};

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

/* -- The life of an attempt -----------------------------------------------*/

static int64_t count_running(const struct site *site, int64_t agent)
{
    int64_t count = 0;

    for (const struct site_attempt *a = site->first; a != NULL; a = a->next)
        count += a->phase == SITE_RUNNING && (agent == 0 || a->agent == agent);
    return count;
}

static void begin_queued(struct site *site);

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

static void finish(struct site_attempt *attempt)
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
    finish(attempt);
    attempt->has_exit = attempt->end.cause != CAUSE_LOST;
    world_trace("attempt %" PRId64 ": ends (%s)", attempt->id,
                attempt_cause_names[attempt->end.cause]);
    say(attempt, say_ended);
    begin_queued(attempt->site);
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
        finish(attempt);
        attempt->has_exit = true;
        say(attempt, say_ended);
        begin_queued(attempt->site);
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
    attempt->end_ms = world->now_ms + length_ms;
    attempt->next_event =
        world_schedule(world, attempt->end_ms, on_end, attempt);
    if (rng_percent(&world->rng, 60))
        attempt->next_write = world_schedule(
            world, world->now_ms + rng_between(&world->rng, 0, length_ms),
            on_write, attempt);
    say(attempt, say_started);
}

/* The agent of the engine that is there begins what there is room for. */
static void begin_queued(struct site *site)
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

/* -- Engines --------------------------------------------------------------*/

struct site *site_create(struct world *world, const struct site_habits *habits)
{
    struct site *site = mem_zero(sizeof(*site));

    site->world = world;
    site->habits = *habits;
    site->last = &site->first;
    return site;
}

void site_destroy(struct site *site)
{
    witness_destroy(site->witness);
    while (site->first != NULL) {
        struct site_attempt *attempt = site->first;

        site->first = attempt->next;
        free(attempt->directory);
        free(attempt->setting);
        free(attempt->log);
        free(attempt->checkpoints);
        free(attempt);
    }
    free(site);
}

void site_attach(struct site *site, const struct site_events *events)
{
    if (site->is_attached)
        world_fail("two engines have the run");
    site->events = *events;
    site->is_attached = true;
    site->engine++;
}

/* As the power goes, an attempt leaves of its files what was synced. */
static void lose_power(struct site_attempt *attempt)
{
    struct rng *rng = &attempt->site->world->rng;
    char *path;

    if (attempt->phase == SITE_RUNNING)
        finish(attempt);
    attempt->has_exit = attempt->has_exit && rng_percent(rng, 70);
    attempt->has_claim =
        attempt->has_exit || (attempt->has_claim && rng_percent(rng, 70));
    if (attempt->has_exit || attempt->log_written == 0)
        return;
    path = mem_printf("%s/log", attempt->directory);
    attempt->log_written =
        (size_t)rng_between(rng, 0, (int64_t)attempt->log_written);
    if (truncate(path, (off_t)attempt->log_written) != 0)
        world_fail("cannot truncate '%s'", path);
    free(path);
}

void site_lose_engine(struct site *site, bool power)
{
    struct world *world = site->world;

    site->is_attached = false;
    witness_destroy(site->witness);
    site->witness = NULL;
    for (struct site_attempt *a = site->first; a != NULL; a = a->next) {
        world_cancel(world, a->next_word);
        a->next_word = NULL;
        /* What the agent had not begun it never begins; it may be about to. */
        if (a->phase == SITE_QUEUED &&
            (power || rng_percent(&world->rng, 70))) {
            world_cancel(world, a->next_event);
            a->next_event = NULL;
        }
        if (power && a->told_ms == 0)
            lose_power(a);
    }
}

/* -- What engines do ------------------------------------------------------*/

static struct site_attempt *find(const struct site *site, int64_t id)
{
    struct site_attempt *attempt = site->first;

    while (attempt != NULL && attempt->id != id)
        attempt = attempt->next;
    return attempt;
}

static struct site_attempt *add(struct site *site,
                                const struct attempt_spec *spec)
{
    struct site_attempt *attempt = mem_zero(sizeof(*attempt));
    const char *name = strrchr(spec->directory, '/'); /* /TRIAL-NUMBER */

    attempt->site = site;
    attempt->id = spec->attempt;
    attempt->directory = mem_copy_string(spec->directory);
    attempt->trial = name != NULL ? strtoll(name + 1, NULL, 10) : 0;
    attempt->engine = site->engine;
    attempt->grace_ms = spec->grace_ms;
    attempt->end = (struct attempt_exit){.attempt = spec->attempt};
    *site->last = attempt;
    site->last = &attempt->next;
    return attempt;
}

void site_start(struct site *site, const struct attempt_spec *spec)
{
    struct site_attempt *attempt = find(site, spec->attempt);

    if (attempt != NULL)
        world_fail("attempt %" PRId64 " is started twice", spec->attempt);
    if (clients_have_paused(site->world))
        world_fail("attempt %" PRId64 " is started in a pause", spec->attempt);
    if (site->witness == NULL)
        site->witness = witness_create();
    if (!witness_knows(site->witness, spec->attempt))
        world_fail("attempt %" PRId64 " is started before it is in the record",
                   spec->attempt);
    if (!folders_last(site->world->folders, spec->directory))
        world_fail("attempt %" PRId64 " is started before its folder is synced",
                   spec->attempt);
    attempt = add(site, spec);
    world_trace("attempt %" PRId64 ": is handed over, trial %" PRId64,
                attempt->id, attempt->trial);
    attempt->agent = site->engine;
    attempt->handed_ms = site->world->now_ms;
    attempt->handed_wall_offset_ms = site->world->wall_offset_ms;
    attempt->handed_engine = site->engine;
    fate_draw(attempt, &site->habits, spec, site->world->seed);
    begin_queued(site);
}

void site_cancel(struct site *site, int64_t id, enum cancel_mode mode)
{
    struct site_attempt *attempt = find(site, id);
    struct world *world = site->world;
    int64_t end_ms = world->now_ms + rng_between(&world->rng, 0, 10);

    if (attempt == NULL || attempt->engine != site->engine)
        world_fail("attempt %" PRId64 " is cancelled, which no engine has", id);
    world_trace("attempt %" PRId64 ": is told to end", id);
    attempt->cancelled_engine = site->engine;
    if (attempt->phase == SITE_QUEUED) {
        finish(attempt);
        attempt->end.cause = CAUSE_CANCELLED;
        attempt->end.exit_code = -1;
        say(attempt, say_ended);
    }
    if (attempt->phase != SITE_RUNNING)
        return;
    if (mode == CANCEL_TERM && attempt->is_slow_to_end)
        end_ms += attempt->grace_ms;
    if (end_ms >= attempt->end_ms)
        return;
    attempt->end.cause = CAUSE_CANCELLED;
    attempt->end.exit_code = -1;
    attempt->end.signal = mode == CANCEL_KILL ? SIGKILL : SIGTERM;
    attempt->end_ms = end_ms;
    world_cancel(world, attempt->next_event);
    attempt->next_event = world_schedule(world, end_ms, on_end, attempt);
}

int site_reattach(struct site *site, const struct attempt_spec *spec)
{
    struct site_attempt *attempt = find(site, spec->attempt);

    if (attempt == NULL) {
        attempt = add(site, spec);
        attempt->phase = SITE_VOID;
    }
    if (strcmp(attempt->directory, spec->directory) != 0)
        world_fail("attempt %" PRId64 " is looked for in '%s', not in '%s'",
                   spec->attempt, spec->directory, attempt->directory);
    attempt->engine = site->engine;
    if (attempt->phase == SITE_QUEUED) {
        world_cancel(site->world, attempt->next_event);
        attempt->next_event = NULL;
        attempt->phase = SITE_VOID;
    }
    world_trace("attempt %" PRId64 ": is taken up, %s", attempt->id,
                attempt->phase == SITE_VOID      ? "never began"
                : attempt->phase == SITE_RUNNING ? "runs"
                                                 : "ended");
    if (attempt->phase == SITE_RUNNING &&
        site->world->sabotage == SABOTAGE_BLIND_SITE)
        return 1;
    if (attempt->phase == SITE_ENDED && !attempt->has_claim) {
        attempt->told_ms = site->world->now_ms;
        return 1;
    }
    if (attempt->phase == SITE_ENDED)
        say(attempt, say_ended);
    return attempt->phase == SITE_VOID;
}

/* -- Looking --------------------------------------------------------------*/

void site_check_idle(const struct site *site)
{
    for (const struct site_attempt *a = site->first; a != NULL; a = a->next) {
        if (a->phase == SITE_RUNNING ||
            (a->phase == SITE_QUEUED && a->next_event != NULL))
            world_fail("attempt %" PRId64 " of trial %" PRId64
                       " is left behind",
                       a->id, a->trial);
    }
}

const struct site_habits *site_habits_of(const struct site *site)
{
    return &site->habits;
}

const struct site_attempt *site_attempts(const struct site *site)
{
    return site->first;
}

const struct site_attempt *site_find(const struct site *site, int64_t id)
{
    return find(site, id);
}
