/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/site_impl.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/fault/sim/clients.h"
#include "tests/fault/sim/fate.h"
#include "tests/fault/sim/folders.h"
#include "tests/fault/sim/record.h"
#include "tests/fault/sim/temps.h"

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
        free(attempt->temp);
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
        life_finish(attempt);
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
    temps_read(attempt, spec);
    life_begin_queued(site);
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
        life_finish(attempt);
        attempt->end.cause = CAUSE_CANCELLED;
        attempt->end.exit_code = -1;
        life_tell_end(attempt);
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
    life_end_at(attempt, end_ms);
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
        life_tell_end(attempt);
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
