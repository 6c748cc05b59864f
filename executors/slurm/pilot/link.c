/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "executors/attempt/attempt_file.h"
#include "executors/slurm/pilot/pilot_impl.h"
#include "executors/slurm/preview.h"

/*
 * An attempt is given to a pilot by a message, and is the pilot's from then on
 * until its end is heard of. What the agent says last is in the files of the
 * attempts, too, so nothing hangs on a message that does not come.
 */

enum {
    GENERATIONS_MAX = 1000000,
    SETTLE_MS = 5000 /* for what a network file system shows late */
};

/* -- Streams --------------------------------------------------------------*/

static char *stream_path(const struct pilot *pilot, const char *name, int talk)
{
    return mem_printf("%s/%s.%d", pilot->folder, name, talk);
}

/* The talk after the last that there was. */
static int open_streams(struct pilot *pilot, struct err *err)
{
    int result = -1;

    for (int talk = 1; talk < GENERATIONS_MAX && result != 0; talk++) {
        char *in = stream_path(pilot, "inbox", talk);
        char *out = stream_path(pilot, "outbox", talk);
        struct err why = {.kind = ERR_NONE};

        result = spool_writer_open(&pilot->inbox, in, &why);
        if (result == 0)
            spool_reader_init(&pilot->outbox, out);
        free(in);
        free(out);
        if (result != 0 && why.kind != ERR_BUSY) {
            if (err != NULL)
                *err = why;
            break;
        }
    }
    return result;
}

struct pilot *pilot_create(struct pilots *pilots, const char *name,
                           struct err *err)
{
    struct pilot *pilot = mem_zero(sizeof(*pilot));
    struct pilot **link = &pilots->first;

    pilot->pilots = pilots;
    snprintf(pilot->name, sizeof(pilot->name), "%s", name);
    pilot->folder = fs_join(slurm_folder(pilots->slurm), name);
    pilot->kind = mem_copy_string("");
    pilot->inbox.fd = -1;
    if (fs_make_shared_directories(pilot->folder, err) != 0 ||
        open_streams(pilot, err) != 0) {
        free(pilot->kind);
        free(pilot->folder);
        free(pilot);
        return NULL;
    }
    pilot->job = slurm_job_read(pilot->folder);
    pilot->told_ms = clock_monotonic_ms();
    while (*link != NULL)
        link = &(*link)->next;
    *link = pilot;
    return pilot;
}

void pilot_destroy(struct pilot *pilot)
{
    struct pilot **link = &pilot->pilots->first;

    while (*link != pilot)
        link = &(*link)->next;
    *link = pilot->next;
    spool_writer_close(&pilot->inbox);
    spool_reader_clear(&pilot->outbox);
    free(pilot->kind);
    free(pilot->folder);
    free(pilot);
}

/* -- What it is given -----------------------------------------------------*/

/* One that has no limit should have the time that others took; but no pilot
 * has more than a new one. */
static bool has_time(const struct pilot *pilot, const struct attempt_spec *spec,
                     int64_t now_ms)
{
    int64_t need_ms =
        spec->time_ms > 0 ? spec->time_ms : pilot->pilots->mean_ms;
    int64_t most_ms = pilot->whole_ms - pilot->whole_ms / 10;

    if (pilot->phase == PILOT_PENDING)
        return pilot->whole_ms == 0 || spec->time_ms <= pilot->whole_ms;
    if (pilot->until_ms == 0)
        return true;
    if (need_ms > most_ms)
        need_ms = most_ms;
    return now_ms + need_ms <= pilot->until_ms;
}

bool pilot_is_avoided(const struct pilot *pilot)
{
    return text_list_has(slurm_avoided(pilot->pilots->slurm), pilot->node);
}

bool pilot_suits(const struct pilot *pilot, const struct slurm_flight *flight,
                 const char *kind, int64_t now_ms)
{
    const struct attempt_spec *spec = &flight->request->spec;

    return strcmp(pilot->kind, kind) == 0 &&
           !text_list_has(spec->avoid, pilot->node) &&
           !text_list_has(slurm_avoided(pilot->pilots->slurm), pilot->node) &&
           has_time(pilot, spec, now_ms);
}

void pilot_hold(struct pilot *pilot, struct slurm_flight *flight)
{
    struct pilot_room cost = pilot_room_of(&flight->request->spec);

    pilot_list_add(&pilot->flights, flight);
    pilot_room_add(&pilot->used, &cost);
    flight->carrier = pilot;
    flight->task = -1;
    flight->job = pilot->job;
    snprintf(flight->node, sizeof(flight->node), "%s", pilot->node);
}

void pilot_let_go(struct pilot *pilot, struct slurm_flight *flight)
{
    struct pilot_room cost = pilot_room_of(&flight->request->spec);

    pilot_list_remove(&pilot->flights, flight);
    pilot_room_take(&pilot->used, &cost);
    flight->carrier = NULL;
}

int pilot_give(struct pilot *pilot, struct slurm_flight *flight,
               struct err *err)
{
    struct attempt_spec spec = flight->request->spec;
    struct slurm_handle handle = {.task = -1};

    spec.cpus = pilot_room_of(&spec).cpus; /* so many run there at once */
    snprintf(handle.name, sizeof(handle.name), "%s", pilot->name);
    if (slurm_handle_write(spec.directory, &handle, err) != 0 ||
        agent_put_start(spool_out(&pilot->inbox), &spec, err) != 0)
        return -1;
    slurm_link_submission(pilot->folder, spec.directory);
    pilot_hold(pilot, flight);
    return 0;
}

void pilot_cancel(struct pilot *pilot, struct slurm_flight *flight)
{
    const struct agent_cancel cancel = {
        .attempt = flight->request->spec.attempt, .mode = flight->cancel_mode};

    agent_put(spool_out(&pilot->inbox), AGENT_CANCEL, &cancel, sizeof(cancel));
    pilot_flush(pilot);
}

void pilot_drain(struct pilot *pilot)
{
    agent_put(spool_out(&pilot->inbox), AGENT_DRAIN, "", 0);
    pilot_flush(pilot);
    if (pilot->phase == PILOT_READY)
        pilot->phase = PILOT_DRAINING;
}

void pilot_flush(struct pilot *pilot)
{
    struct err err = {.text = ""};
    int result = spool_write(&pilot->inbox, &err);

    if (result < 0 && pilot->phase != PILOT_OVER)
        pilot_lose(pilot, CAUSE_LOST, true, err.text);
}

/* -- What it says ---------------------------------------------------------*/

static struct slurm_flight *find(const struct pilot *pilot, int64_t attempt)
{
    struct slurm_flight *flight = pilot->flights.first;

    while (flight != NULL && flight->request->spec.attempt != attempt)
        flight = flight->sibling;
    return flight;
}

static int on_ready(struct pilot *pilot, const struct agent_message *message)
{
    struct pilots *pilots = pilot->pilots;
    int64_t now_ms = clock_monotonic_ms();
    struct agent_ready ready;

    if (agent_get_ready(message, &ready) != 0)
        return -1;
    if (pilot->phase == PILOT_PENDING)
        pilot->phase = PILOT_READY;
    pilot->was_heard = true;
    pilot->size =
        (struct pilot_room){ready.cpus, ready.gpus, ready.memory_bytes};
    pilot->whole_ms = ready.left_ms;
    pilot->until_ms = ready.left_ms > 0 ? now_ms + ready.left_ms : 0;
    pilot->settle_ms = now_ms + SETTLE_MS;
    snprintf(pilot->node, sizeof(pilot->node), "%.*s",
             (int)sizeof(ready.node) - 1, ready.node);
    for (struct slurm_flight *f = pilot->flights.first; f != NULL;
         f = f->sibling)
        snprintf(f->node, sizeof(f->node), "%s", pilot->node);
    pilot_waits(pilot, "");
    slurm_not_held(pilots->slurm, pilot->job);
    pilots->unheard = pilots->taken = 0;
    pilots->hold_ms = pilots->again_ms = 0;
    pilots->text[0] = '\0';
    return 0;
}

static int on_started(struct pilot *pilot, const struct agent_message *message)
{
    struct slurm_flight *flight;
    struct agent_started started;

    if (agent_get(message, &started, sizeof(started)) != 0)
        return -1;
    flight = find(pilot, started.attempt);
    if (flight == NULL)
        return 0;
    flight->job = pilot->job;
    slurm_flight_started(pilot->pilots->slurm, flight, started.pid);
    return 0;
}

static int on_ended(struct pilot *pilot, const struct agent_message *message)
{
    enum { PACE_WEIGHT = 8 };
    struct pilots *pilots = pilot->pilots;
    struct slurm_flight *flight;
    struct attempt_exit end;

    if (agent_get_ended(message, &end) != 0)
        return -1;
    flight = find(pilot, end.attempt);
    if (flight == NULL)
        return 0;
    if (!pilot_explain(pilot, flight, &end))
        return 0;
    if (flight->has_started)
        pilots->mean_ms +=
            (end.ended_ms - end.started_ms - pilots->mean_ms) / PACE_WEIGHT;
    pilot_let_go(pilot, flight);
    slurm_flight_ended(pilots->slurm, flight, &end);
    return 0;
}

/* Its time is nearly over: what it has not begun it never will. */
static void on_drain(struct pilot *pilot)
{
    struct slurm_flight *flight, *next;

    if (pilot->phase != PILOT_OVER)
        pilot->phase = PILOT_DRAINING;
    for (flight = pilot->flights.first; flight != NULL; flight = next) {
        bool is_untouched = !flight->has_started &&
                            !claim_exists(flight->request->spec.directory);

        next = flight->sibling;
        if (!is_untouched || flight->request->spec.argv == NULL)
            continue;
        pilot_let_go(pilot, flight);
        pilot_list_add_first(&pilot->pilots->waiting, flight);
    }
    slurm_look_soon(pilot->pilots->slurm);
}

static int on_message(struct pilot *pilot, const struct agent_message *message)
{
    switch (message->kind) {
    case AGENT_READY:
        return on_ready(pilot, message);
    case AGENT_STARTED:
        return on_started(pilot, message);
    case AGENT_ENDED:
        return on_ended(pilot, message);
    case AGENT_DRAIN:
        on_drain(pilot);
        return 0;
    case AGENT_SETUP:
    case AGENT_START:
    case AGENT_CANCEL:
        break;
    }
    return -1;
}

bool pilot_read(struct pilot *pilot)
{
    struct agent_message message;
    struct err err = {.text = "invalid message from its agent"};
    int came = spool_read(&pilot->outbox, &err), next = 0;

    while (came > 0 && (next = spool_next(&pilot->outbox, &message)) > 0) {
        if (on_message(pilot, &message) != 0)
            next = -1;
        if (next < 0)
            break;
    }
    if ((came < 0 || next < 0) && pilot->phase != PILOT_OVER)
        pilot_lose(pilot, CAUSE_LOST, true, err.text);
    return came > 0;
}
