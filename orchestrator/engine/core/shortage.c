/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/shortage.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "orchestrator/engine/core/pause.h"

/*
 * A full disk, a limit of processes or descriptors, a database that another
 * program keeps locked: no trial's fault, and mostly over some time later.
 *
 * Where an attempt could not start, starts are held back for a while, and the
 * trial keeps its place; likewise where one fails while the disk is full,
 * because it could not write its results. Where the record could not be
 * written, what the engine has in memory is ahead of it. Then the session is
 * given up as if the engine had been killed, while what runs goes on, and a new
 * one begins when it may work again (engine.c): it finds what is there as any
 * engine does that resumes a run.
 */

enum { SHORTEST_MS = 1000, LONGEST_MS = 30000 };

void engine_prolong_shortage(struct engine *engine, const char *why)
{
    engine->shortage.until_ms =
        clock_monotonic_ms() +
        backoff_next_ms(&engine->shortage.last_ms, SHORTEST_MS, LONGEST_MS);
    snprintf(engine->shortage.text, sizeof(engine->shortage.text),
             "no trials start for now: %.400s", why);
    LOG(engine->log, LOG_ENGINE, LOG_WARNING, 0,
        "starts are held back for %" PRId64 " ms: %s", engine->shortage.last_ms,
        why);
}

bool engine_lacks_room(const struct engine *engine)
{
    return engine->shortage.until_ms > clock_monotonic_ms();
}

bool engine_is_held(const struct engine *engine)
{
    return engine_is_paused(engine) || engine_lacks_room(engine);
}

void engine_begin_shortage(struct engine *engine, const char *why)
{
    if (!engine_lacks_room(engine))
        engine_prolong_shortage(engine, why);
}

void engine_end_shortage(struct engine *engine)
{
    engine->shortage.last_ms = 0;
    engine->shortage.until_ms = 0;
}
