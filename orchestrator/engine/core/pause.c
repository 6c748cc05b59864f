/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/pause.h"

#include "base/clock.h"

/*
 * Three times make the run's own: what earlier engines spent on it, what this
 * session did, and the pauses of this session, which do not count. A pause
 * outlives a session that broke (paused_since_ms is of the engine's life), but
 * only its part since the session began is taken from the session's time.
 */

bool engine_is_paused(const struct engine *engine)
{
    return engine->paused_since_ms != 0;
}

/* What was paused before the session counts in none. */
int64_t engine_paused_ms(const struct engine *engine)
{
    int64_t since_ms = engine->paused_since_ms;

    if (since_ms == 0)
        return engine->clocks.paused_ms;
    if (since_ms < engine->clocks.started_ms)
        since_ms = engine->clocks.started_ms;
    return engine->clocks.paused_ms + clock_monotonic_ms() - since_ms;
}

int64_t engine_elapsed_ms(const struct engine *engine)
{
    return engine->clocks.earlier_ms + clock_monotonic_ms() -
           engine->clocks.started_ms - engine_paused_ms(engine);
}
