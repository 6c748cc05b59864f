/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_HISTORY_H
#define SMTUNE_TESTS_FAULT_SIM_HISTORY_H

#include "orchestrator/engine/engine.h"
#include "tests/fault/sim/budget_changes.h"
#include "tests/fault/sim/enqueueing.h"
#include "tests/fault/sim/reopening.h"
#include "tests/fault/sim/scenario.h"
#include "tests/fault/sim/world.h"

/*
 * One history: a run from its beginning to its end, through engines that
 * crash, are stopped, or give up, each of which goes on where the one before
 * left it.
 */

/* The end of a trial that the engine told of. */
struct history_end {
    int64_t trial;
    char state[12]; /* of the trial */
    char cause[16];
    double values[SITE_METRICS];
    bool will_retry;
};

struct history {
    struct world *world;
    struct scenario scenario;
    char *directory; /* of the store, on the real disk */
    int64_t run;     /* 0: not in the record yet */
    int sessions, crashes;
    int64_t session_ms; /* when the engine that runs began */
    int64_t heard_ms;   /* when it said something last */
    int64_t engine_ms;  /* how long the engines before it ran, at least */
    int64_t known_ms;   /* likewise, at most */
    bool is_over;
    int jumps;
    struct engine_result result; /* of the last engine that returned */
    struct history_end *ends;
    size_t end_count, end_capacity;
    struct reopenings reopenings;
    struct enqueueing enqueueing;
    struct budget_changes budget;
};

/* The engine that runs was asked for something: perhaps it cannot read what
 * that needs; or it crashes of that, or before, or when it is done and not
 * answered yet. */
void history_disturb(struct history *history, bool may_crash);

/* How long engines have run by now, at most: a jump of the wall clock that is
 * small may stay unseen. */
int64_t history_time_at_most_ms(const struct history *history);

struct history_options {
    uint64_t seed;
    enum world_sabotage sabotage;
    bool is_traced;
    const char *directory; /* an empty one, which is left with files in it */
    const struct disk *template; /* a disk with an empty store */
};

/* Whether all invariants held; if not, failure says which did not. */
bool history_run(const struct history_options *options, char failure[1024]);

/* A disk with an empty store in that directory. */
struct disk *history_make_template(const char *directory);

#endif
