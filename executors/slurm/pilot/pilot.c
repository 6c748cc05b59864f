/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/attempt/backlog.h"
#include "executors/slurm/pilot/pilot_impl.h"

/*
 * The mode pilot: allocations of one node whose agent (smtune-shim --pilot)
 * runs one attempt after the other. Attempts wait here until a pilot has room
 * and get to it through files (pilot_spool.h); new pilots are submitted while
 * more wait than those in the queue will have room for. A turn, on a timer of
 * its own, reads what agents say and gives them what waits: quickly while
 * anything comes, seldom when nothing does.
 */

enum {
    WATCH_MS = 1000,  /* between two looks at pulses */
    HEAR_MS = 1000,   /* for pilots of an earlier engine to speak up */
    UNSURE_MS = 5000, /* before one that no answer came for counts as absent */
    MEAN_MS = 10000,  /* of durations, before any was seen */
    NEW_MS = 10000,   /* for so long a pilot may begin at any moment */
    NEW_POLL_MS = 20  /* and is looked for so often */
};

/* -- Room in pilots -------------------------------------------------------*/

/* Of the pilots that suit it: the first with room, or the least loaded that
 * takes some ahead. NULL where there is none: *lacks is 0 where none suits. */
static struct pilot *find_place(const struct pilots *pilots,
                                const struct slurm_flight *flight,
                                int64_t now_ms, uint32_t *lacks)
{
    struct pilot_room cost = pilot_room_of(&flight->request->spec);
    int64_t depth = pilot_depth_permille(pilots->mean_ms);
    struct pilot *best = NULL;
    struct buf kind = BUF_INIT;

    *lacks = 0;
    pilot_kind_of(flight->request->spec.slurm, &kind);
    for (struct pilot *p = pilots->first; p != NULL; p = p->next) {
        uint32_t short_of;

        if (p->phase != PILOT_READY ||
            !pilot_suits(p, flight, buf_text(&kind), now_ms))
            continue;
        short_of = pilot_room_lacks(&p->size, &p->used, &cost, 1000);
        if (short_of == 0) {
            best = p;
            break;
        }
        *lacks |= short_of;
        if (pilot_room_lacks(&p->size, &p->used, &cost, depth) == 0 &&
            (best == NULL || (int64_t)p->used.cpus * best->size.cpus <
                                 (int64_t)best->used.cpus * p->size.cpus))
            best = p;
    }
    buf_clear(&kind);
    return best;
}

void pilots_refuse(struct pilots *pilots, struct slurm_flight *flight,
                   enum attempt_cause cause, const char *text)
{
    struct attempt_exit end = {.attempt = flight->request->spec.attempt,
                               .cause = cause,
                               .exit_code = -1,
                               .started_ms = clock_wall_ms(),
                               .is_outside = cause == CAUSE_CANCELLED &&
                                             !flight->is_cancelled};

    end.ended_ms = end.started_ms;
    snprintf(end.text, sizeof(end.text), "%s", text);
    pilot_list_remove(&pilots->waiting, flight);
    slurm_flight_ended(pilots->slurm, flight, &end);
}

static void give(struct pilots *pilots, struct pilot *pilot,
                 struct slurm_flight *flight)
{
    struct err err = {.text = ""};

    pilot_list_remove(&pilots->waiting, flight);
    if (pilot_give(pilot, flight, &err) == 0)
        return;
    pilot_list_add(&pilots->waiting, flight);
    pilots_refuse(pilots, flight, CAUSE_LAUNCH_ERROR, err.text);
}

static bool is_any_ready(const struct pilots *pilots)
{
    const struct pilot *pilot = pilots->first;

    while (pilot != NULL && pilot->phase != PILOT_READY)
        pilot = pilot->next;
    return pilot != NULL;
}

/* Returns whether any was given away. */
static bool give_waiting(struct pilots *pilots, int64_t now_ms)
{
    struct slurm_flight *flight = pilots->waiting.first, *next;
    struct backlog backlog = {.count = 0};
    size_t before = pilots->waiting.count;
    uint32_t lacks;

    if (!is_any_ready(pilots))
        return false;
    for (; flight != NULL; flight = next) {
        struct pilot *pilot;

        next = flight->sibling;
        if (backlog_hold_back(&backlog, &flight->request->spec))
            continue;
        pilot = find_place(pilots, flight, now_ms, &lacks);
        if (pilot != NULL)
            give(pilots, pilot, flight);
        else if (lacks != 0 &&
                 !backlog_add(&backlog, &flight->request->spec, lacks))
            break;
    }
    return pilots->waiting.count < before;
}

/* -- Turns ----------------------------------------------------------------*/

static int64_t next_turn_ms(struct pilots *pilots, int64_t now_ms, bool came)
{
    int64_t wait_ms = spool_wait_ms(&pilots->wait_ms, came);

    for (const struct pilot *p = pilots->first; p != NULL; p = p->next) {
        if (p->phase == PILOT_PENDING && now_ms - p->told_ms < NEW_MS &&
            wait_ms > NEW_POLL_MS)
            wait_ms = NEW_POLL_MS;
    }
    return wait_ms;
}

static void on_turn(uv_timer_t *timer)
{
    struct pilots *pilots = timer->data;
    int64_t now_ms = clock_monotonic_ms();
    bool came = false, is_any = pilots->waiting.count > 0;

    for (struct pilot *p = pilots->first; p != NULL; p = p->next) {
        came = pilot_read(p) || came;
        is_any = is_any || p->phase != PILOT_OVER;
    }
    came = give_waiting(pilots, now_ms) || came;
    for (struct pilot *p = pilots->first; p != NULL; p = p->next)
        pilot_flush(p);
    pilots_scale(pilots, now_ms);
    pilots_spare(pilots, now_ms);
    if (is_any)
        uv_timer_start(timer, on_turn,
                       (uint64_t)next_turn_ms(pilots, now_ms, came), 0);
}

void pilots_turn_soon(struct pilots *pilots)
{
    pilots->wait_ms = 0;
    uv_timer_start(pilots->turn, on_turn, 0, 0);
}

static struct pilot *find_pilot(const struct pilots *pilots, const char *name)
{
    struct pilot *pilot = pilots->first;

    while (pilot != NULL && strcmp(pilot->name, name) != 0)
        pilot = pilot->next;
    return pilot;
}

/* -- The mode -------------------------------------------------------------*/

static void *mode_create(struct slurm *slurm, struct err *err)
{
    struct pilots *pilots = mem_zero(sizeof(*pilots));

    (void)err;
    pilots->slurm = slurm;
    pilots->mean_ms = MEAN_MS;
    pilots->turn = mem_zero(sizeof(*pilots->turn));
    uv_timer_init(slurm_loop(slurm), pilots->turn);
    pilots->turn->data = pilots;
    return pilots;
}

static void on_turn_closed(uv_handle_t *handle)
{
    free(handle);
}

static bool mode_destroy(void *self)
{
    struct pilots *pilots = self;
    bool has_left = pilots_leave(pilots);

    uv_close((uv_handle_t *)pilots->turn, on_turn_closed);
    free(pilots);
    return has_left;
}

static size_t count_taken(const struct pilots *pilots)
{
    size_t count = pilots->waiting.count;

    for (const struct pilot *p = pilots->first; p != NULL; p = p->next)
        count += p->flights.count;
    return count;
}

static enum start_result mode_start(void *self, struct slurm_flight *flight,
                                    struct err *err)
{
    struct pilots *pilots = self;
    struct attempt_spec *spec = &flight->request->spec;
    int64_t most = slurm_parallel(pilots->slurm) *
                   pilot_depth_permille(pilots->mean_ms) / 1000;

    if (spec->time_ms == 0)
        spec->time_ms = slurm_options(pilots->slurm)->time_ms;
    spec->cpus = slurm_pilot_cpus(spec);
    if (pilots_check(pilots, spec, err) != 0)
        return START_ERROR;
    if ((int64_t)count_taken(pilots) >= most)
        return START_FULL;
    pilot_list_add(&pilots->waiting, flight);
    pilots_turn_soon(pilots);
    return START_OK;
}

static void note_left(const struct pilots *pilots)
{
    const struct pilot *pilot = pilots->first;

    while (pilot != NULL && pilot->phase != PILOT_PENDING)
        pilot = pilot->next;
    if (pilot != NULL && slurm_is_mute(pilots->slurm, clock_monotonic_ms()))
        slurm_note_left(pilots->slurm);
}

static void mode_cancel(void *self, struct slurm_flight *flight)
{
    if (flight->carrier != NULL) {
        pilot_cancel(flight->carrier, flight);
        return;
    }
    note_left(self);
    pilots_refuse(self, flight, CAUSE_CANCELLED, "");
}

static struct pilot *take_over(struct pilots *pilots, const char *name,
                               struct err *err)
{
    struct pilot *pilot = pilot_create(pilots, name, err);
    struct buf kind = BUF_INIT;
    char *path;

    if (pilot == NULL)
        return NULL;
    path = fs_join(pilot->folder, "kind");
    if (fs_read(path, INT16_MAX, &kind, NULL) == 0) {
        free(pilot->kind);
        pilot->kind = buf_take(&kind);
    }
    free(path);
    pilots->again_ms = clock_monotonic_ms() + HEAR_MS;
    pilots_turn_soon(pilots);
    slurm_look_soon(pilots->slurm);
    return pilot;
}

static int mode_reattach(void *self, struct slurm_flight *flight,
                         const struct slurm_handle *handle, struct err *err)
{
    struct pilot *pilot = find_pilot(self, handle->name);

    if (pilot == NULL)
        pilot = take_over(self, handle->name, err);
    if (pilot == NULL)
        return -1;
    pilot_hold(pilot, flight);
    return 0;
}

/* One that no pilot here is known for: an earlier engine's, or a submission
 * that was given up and came after all. */
static void meet(struct pilots *pilots, const struct slurm_job *job)
{
    const struct slurm_target target = {job->id, -1};
    char *folder = fs_join(slurm_folder(pilots->slurm), job->name);
    struct pilot *pilot = NULL;

    if (fs_exists(folder) && !pulse_is_marked(folder, PULSE_REVOKED))
        pilot = take_over(pilots, job->name, NULL);
    if (pilot != NULL)
        pilot_note_job(pilot, job);
    else
        slurm_cancel_job(pilots->slurm, &target, 0);
    free(folder);
}

static void mode_listed(void *self, const struct slurm_job *job)
{
    struct pilot *pilot = find_pilot(self, job->name);

    if (pilot != NULL)
        pilot_note_job(pilot, job);
    else if (job->state->phase == SLURM_PENDING ||
             job->state->phase == SLURM_RUNNING)
        meet(self, job);
}

static void on_answered(void *user, bool is_known)
{
    struct pilot *pilot = user;

    pilot->is_asked = false;
    if (!is_known)
        pilot_note_vanished(pilot);
}

/* Not in the listing. One whose submission was never answered may be on its
 * way still. */
static void miss(struct pilot *pilot, int64_t asked_ms)
{
    const struct slurm_target target = {pilot->job, -1};

    if (pilot->job == 0 && asked_ms - pilot->told_ms < UNSURE_MS)
        slurm_look_soon(pilot->pilots->slurm);
    else if (pilot->job == 0)
        pilot_note_vanished(pilot);
    if (pilot->job == 0 || pilot->is_asked)
        return;
    pilot->is_asked = true;
    slurm_ask_account(pilot->pilots->slurm, &target, on_answered, pilot);
}

static void mode_swept(void *self, int64_t asked_ms)
{
    struct pilots *pilots = self;

    for (struct pilot *p = pilots->first; p != NULL; p = p->next) {
        bool is_missing = !p->was_listed && !p->is_gone && !p->is_submitting &&
                          p->told_ms < asked_ms;

        p->was_listed = false;
        if (is_missing)
            miss(p, asked_ms);
    }
}

/* What one that never spoke has left tells why. */
static void forget(struct pilot *pilot)
{
    if (pilot->was_heard)
        fs_remove_tree(pilot->folder, NULL);
    pilot_destroy(pilot);
}

static void mode_tick(void *self, int64_t now_ms)
{
    struct pilots *pilots = self;
    bool is_watch = now_ms - pilots->watched_ms >= WATCH_MS;
    struct pilot *pilot, *next;

    if (is_watch)
        pilots->watched_ms = now_ms;
    for (pilot = pilots->first; pilot != NULL; pilot = next) {
        next = pilot->next;
        pilot_look(pilot, now_ms, is_watch);
        if (pilot->phase == PILOT_OVER && pilot->flights.count == 0 &&
            pilot->is_gone && !pilot->is_submitting && !pilot->is_asked)
            forget(pilot);
    }
}

const struct slurm_mode slurm_pilot = {
    .name = "pilot",
    .letters = "p",
    .create = mode_create,
    .destroy = mode_destroy,
    .start = mode_start,
    .cancel = mode_cancel,
    .reattach = mode_reattach,
    .listed = mode_listed,
    .swept = mode_swept,
    .tick = mode_tick,
};
