/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_SITE_IMPL_H
#define SMTUNE_TESTS_FAULT_SIM_SITE_IMPL_H

#include "tests/fault/sim/site.h"

/* What site.c, which does what engines say, and life.c, in which attempts live
 * without them, have of each other. */

struct witness;

struct site {
    struct world *world;
    struct site_habits habits;
    struct site_attempt *first, **last;
    struct site_events events;
    bool is_attached;        /* an engine listens */
    struct witness *witness; /* as long as it does */
    int64_t engine;          /* how many there were */
};

/* ---- life.c ---- */

/* The agent of the engine that is there begins what there is room for. */
void life_begin_queued(struct site *site);
/* It runs until then, and no longer. */
void life_end_at(struct site_attempt *attempt, int64_t time_ms);
/* It is over here and now, whatever was to come. */
void life_finish(struct site_attempt *attempt);
/* The engine will be told that it is over, if it listens. */
void life_tell_end(struct site_attempt *attempt);

#endif
