/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "executors/attempt/attempt_file.h"
#include "executors/attempt/kind.h"
#include "executors/attempt/pulse.h"
#include "executors/slurm/core.h"
#include "executors/slurm/preview.h"

/*
 * Attempts as jobs of Slurm. Who starts what is decided by the claim in the
 * attempt's directory, never by what Slurm says: a job may be submitted twice,
 * forgotten, or started again, and the command runs once all the same. Slurm is
 * asked, in few requests, where jobs are and why they ended; how attempts begin
 * and end is seen in their files.
 */

const struct slurm_mode *const slurm_modes[SLURM_MODES] = {&slurm_wave,
                                                           &slurm_pilot};

enum { BEAT_MS = 2000 }; /* the engine's own pulse, for reserves */

static const struct slurm_options fallback = {
    .heartbeat_ms = 10000,
    .silence_ms = 60000,
    .poll_ms = 5000,
    .transport = "commands",
};

/* -- What the modes ask for -----------------------------------------------*/

uv_loop_t *slurm_loop(const struct slurm *slurm)
{
    return slurm->loop;
}

const struct slurm_options *slurm_options(const struct slurm *slurm)
{
    return &slurm->options;
}

struct slurm_transport *slurm_transport(const struct slurm *slurm)
{
    return slurm->transport;
}

const struct slurm_site *slurm_site(const struct slurm *slurm)
{
    return slurm->has_site ? &slurm->site : NULL;
}

const char *slurm_folder(const struct slurm *slurm)
{
    return slurm->names.folder;
}

const char *const *slurm_avoided(const struct slurm *slurm)
{
    return slurm->nodes.all;
}

int slurm_parallel(const struct slurm *slurm)
{
    return slurm->parallel;
}

bool slurm_has_queued(const struct slurm *slurm)
{
    return slurm_flights_have_queued(&slurm->flights, &slurm_wave);
}

bool slurm_flight_displaced(struct slurm *slurm, struct slurm_flight *flight,
                            const char *why)
{
    const struct attempt_spec *spec = &flight->request->spec;
    struct attempt_exit end = {.attempt = spec->attempt,
                               .cause = CAUSE_LOST,
                               .exit_code = -1,
                               .is_displaced = true};
    struct claim claim;

    if (claim_judge(spec->directory, spec->attempt, &claim, NULL) != CLAIM_VOID)
        return false;
    end.started_ms = end.ended_ms = clock_wall_ms();
    snprintf(end.text, sizeof(end.text), "%s", why);
    slurm_flight_ended(slurm, flight, &end);
    return true;
}

/* -- The loop -------------------------------------------------------------*/

static void on_turn(uv_idle_t *idle)
{
    struct slurm *slurm = idle->data;

    uv_idle_stop(idle);
    slurm_accounts_ask(slurm);
    slurm_events_tell(slurm);
}

void slurm_turn_soon(struct slurm *slurm)
{
    if (!slurm->is_closing)
        uv_idle_start(&slurm->turn, on_turn);
}

static void on_tick(uv_timer_t *timer)
{
    struct slurm *slurm = timer->data;
    int64_t now_ms = clock_monotonic_ms();
    struct err err;

    for (size_t i = 0; i < SLURM_MODES; i++)
        slurm_modes[i]->tick(slurm->modes[i], now_ms);
    if (slurm->beat_ms <= now_ms) {
        pulse_beat(slurm->names.folder, NULL);
        slurm->beat_ms = now_ms + BEAT_MS;
    }
    if (slurm->describe_ms != 0 && slurm->describe_ms <= now_ms)
        slurm_describe(slurm);
    if (slurm_is_unreached(slurm, now_ms, &err))
        slurm_events_break(slurm, &err);
    slurm_accounts_ask(slurm);
}

/* -- The interface --------------------------------------------------------*/

/* Whether any has left jobs in the queue that nobody waits for. */
static bool destroy_modes(struct slurm *slurm)
{
    bool has_left = false;

    for (size_t i = 0; i < SLURM_MODES; i++) {
        if (slurm->modes[i] != NULL)
            has_left |= slurm_modes[i]->destroy(slurm->modes[i]);
    }
    return has_left;
}

static void clear(struct slurm *slurm)
{
    slurm_names_clear(&slurm->names);
    slurm_labels_clear(&slurm->labels);
    slurm_events_clear(&slurm->news);
    slurm_flights_clear(&slurm->flights);
    slurm_nodes_clear(&slurm->nodes);
    slurm_accounts_clear(&slurm->accounts);
    slurm_cancels_clear(&slurm->cancels);
    slurm_site_clear(&slurm->site);
}

static int create_modes(struct slurm *slurm, struct err *err)
{
    for (size_t i = 0; i < SLURM_MODES; i++) {
        slurm->modes[i] = slurm_modes[i]->create(slurm, err);
        if (slurm->modes[i] == NULL)
            return -1;
    }
    return 0;
}

static void open_loop(struct slurm *slurm)
{
    uv_timer_init(slurm->loop, &slurm->tick);
    uv_idle_init(slurm->loop, &slurm->turn);
    slurm->tick.data = slurm->turn.data = slurm;
    uv_timer_start(&slurm->tick, on_tick, SLURM_TICK_MS, SLURM_TICK_MS);
    slurm_watch_start(slurm);
    slurm->opened_ms = clock_monotonic_ms();
    slurm_describe(slurm);
}

static struct executor *slurm_create(uv_loop_t *loop,
                                     const struct executor_options *options,
                                     const struct executor_events *events,
                                     struct err *err)
{
    struct slurm *slurm = mem_zero(sizeof(*slurm));

    slurm->base.type = &executor_slurm;
    slurm->events = *events;
    slurm->options = options->slurm != NULL ? *options->slurm : fallback;
    slurm->options.log = options->log;
    slurm->loop = loop;
    slurm->parallel = options->parallel > 0 ? options->parallel : 1;
    if (slurm_names_open(&slurm->names, options->state_directory, err) != 0 ||
        slurm_labels_open(&slurm->labels, options, err) != 0 ||
        create_modes(slurm, err) != 0)
        goto fail;
    slurm->transport = slurm_transport_create(loop, &slurm->options, err);
    if (slurm->transport == NULL)
        goto fail;
    open_loop(slurm);
    return &slurm->base;
fail:
    destroy_modes(slurm);
    clear(slurm);
    free(slurm);
    return NULL;
}

static void on_part_closed(void *user)
{
    struct slurm *slurm = user;

    if (--slurm->open_parts > 0)
        return;
    slurm->done(slurm->done_user);
    free(slurm);
}

static void on_handle_closed(uv_handle_t *handle)
{
    on_part_closed(handle->data);
}

static void on_left(struct slurm *slurm)
{
    clear(slurm);
    on_part_closed(slurm);
}

static void slurm_destroy(struct executor *executor, void (*done)(void *user),
                          void *user)
{
    struct slurm *slurm = (struct slurm *)executor;
    bool has_left = destroy_modes(slurm);

    slurm->is_closing = true;
    slurm->done = done;
    slurm->done_user = user;
    slurm->open_parts = 5;
    uv_close((uv_handle_t *)&slurm->tick, on_handle_closed);
    uv_close((uv_handle_t *)&slurm->turn, on_handle_closed);
    uv_close((uv_handle_t *)&slurm->watch.timer, on_handle_closed);
    slurm->transport->type->destroy(slurm->transport, on_part_closed, slurm);
    if (has_left || slurm->cancels.first != NULL)
        slurm_withdraw_leftovers(slurm, on_left);
    else
        on_left(slurm);
}

static const char *const carriers[] = {
    [SLURM_BY_JOB] = "jobs",
    [SLURM_BY_ARRAY] = "arrays",
    [SLURM_BY_PILOT] = "tasks in pilots",
};

static size_t mode_of_choice(enum slurm_choice choice)
{
    return choice == SLURM_BY_PILOT ? SLURM_MODES - 1 : 0;
}

static enum start_result slurm_start(struct executor *executor,
                                     const struct attempt_spec *spec,
                                     /* NOLINTNEXTLINE: a slot's type */
                                     uint32_t *lacks, struct err *err)
{
    struct slurm *slurm = (struct slurm *)executor;
    struct slurm_flight *flight;
    const char *why = NULL;
    enum start_result result = START_FULL;
    size_t mode;
    const struct slurm_scene scene = {&slurm->options, &slurm->pace,
                                      slurm_site(slurm), slurm->parallel};
    int choice = slurm_choose(spec, &scene, &why, err);

    (void)lacks; /* all wait for the same */
    if (choice < 0 || executor_check_pools(spec, err) != 0)
        return START_ERROR;
    mode = mode_of_choice((enum slurm_choice)choice);
    if (why != NULL && why != slurm->why)
        slurm_note(slurm, "slurm runs attempts as %s: %s", carriers[choice],
                   why);
    slurm->why = why;
    /* Pilots keep some ahead, and say themselves when they are full. */
    if (choice == SLURM_BY_PILOT ||
        slurm->flights.count < (size_t)slurm->parallel) {
        flight = slurm_flight_create(spec);
        flight->choice = (enum slurm_choice)choice;
        flight->mode = slurm_modes[mode];
        result = flight->mode->start(slurm->modes[mode], flight, err);
        if (result == START_OK)
            slurm_flights_add(&slurm->flights, flight);
        else
            slurm_flight_destroy(flight);
    }
    slurm->was_refused |= result == START_FULL;
    return result;
}

static void *self_of(const struct slurm *slurm, const struct slurm_mode *mode)
{
    size_t i = 0;

    while (i + 1 < SLURM_MODES && slurm_modes[i] != mode)
        i++;
    return slurm->modes[i];
}

static void slurm_cancel(struct executor *executor, int64_t attempt,
                         enum cancel_mode mode)
{
    struct slurm *slurm = (struct slurm *)executor;
    struct slurm_flight *flight = slurm_flights_find(&slurm->flights, attempt);

    if (flight == NULL || (flight->is_cancelled && flight->cancel_mode == mode))
        return;
    flight->is_cancelled = true;
    flight->cancel_mode = mode;
    pulse_mark(flight->request->spec.directory, PULSE_ASKED, NULL);
    flight->mode->cancel(self_of(slurm, flight->mode), flight);
}

/* The mode whose job the name is; NULL for none. */
static const struct slurm_mode *mode_of_name(const struct slurm *slurm,
                                             const char *name)
{
    size_t length = strlen(slurm->names.prefix);

    if (strncmp(name, slurm->names.prefix, length) != 0 || name[length] == '\0')
        return NULL;
    for (size_t i = 0; i < SLURM_MODES; i++) {
        if (strchr(slurm_modes[i]->letters, name[length]) != NULL)
            return slurm_modes[i];
    }
    return NULL;
}

/* Returns 0 where it is taken up, 1 where it never will be started. */
static int take_up(struct slurm *slurm, struct slurm_flight *flight,
                   struct err *err)
{
    const struct attempt_spec *spec = &flight->request->spec;
    struct slurm_handle handle;
    struct claim claim;
    int state;

    if (slurm_handle_read(spec->directory, &handle) == 0)
        flight->mode = mode_of_name(slurm, handle.name);
    if (flight->mode == NULL) {
        state = claim_judge(spec->directory, spec->attempt, &claim, err);
        if (state == CLAIM_VOID || state < 0)
            return state == CLAIM_VOID ? 1 : -1;
        return err_set(err, ERR_FAILED,
                       "attempt %" PRId64
                       " was started by another executor than slurm",
                       spec->attempt);
    }
    if (claim_read(spec->directory, &claim) == 1 && claim.pid == 0)
        return 1;
    return flight->mode->reattach(self_of(slurm, flight->mode), flight, &handle,
                                  err);
}

/* One that a signal ended which no engine sent goes on until Slurm has said who
 * did. */
static int slurm_reattach(struct executor *executor,
                          const struct attempt_spec *spec, struct err *err)
{
    struct slurm *slurm = (struct slurm *)executor;
    struct attempt_exit end;
    struct slurm_flight *flight;
    int found = exit_read(spec->directory, spec->attempt, &end);
    int result = 1;

    if (found < 0)
        return err_set(err, ERR_FAILED,
                       "cannot read the exit file of attempt %" PRId64,
                       spec->attempt);
    flight = slurm_flight_create(spec);
    if (found == 0 || slurm_is_unasked(flight, &end))
        result = take_up(slurm, flight, err);
    if (found == 0 && result != 0) {
        slurm_flight_destroy(flight);
        return result;
    }
    slurm_flights_add(&slurm->flights, flight);
    if (result != 0)
        slurm_flight_ended(slurm, flight, &end);
    return 0;
}

static void slurm_avoid(struct executor *executor, const char *const *nodes)
{
    slurm_nodes_give(&((struct slurm *)executor)->nodes, nodes);
}

/* A cluster has what it has. */
static int not_known(const struct executor *executor)
{
    (void)executor;
    return 0;
}

const struct executor_type executor_slurm = {
    .name = "slurm",
    .has_reserves = true,
    .create = slurm_create,
    .destroy = slurm_destroy,
    .start = slurm_start,
    .cancel = slurm_cancel,
    .reattach = slurm_reattach,
    .avoid = slurm_avoid,
    .cpus = not_known,
    .gpus = not_known,
    .check = slurm_check,
    .preview = slurm_preview,
};
