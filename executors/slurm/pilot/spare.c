/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pilots that are not needed.
 *
 * An idle pilot keeps its nodes from others, and from the run itself where a
 * limit lets only so many jobs run: it ends as soon as something waits that
 * does not fit it. Where nothing waits at all, it stays for pilot.idle, because
 * the next trial or step may come at any moment. A pilot in the queue that
 * nothing fits is withdrawn.
 *
 * At the end of a session no pilot stays that has nothing to do. An engine that
 * was killed leaves idle ones which no attempt names; their folders show them.
 */
#include <dirent.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/slurm/pilot/pilot_impl.h"

enum {
    LOOK_MS = 200,     /* between two looks */
    SPARE_MS = 1000,   /* an idle one waits so long for what fits it */
    UNWANTED_MS = 5000 /* and one in the queue */
};

/* Whether it has to take what waits once it has room, or time. */
static bool fits(const struct pilot *pilot, const struct slurm_flight *flight,
                 int64_t now_ms)
{
    struct pilot_room cost = pilot_room_of(&flight->request->spec);

    return pilot_room_units(&pilot->size, &cost) > 0 &&
           pilot_suits(pilot, flight, pilot->kind, now_ms) &&
           pilot_is_of_kind(flight, pilot->kind);
}

static bool is_wanted(const struct pilot *pilot, int64_t now_ms)
{
    const struct slurm_flight *flight = pilot->pilots->waiting.first;

    if (pilot->flights.count > 0)
        return true;
    while (flight != NULL && !fits(pilot, flight, now_ms))
        flight = flight->sibling;
    return flight != NULL;
}

static void spare(struct pilot *pilot, int64_t now_ms, bool has_others)
{
    int64_t spare_ms;

    if (pilot->phase > PILOT_READY)
        return;
    if (is_wanted(pilot, now_ms)) {
        pilot->spare_ms = 0;
        return;
    }
    if (pilot->spare_ms == 0)
        pilot->spare_ms = now_ms;
    spare_ms = now_ms - pilot->spare_ms;
    if (pilot->phase == PILOT_PENDING && spare_ms >= UNWANTED_MS)
        pilot_lose(pilot, CAUSE_CANCELLED, false, "");
    else if (pilot->phase == PILOT_READY && has_others && spare_ms >= SPARE_MS)
        pilot_drain(pilot);
}

void pilots_spare(struct pilots *pilots, int64_t now_ms)
{
    bool has_others;

    if (now_ms - pilots->spared_ms < LOOK_MS)
        return;
    pilots->spared_ms = now_ms;
    has_others = pilots->waiting.count > 0 || slurm_has_queued(pilots->slurm);
    for (struct pilot *p = pilots->first; p != NULL; p = p->next)
        spare(p, now_ms, has_others);
}

/* -- The end of a session -------------------------------------------------*/

/* "smt-TOKEN-pNUMBER" */
static bool is_pilots(const char *name)
{
    const char *last = strrchr(name, '-');

    return strncmp(name, "smt-", 4) == 0 && last != NULL && last[1] != '\0' &&
           strchr(slurm_pilot.letters, last[1]) != NULL;
}

static bool is_known(const struct pilots *pilots, const char *name)
{
    const struct pilot *pilot = pilots->first;

    while (pilot != NULL && strcmp(pilot->name, name) != 0)
        pilot = pilot->next;
    return pilot != NULL;
}

/* Its agent lives, or may begin. */
static void drain_left(struct pilots *pilots, const char *name)
{
    struct pilot *pilot = pilot_create(pilots, name, NULL);

    if (pilot == NULL)
        return;
    pilot_drain(pilot);
    pilot->phase = PILOT_OVER;
}

static void drain_unmet(struct pilots *pilots)
{
    DIR *folder = opendir(slurm_folder(pilots->slurm));
    const struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        if (is_pilots(entry->d_name) && !is_known(pilots, entry->d_name))
            drain_left(pilots, entry->d_name);
    }
    if (folder != NULL)
        closedir(folder);
}

bool pilots_leave(struct pilots *pilots)
{
    bool has_left = false;

    drain_unmet(pilots);
    while (pilots->first != NULL) {
        struct pilot *pilot = pilots->first;

        if (pilot->flights.count == 0 && pilot->phase == PILOT_PENDING) {
            pulse_mark(pilot->folder, PULSE_REVOKED, NULL);
            has_left = true;
        } else if (pilot->flights.count == 0 && pilot->phase == PILOT_READY) {
            pilot_drain(pilot);
        }
        pilot_destroy(pilot);
    }
    return has_left;
}
