/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "orchestrator/engine/engine_impl.h"

/*
 * A full disk, a limit of processes or descriptors, a database that somebody
 * keeps locked: no fault of any trial's, and mostly over some time later.
 *
 * Where an attempt could not start, starts are held back for a while, and the
 * trial keeps its place; likewise where one fails while the disk is full, as it
 * could not write what it had to say. Where the record could not be written,
 * what the engine has in memory is ahead of it. So the session is given up as
 * if the engine had been killed, while what runs goes on, and a new one is
 * begun when it may work again: it finds what is there as any engine does that
 * takes up a run.
 */

enum { SHORTEST_MS = 1000, LONGEST_MS = 30000, TICK_MS = 500 };

static void extend(struct engine *engine, const char *why)
{
    engine->held_until_ms =
        clock_monotonic_ms() +
        backoff_next_ms(&engine->hold_ms, SHORTEST_MS, LONGEST_MS);
    snprintf(engine->hold_text, sizeof(engine->hold_text),
             "no trials are started for now: %.400s", why);
    LOG(engine->log, LOG_ENGINE, LOG_WARNING, 0,
        "starts are held back for %" PRId64 " ms: %s", engine->hold_ms, why);
}

static bool lacks_room(const struct engine *engine)
{
    return engine->held_until_ms > clock_monotonic_ms();
}

bool engine_is_held(const struct engine *engine)
{
    return engine_is_paused(engine) || lacks_room(engine);
}

void engine_hold(struct engine *engine, const char *why)
{
    if (!lacks_room(engine))
        extend(engine, why);
}

void engine_end_hold(struct engine *engine)
{
    engine->hold_ms = 0;
    engine->held_until_ms = 0;
}

static void on_again(uv_timer_t *handle)
{
    struct engine *engine = handle->data;

    engine_tell_status(engine);
    if (!lacks_room(engine))
        uv_timer_stop(handle);
}

bool engine_wait_to_begin_again(struct engine *engine)
{
    if (!err_may_pass(&engine->broken) || engine->signals > 0 ||
        (engine->strategy == NULL && engine->steps == NULL))
        return false;
    extend(engine, engine->broken.text);
    engine->phase = PHASE_WAITING;
    uv_timer_start(&engine->again, on_again, 0, TICK_MS);
    uv_run(&engine->loop, UV_RUN_DEFAULT);
    return engine->signals == 0;
}
